package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/audit"
)

// auditToldEvery is after how many entries a long verification tells how far it is, and
// auditListed how many findings its JSON holds at most.
const auditToldEvery, auditListed = 100_000, 1000

func (m *Main) auditCommand() *cobra.Command {
	return parent("audit", "Verify the chain of all answers, and tell its head", `Every answer of a person has an entry in a chain that is never erased: a salted digest of who answered
what, when and where, linked to the entry before it. It stays when the content is erased and when the receipt
itself is forgotten. To look takes the role auditor or operator at a server; without one it works on the data directory.`,
		m.auditVerifyCommand(), m.auditHeadCommand())
}

func (m *Main) auditVerifyCommand() *cobra.Command {
	noted := ""
	var known audit.Head
	c := m.operated(&cobra.Command{
		Use:   "verify",
		Short: "Read the chain of all answers through, and tell what is wrong with it",
		Long: `Read the chain of all answers from its first entry to its last, hold each receipt against its entry, and tell
what was altered, removed or put in between: each on a line, with what it means and what to do. What the ledger
says is judged by this command, not by the server.

Whoever may write to the database can make the whole chain anew. Against that, note its head elsewhere, for
example daily (` + "`earshot audit head`" + `), and give it with --head: it must still be in the chain, with the same link.
An entry that was added at the end, after the head, cannot be told from a true one.

Exit codes: 0 the chain is whole; 1 it is not, or could not be read; 2 usage.`,
		Example: `  earshot audit verify
  earshot audit verify --head "$(cat head-of-yesterday)"`,
		Args: noArguments,
	}, func(ctx context.Context, d desk, f wordFlags, _ []string) error {
		return m.verifyAudit(ctx, d, f, known)
	})
	c.PreRunE = func(c *cobra.Command, _ []string) (err error) {
		if c.Flags().Changed("head") { // an empty one is that of a file which could not be read
			known, err = headOf(noted)
		}
		return err
	}
	c.Flags().StringVar(&noted, "head", "", "a head that was noted earlier, as N:LINK; it has to be in the chain")
	return c
}

func (m *Main) auditHeadCommand() *cobra.Command {
	return m.operated(&cobra.Command{
		Use:   "head",
		Short: "Tell the newest entry of the chain of all answers, to note it elsewhere",
		Long: `Tell the newest entry of the chain of all answers as N:LINK. Noted where nobody who may write to the ledger can
change it, it shows later, with ` + "`earshot audit verify --head N:LINK`" + `, that nothing up to it was altered since.`,
		Example: `  earshot audit head >> /mnt/elsewhere/heads`,
		Args:    noArguments,
	}, func(ctx context.Context, d desk, f wordFlags, _ []string) error {
		newest, err := auditHead(ctx, d)
		if err != nil {
			return err
		}
		head := audit.Head{}
		for _, e := range newest.Entries {
			head = audit.Head{N: e.N, Link: e.Link}
		}
		switch {
		case f.asJSON:
			return m.writeJSON(head)
		case head.N == 0:
			m.tellf("The chain has no entry yet: nobody has answered anything.")
		default:
			m.sayf("%s", headText(head))
		}
		return nil
	})
}

func headText(h audit.Head) string { return strconv.FormatInt(h.N, 10) + ":" + oneLine(h.Link) }

// headOf reads a head as it is written.
func headOf(text string) (audit.Head, error) {
	number, link, _ := strings.Cut(strings.TrimSpace(text), ":")
	n, err := strconv.ParseInt(number, 10, 64)
	raw, herr := hex.DecodeString(link)
	const size = 32
	if err != nil || herr != nil || n < 1 || len(raw) != size || link != strings.ToLower(link) {
		return audit.Head{}, usage(fmt.Sprintf("--head %.100q is no head of a chain", text), "give one line as `earshot audit head` tells it: a number, a colon and 64 hexadecimal digits")
	}
	return audit.Head{N: n, Link: link}, nil
}

func auditHead(ctx context.Context, d desk) (utp.AuditAnswer, error) {
	var newest utp.AuditAnswer
	err := d.ask(ctx, utp.OpAudit, utp.AuditRequest{Head: true}, &newest)
	return newest, err
}

// auditResult is what a verification tells as JSON: at most auditListed of its findings.
type auditResult struct {
	audit.Report

	Listed []audit.Finding `json:"listed,omitzero"`
}

func (m *Main) verifyAudit(ctx context.Context, d desk, f wordFlags, known audit.Head) error {
	newest, err := auditHead(ctx, d)
	if err != nil {
		return err
	}
	var result auditResult
	v := audit.Verifier{Known: known, Found: func(found audit.Finding) {
		if !f.asJSON {
			m.sayf("%s", auditLine(found))
		} else if len(result.Listed) < auditListed {
			result.Listed = append(result.Listed, found)
		}
	}}
	for _, e := range newest.Entries {
		v.Started = e.N
	}
	read := 0
	err = v.Read(func(after int64) (utp.AuditAnswer, error) {
		var page utp.AuditAnswer
		err := d.ask(ctx, utp.OpAudit, utp.AuditRequest{After: after}, &page)
		before := read / auditToldEvery
		if read += len(page.Entries); read/auditToldEvery > before {
			m.tellf("Entries read so far: %s.", legible.Grouped(int64(read)))
		}
		return page, err
	})
	if err != nil {
		return err
	}
	err = v.Calls(func(after string) (utp.AuditAnswer, error) {
		var page utp.AuditAnswer
		err := d.ask(ctx, utp.OpAudit, utp.AuditRequest{Calls: true, AfterCall: after}, &page)
		return page, err
	})
	if err != nil {
		return err
	}
	result.Report = v.End(newest.Unchained)
	if f.asJSON {
		err = m.writeJSON(result)
	} else {
		m.sayAudit(result.Report, known)
	}
	if err == nil && result.Findings > 0 {
		err = failed(nil, "the chain of all answers is not whole: "+legible.Counted(result.Findings, "finding"),
			"keep the ledger as it is until it is known who has written to it; see docs/operations.md on what each finding means")
	}
	return err
}

func auditLine(f audit.Finding) string {
	place := "Beside the chain"
	if f.N != 0 {
		place = "Entry " + strconv.FormatInt(f.N, 10)
	}
	return fmt.Sprintf("%s: %s. It means: %s. What to do: %s.", place, oneLine(f.Found), oneLine(f.Means), oneLine(f.Do))
}

func (m *Main) sayAudit(r audit.Report, known audit.Head) {
	m.sayf("Answers: %s; receipts still kept: %s, forgotten after their time: %s.",
		legible.Grouped(r.Answers), legible.Grouped(r.Receipts), legible.Grouped(r.Forgotten))
	if r.Compared > 0 {
		m.sayf("Compared with the calls, questions and consents that the ledger keeps: %s.", legible.Counted(r.Compared, "receipt"))
	}
	if r.Older > 0 {
		m.sayf("Receipts from before the chain, of which it says nothing: %s.", legible.Grouped(r.Older))
	}
	if r.Head.N > 0 {
		m.field("Head", headText(r.Head))
	}
	switch {
	case r.Findings > 0:
	case known.N > 0:
		m.sayf("The chain is whole, and the head that was noted is in it.")
	default:
		m.sayf("The chain is whole.")
	}
}
