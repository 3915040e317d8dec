package operators

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/auditkey"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/usage"
	"github.com/earshot-dev/earshot/internal/wording"
)

// auditReportEvery is the number of entries between progress reports of a long verification, and maxAuditListed the
// maximum number of findings in its JSON.
const auditReportEvery, maxAuditListed = 100_000, 1000

func (m *commands) auditCommand() *cobra.Command {
	const long = `Every answer of a person, every start and outcome of a call with an effect, and every change by an operator has
an entry in a chain that is never erased: a salted digest of who did what, when and where, linked to the entry
before it. It stays when the content is erased and when what the entry said is itself dropped. To look takes the
role auditor or operator at a server; without one it works on the data directory.`
	return cli.Parent("audit", "Verify the audit chain, list its entries, and show its head", long,
		m.auditVerifyCommand(), m.auditListCommand(), m.auditHeadCommand(), m.auditKeyCommand())
}

func (m *commands) auditVerifyCommand() *cobra.Command {
	noted, public := "", ""
	var known audit.Head
	c := m.Operated(&cobra.Command{
		Use:   "verify",
		Short: "Read the audit chain through, and say what is wrong with it",
		Long: `Read the audit chain from its first entry to its last, compare each receipt and each act with its entry, and say
what was altered, removed or put in between: each on a line, with what it means and what to do. While content is
kept, the calls, questions, consents, starts and results of the ledger are compared, too. What the ledger says is
judged by this command, not by the server.

Anyone who may write to the database can make the whole chain again. Against that, note its head elsewhere, for
example daily (` + "`earshot audit head`" + `), and give it with --head: it must still be in the chain, with the same link.
A signed head can lie anywhere: with --public its signature is checked first, which takes the public key alone.
An entry that was added at the end, after the head, cannot be told from a true one.

Exit codes: 0 the chain is whole; 1 it is not, or could not be read; 2 usage.`,
		Example: `  earshot audit verify
  earshot audit verify --head "$(cat head-of-yesterday)"
  earshot audit verify --head "$(tail -n 1 signed-heads)" --public heads.pem.pub`,
		Args: usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		return m.verifyAudit(ctx, ask, f, known)
	})
	c.PreRunE = func(c *cobra.Command, _ []string) (err error) {
		if c.Flags().Changed("head") { // an empty head comes from a file that could not be read
			known, err = auditkey.Head(noted, public)
		} else if public != "" {
			err = cause.Misuse("--public checks the signature of a head, and there is none", "give the head with --head")
		}
		return err
	}
	c.Flags().StringVar(&noted, "head", "", "a head that was noted earlier, as N:LINK or the whole line of a signed one; it has to be in the chain")
	c.Flags().StringVar(&public, "public", "", "file with the public key that the head was signed with")
	cli.MarkPaths(c, nil, []string{"public"})
	return c
}

func (m *commands) auditHeadCommand() *cobra.Command {
	sign := ""
	c := m.Operated(&cobra.Command{
		Use:   "head",
		Short: "Show the newest entry of the audit chain, to note it elsewhere",
		Long: `Show the newest entry of the audit chain as N:LINK. Noted where nobody who may write to the ledger can
change it, it shows later, with ` + "`earshot audit verify --head N:LINK`" + `, that nothing up to it was altered since.

With --sign the line goes on with the time, the chain (the link of its first entry) and a signature by Ed25519: then it
may lie anywhere, and only the key (` + "`earshot audit key`" + `) has to be kept elsewhere.`,
		Example: `  earshot audit head >> /mnt/elsewhere/heads
  earshot audit head --sign /media/keys/heads.pem >> heads`,
		Args: usage.None,
	}, func(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, _ []string) error {
		head, err := operate.Head(ctx, ask)
		if err != nil {
			return err
		}
		if sign != "" && head.N > 0 {
			return m.printSigned(ctx, ask, f, sign, head)
		}
		switch {
		case head.N == 0 && (sign != "" || !f.AsJSON):
			m.Notef("The chain has no entry yet.")
		case f.AsJSON:
			return m.WriteJSON(head)
		default:
			m.Printf("%s", cause.OneLine(head.String()))
		}
		return nil
	})
	c.Flags().StringVar(&sign, "sign", "", "file with the key to sign the head with, see earshot audit key")
	cli.MarkPaths(c, nil, []string{"sign"})
	return c
}

// printSigned prints a head with its signature.
func (m *commands) printSigned(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, file string, head audit.Head) error {
	if err := m.keyOutside(f.Server.DataFlag, file); err != nil {
		return err
	}
	key, err := auditkey.Private(file)
	if err != nil {
		return err
	}
	signed, err := operate.SignHead(ctx, ask, key, head, m.Now())
	if err != nil {
		return err
	}
	if f.AsJSON {
		return m.WriteJSON(signed)
	}
	m.Printf("%s", cause.OneLine(signed.String()))
	return nil
}

// auditResult is the JSON result of a verification, with at most maxAuditListed findings.
type auditResult struct {
	audit.Report

	Listed []audit.Finding `json:"listed,omitzero"`
}

func (m *commands) verifyAudit(ctx context.Context, ask operate.Ask, f cli.RemoteFlags, known audit.Head) error {
	var result auditResult
	v := audit.Verifier{Known: known, Found: func(found audit.Finding) {
		if !f.AsJSON {
			m.Printf("%s", wording.Finding(found))
		} else if len(result.Listed) < maxAuditListed {
			result.Listed = append(result.Listed, found)
		}
	}}
	read := 0
	var err error
	result.Report, err = v.Ledger(func(q api.AuditRequest) (api.AuditAnswer, error) {
		var page api.AuditAnswer
		err := ask(ctx, api.OpAudit, q, &page)
		before := read / auditReportEvery
		if read += len(page.Entries); read/auditReportEvery > before {
			m.Notef("Entries read so far: %s.", legible.Grouped(int64(read)))
		}
		return page, err
	})
	if err != nil {
		return err
	}
	if f.AsJSON {
		err = m.WriteJSON(result)
	} else {
		m.Listing().Audit(result.Report, known)
	}
	if err == nil && result.Findings > 0 {
		err = cause.Fail(nil, "the audit chain is not whole: "+legible.Counted(result.Findings, "finding"),
			"keep the ledger as it is until it is known who has written to it; each finding says what it means")
	}
	return err
}
