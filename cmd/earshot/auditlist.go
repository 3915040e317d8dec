package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/operate"
)

func (m *Main) auditListCommand() *cobra.Command {
	operators := false
	c := m.operated(&cobra.Command{
		Use:   "list",
		Short: "List the entries of the audit chain, oldest first",
		Long: `List the entries of the audit chain, oldest first: what people answered, which calls with an effect started
and how they ended, and what operators changed. With --operators only the last: reviews, tools taken out,
content erased, turns imported, the ledger restored, and which rules, tokens, logins and credentials were in
force, and since when. What retention has dropped is listed without what it said.

The list does not judge; ` + "`earshot audit verify`" + ` does.`,
		Example: `  earshot audit list --operators
  earshot audit list --json | jq '.[] | select(.act.tool_call_id == "tc_…")'`,
		Args: noArguments,
	}, func(ctx context.Context, ask operate.Ask, f wordFlags, _ []string) error {
		list := rows{m: m, asJSON: f.asJSON}
		for after := int64(0); ; {
			var page api.AuditAnswer
			if err := ask(ctx, api.OpAudit, api.AuditRequest{After: after}, &page); err != nil {
				return err
			}
			for _, e := range page.Entries {
				after = e.N
				if operators && (e.Act == nil || e.Act.Call != "") {
					continue
				}
				if err := list.add(e, m.entryLine(e)); err != nil {
					return err
				}
			}
			if !page.More || len(page.Entries) == 0 {
				list.end("The chain has no such entry.")
				return nil
			}
		}
	})
	c.Flags().BoolVar(&operators, "operators", false, "only what operators changed, and what was in force")
	return c
}

// entryLine is an entry in one sentence.
func (m *Main) entryLine(e api.AuditEntry) string {
	return fmt.Sprintf("Entry %d, %s: %s.", e.N, m.moment(e.At), cause.OneLine(entryWords(e)))
}

func entryWords(e api.AuditEntry) string {
	switch {
	case e.Kind == audit.Forgotten:
		return "what entry " + strconv.FormatInt(e.Of, 10) + " said was dropped after its time"
	case e.Receipt != nil:
		r := e.Receipt
		return fmt.Sprintf("%s answered question %d: %s, on %s. Call %s", cmp.Or(r.By, "nobody"), r.Question, r.Decision, cmp.Or(r.Surface, "no surface"), r.Call)
	case e.Act != nil:
		return actWords(*e.Act)
	}
	return "what it said was dropped after its time"
}

// actWords is an act in one sentence.
func actWords(a api.AuditAct) string {
	by := ""
	if a.By != "" {
		by = " by " + a.By
	}
	switch a.Act {
	case api.ActStart:
		return fmt.Sprintf("the call %s was started%s, class %s", a.Call, by, a.Detail)
	case api.ActOutcome:
		return fmt.Sprintf("the call %s ended: %s", a.Call, a.Detail)
	case api.ActLate:
		return fmt.Sprintf("the call %s had ended after all: %s", a.Call, a.Detail)
	case api.ActReview:
		return fmt.Sprintf("the tool %s was reviewed%s: %s", a.Subject, by, a.Detail)
	case api.ActRemove:
		return fmt.Sprintf("the tool %s was removed%s", a.Subject, by)
	case api.ActErase:
		return fmt.Sprintf("the content of %s was erased%s", a.Subject, by)
	case api.ActImport:
		return fmt.Sprintf("%s was imported%s", a.Subject, by)
	case api.ActRestore:
		return "the ledger was restored: " + a.Detail
	case api.ActOlder:
		return fmt.Sprintf("older than the chain, of which it says nothing: %s %s", a.Detail, a.Subject)
	case api.ActPolicy:
		if a.Detail == kernel.Ended {
			return "no policy file is in force any more"
		}
		return fmt.Sprintf("the policy in force: %s, SHA-256 %.16s…", a.Detail, a.Digest)
	case api.ActLogin:
		return fmt.Sprintf("login %s of %s: %s", a.Subject, a.By, cmp.Or(a.Detail, "a browser that does not say its name"))
	case api.ActToken, api.ActCredential:
		return fmt.Sprintf("%s %s: %s", a.Act, a.Subject, strings.TrimSuffix(cmp.Or(a.Detail, "in force"), "."))
	}
	return fmt.Sprintf("%s %s: %s", a.Act, a.Subject, a.Detail) // of a newer program
}
