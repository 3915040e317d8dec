package ledgersql

import (
	"database/sql"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// chain appends an entry to the audit chain. The statement itself computes the number and the link
// from the newest entry, so that nothing has to be read before it and it can be batched.
func (t *Tx) chain(kind string, of int64, commitment string) error {
	return t.chainAct(kind, of, commitment, nil, nil, nil, "")
}

// chainAct appends an entry with an act: its document and, of a start or an outcome, its session, its call
// and, of a start, its fence.
func (t *Tx) chainAct(kind string, of int64, commitment string, session, call, fence any, doc string) error {
	if err := t.lockAudit(); err != nil {
		return err
	}
	return t.must("the audit chain", `INSERT INTO audit (n, kind, at, of, commitment, session_id, call_id, fence, doc, link)
		SELECT newest.n + 1, CAST($1 AS text), CAST($2 AS bigint), CAST($3 AS bigint), CAST($4 AS text),
			CAST($5 AS text), CAST($6 AS text), CAST($7 AS bigint), CAST($8 AS text), `+t.d.Hash(linked)+`
		FROM (SELECT coalesce(max(n), 0) AS n FROM audit) newest LEFT JOIN audit last ON last.n = newest.n`,
		kind, stamp(t.now()), of, commitment, session, call, fence, doc)
}

// linked is the text whose digest is the link of a new entry, as [audit.Link] defines it.
var linked = strings.Join([]string{
	"'" + audit.LinkDomain + "'", "coalesce(last.link, '')", "CAST(newest.n + 1 AS text)", "CAST($1 AS text)",
	"CAST(CAST($2 AS bigint) AS text)", "CAST(CAST($3 AS bigint) AS text)", "CAST($4 AS text)",
}, " || '"+audit.LinkBreak+"' || ")

// lockAudit keeps others from appending entries until the transaction ends.
func (t *Tx) lockAudit() error {
	if t.chained {
		return nil
	}
	t.chained = true
	return t.lock("the audit chain", t.d.LockAudit)
}

// saveReceipts saves who answered what, each with its entry in the chain.
func (t *Tx) saveReceipts(b *store.Batch) error {
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

// saveActs appends acts to the chain.
func (t *Tx) saveActs(b *store.Batch) error {
	for i := range b.Acts {
		a := audit.StorableAct(b.Acts[i])
		doc, err := encode(a)
		if err != nil {
			return err
		}
		p := actKeyOf(a)
		if err := t.chainAct(audit.Act, 0, audit.ActCommitment(a), p.Session, p.Call, p.Fence, doc); err != nil {
			return err
		}
	}
	return nil
}

// actKey holds the columns by which an act is found. The entry does not commit to them.
type actKey struct {
	Session, Call sql.NullString
	Fence         sql.NullInt64
}

// actKeyOf returns the key of an act: a start has a fence, an outcome has none, and an act about no call has no
// session either.
func actKeyOf(a api.AuditAct) actKey {
	var p actKey
	if a.Call != "" {
		p.Session, p.Call = sql.NullString{String: a.Session, Valid: true}, sql.NullString{String: a.Call, Valid: true}
	}
	if a.Act == api.ActStart {
		p.Fence = sql.NullInt64{Int64: int64(a.Fence), Valid: true}
	}
	return p
}

// unchain marks the receipts and acts of these sessions as forgotten in the chain. New ones for these sessions
// wait until then.
func (t *Tx) unchain(sessions []string) error {
	if err := t.lockAudit(); err != nil {
		return err
	}
	receipts, acts := t.where(), t.where()
	receipts.conditions = append(receipts.conditions, "entry IS NOT NULL")
	receipts.among("session_id", sessions)
	acts.among("session_id", sessions)
	answers, err := t.numbers(`SELECT entry FROM receipts `+receipts.page("entry", 0), receipts.args...)
	if err != nil {
		return err
	}
	done, err := t.numbers(`SELECT n FROM audit `+acts.page("n", 0), acts.args...)
	if err != nil {
		return err
	}
	for _, n := range answers {
		if err := t.chain(audit.Forgotten, n, ""); err != nil {
			return err
		}
	}
	return t.forgetActs(done)
}

// dropActs forgets the acts of operators that are old enough.
func (t *Tx) dropActs(p *purging) error {
	if p.Receipts.IsZero() {
		return nil
	}
	old, err := t.numbers(`SELECT n FROM audit WHERE at < $1 AND session_id IS NULL AND doc <> '' ORDER BY at`+limited("$2"), stamp(p.Receipts), p.Limit)
	if err != nil || len(old) == 0 {
		return err
	}
	p.More = p.More || len(old) == p.Limit
	return t.forgetActs(old)
}

// forgetActs removes acts from their entries, and records that in the chain.
func (t *Tx) forgetActs(entries []int64) error {
	for _, n := range entries {
		err := t.must("an act of the audit chain", `UPDATE audit SET session_id = NULL, call_id = NULL, fence = NULL, doc = '' WHERE n = $1`, n)
		if err != nil {
			return err
		}
		if err := t.chain(audit.Forgotten, n, ""); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) numbers(query string, args ...any) ([]int64, error) {
	var all []int64
	err := t.c.Each(query, args, func(scan func(...any) error) error {
		var n int64
		err := scan(&n)
		all = append(all, n)
		return err
	})
	return all, t.read(err, "old entries of the audit chain")
}

// Audit implements [store.Tx].
func (t *Tx) Audit(f store.AuditFilter) ([]api.AuditEntry, error) {
	if err := t.usable(); err != nil || f.Limit == 0 {
		return nil, err
	}
	w := t.where()
	w.add("audit.n > %s", f.After)
	if f.Operators {
		w.add("audit.kind = %s", audit.Act)
		w.conditions = append(w.conditions, "audit.session_id IS NULL")
	}
	order := "audit.n"
	if f.Newest {
		order = "audit.n DESC"
	}
	var rows []api.AuditEntry
	err := t.c.Each(`SELECT audit.n, audit.kind, audit.at, audit.of, audit.commitment, audit.link, audit.doc,
		audit.session_id, audit.call_id, audit.fence, receipts.id IS NOT NULL,
		coalesce(receipts.session_id, ''), coalesce(receipts.call_id, ''), coalesce(receipts.question, 0), coalesce(receipts.decision, ''),
		coalesce(receipts.given_by, ''), coalesce(receipts.surface, ''), coalesce(receipts.at, 0), coalesce(receipts.shown, ''),
		coalesce(receipts.language, ''), coalesce(receipts.salt, ''), coalesce(receipts.terms, '')
		FROM audit LEFT JOIN receipts ON receipts.entry = audit.n `+w.page(order, f.Limit), w.args, func(scan func(...any) error) error {
		var e api.AuditEntry
		var r api.AuditReceipt
		var at, answered int64
		var there bool
		var terms, doc string
		var filed actKey
		err := scan(&e.N, &e.Kind, &at, &e.Of, &e.Commitment, &e.Link, &doc, &filed.Session, &filed.Call, &filed.Fence, &there,
			&r.Session, &r.Call, &r.Question, &r.Decision, &r.By, &r.Surface, &answered, &r.Shown, &r.Language, &r.Salt, &terms)
		r.Terms, e.Act = termsOf(terms), actOf(doc, filed)
		if e.At, r.At = instant(at), instant(answered); there {
			e.Receipt = &r
		}
		rows = append(rows, e)
		return err
	})
	return rows, t.read(err, "the audit chain")
}

// termsOf reads the terms of a receipt. Unreadable terms count as none: the chain, which has their digest,
// then shows that they were altered, and everything else can still be read.
func termsOf(raw string) api.ReceiptTerms {
	var terms api.ReceiptTerms
	if raw == "" || decode(raw, &terms) != nil {
		return api.ReceiptTerms{}
	}
	return terms
}

// actOf reads an act. One that cannot be read, or is filed under a wrong key, counts as empty: the chain shows
// that it was altered.
func actOf(doc string, filed actKey) *api.AuditAct {
	if doc == "" && filed == (actKey{}) {
		return nil
	}
	var a api.AuditAct
	if decode(doc, &a) != nil || actKeyOf(a) != filed {
		a = api.AuditAct{}
	}
	return &a
}

// Unchained implements [store.Tx].
func (t *Tx) Unchained() (api.AuditUnchained, error) {
	if err := t.usable(); err != nil {
		return api.AuditUnchained{}, err
	}
	var u api.AuditUnchained
	err := t.c.QueryRow(`SELECT coalesce(sum(older), 0), coalesce(sum(1 - older), 0), (SELECT count(*) FROM grants WHERE older = 1)
		FROM (SELECT CASE WHEN entry IS NULL AND older = 1 THEN 1 ELSE 0 END AS older FROM receipts r
			WHERE NOT EXISTS (SELECT 1 FROM audit WHERE audit.n = r.entry AND audit.n > 0)) unchained`, nil, &u.Older, &u.Later, &u.Starts)
	return u, t.read(err, "what is beside the audit chain")
}

// Receipts implements [store.Tx].
func (t *Tx) Receipts(session string) ([]store.Receipt, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.Receipt
	err := t.c.Each(`SELECT session_id, call_id, question, decision, given_by, surface, at, shown, language, salt, terms, coalesce(entry, 0) FROM receipts
		WHERE session_id = $1 ORDER BY id`, []any{session}, func(scan func(...any) error) error {
		var r store.Receipt
		var at int64
		var terms string
		err := scan(&r.Session, &r.Call, &r.Question, &r.Decision, &r.By, &r.Surface, &at, &r.Shown, &r.Language, &r.Salt, &terms, &r.Entry)
		r.At, r.Terms = instant(at), termsOf(terms)
		rows = append(rows, r)
		return err
	})
	return rows, t.read(err, "the receipts of %s", session)
}
