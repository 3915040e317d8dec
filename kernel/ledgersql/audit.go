package ledgersql

import (
	"strings"

	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/audit"
)

// chain appends an entry to the audit chain: its number and its link follow from the newest
// entry in the statement itself, so that nothing has to be read before it, and it can go with
// what others write.
func (t *Tx) chain(kind string, of int64, commitment string) error {
	if err := t.holdAudit(); err != nil {
		return err
	}
	return t.must("the audit chain", `INSERT INTO audit (n, kind, at, of, commitment, link)
		SELECT newest.n + 1, CAST($1 AS text), CAST($2 AS bigint), CAST($3 AS bigint), CAST($4 AS text), `+t.d.Hash(linked)+`
		FROM (SELECT coalesce(max(n), 0) AS n FROM audit) newest LEFT JOIN audit last ON last.n = newest.n`,
		kind, stamp(t.now()), of, commitment)
}

// linked is the text that the link of a new entry is the digest of, as [audit.Link] says.
var linked = strings.Join([]string{
	"'" + audit.LinkDomain + "'", "coalesce(last.link, '')", "CAST(newest.n + 1 AS text)", "CAST($1 AS text)",
	"CAST(CAST($2 AS bigint) AS text)", "CAST(CAST($3 AS bigint) AS text)", "CAST($4 AS text)",
}, " || '"+audit.LinkBreak+"' || ")

// holdAudit keeps the newest entry the newest until the transaction ends.
func (t *Tx) holdAudit() error {
	if t.chained {
		return nil
	}
	t.chained = true
	return t.hold("the audit chain", t.d.HoldAudit)
}

// saveReceipts keeps who answered what, each with its entry in the chain.
func (t *Tx) saveReceipts(b *kernel.Batch) error {
	for i := range b.Receipts {
		r := &b.Receipts[i]
		if err := t.chain(audit.Answer, 0, audit.Commitment(r.Audited())); err != nil {
			return err
		}
		terms, err := encode(audit.Storable(r.Terms))
		if err != nil {
			return err
		}
		err = t.must("a receipt of the call "+r.Call, `INSERT INTO receipts
			(session_id, call_id, question, decision, given_by, surface, at, shown, language, salt, terms, entry)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, (SELECT max(n) FROM audit))`,
			r.Session, r.Call, r.Question, r.Decision, r.By, r.Surface, stamp(r.At), r.Shown, r.Language, r.Salt, terms)
		if err != nil {
			return err
		}
	}
	return nil
}

// unchain says in the chain that the receipts of these sessions are forgotten. What comes for
// one of them meanwhile waits until they are.
func (t *Tx) unchain(sessions []string) error {
	if err := t.holdAudit(); err != nil {
		return err
	}
	w := t.where()
	w.wanted = append(w.wanted, "entry IS NOT NULL")
	w.among("session_id", sessions)
	var entries []int64
	err := t.c.Each(`SELECT entry FROM receipts `+w.page("entry", 0), w.args, func(scan func(...any) error) error {
		var n int64
		err := scan(&n)
		entries = append(entries, n)
		return err
	})
	if err != nil {
		return t.read(err, "old receipts")
	}
	for _, n := range entries {
		if err := t.chain(audit.Forgotten, n, ""); err != nil {
			return err
		}
	}
	return nil
}

// audit reads a page of the chain.
func (t *Tx) audit(f kernel.AuditFilter) ([]utp.AuditEntry, error) {
	w := t.where()
	w.add("audit.n > %s", f.After)
	order := "audit.n"
	if f.Newest {
		order = "audit.n DESC"
	}
	var rows []utp.AuditEntry
	err := t.c.Each(`SELECT audit.n, audit.kind, audit.at, audit.of, audit.commitment, audit.link, receipts.id IS NOT NULL,
		coalesce(receipts.session_id, ''), coalesce(receipts.call_id, ''), coalesce(receipts.question, 0), coalesce(receipts.decision, ''),
		coalesce(receipts.given_by, ''), coalesce(receipts.surface, ''), coalesce(receipts.at, 0), coalesce(receipts.shown, ''),
		coalesce(receipts.language, ''), coalesce(receipts.salt, ''), coalesce(receipts.terms, '')
		FROM audit LEFT JOIN receipts ON receipts.entry = audit.n `+w.page(order, f.Limit), w.args, func(scan func(...any) error) error {
		var e utp.AuditEntry
		var r utp.AuditReceipt
		var at, answered int64
		var there bool
		var terms string
		err := scan(&e.N, &e.Kind, &at, &e.Of, &e.Commitment, &e.Link, &there,
			&r.Session, &r.Call, &r.Question, &r.Decision, &r.By, &r.Surface, &answered, &r.Shown, &r.Language, &r.Salt, &terms)
		r.Terms = termsOf(terms)
		if e.At, r.At = instant(at), instant(answered); there {
			e.Receipt = &r
		}
		rows = append(rows, e)
		return err
	})
	return rows, t.read(err, "the audit chain")
}

// termsOf reads the terms of a receipt. Those that cannot be read count as none: the chain, which
// has their digest, then tells that they were altered, and all the rest can still be read.
func termsOf(raw string) utp.ReceiptTerms {
	var terms utp.ReceiptTerms
	if raw == "" || decode(raw, &terms) != nil {
		return utp.ReceiptTerms{}
	}
	return terms
}

// unchained counts the receipts without an entry. Those that came before the first one that has
// one, and before the first entry, are older than the chain.
func (t *Tx) unchained() (utp.AuditUnchained, error) {
	var all, later, cut int64
	err := t.c.One(`SELECT count(*), coalesce(sum(CASE WHEN id > (SELECT coalesce(min(id), r.id) FROM receipts WHERE entry IS NOT NULL)
			OR at > (SELECT coalesce(min(at), r.at) FROM audit WHERE n = 1) THEN 1 ELSE 0 END), 0),
		(SELECT count(*) FROM receipts WHERE entry > (SELECT coalesce(max(n), 0) FROM audit))
		FROM receipts r WHERE entry IS NULL`, nil, &all, &later, &cut)
	return utp.AuditUnchained{Older: all - later, Later: later + cut}, t.read(err, "the receipts beside the audit chain")
}
