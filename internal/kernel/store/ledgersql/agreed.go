package ledgersql

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// ReceiptSubjects implements [store.Tx].
func (t *Tx) ReceiptSubjects(f store.EntryFilter) ([]store.ReceiptSubject, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.ReceiptSubject
	err := t.c.Each(`SELECT r.entry, coalesce(t.turn_id, ''), coalesce(t.project, ''), `+erased+`, t.turn_id IS NOT NULL AND CAST(t.imported AS integer) = 1,
		coalesce(c.tool, ''), coalesce(c.card, ''), coalesce(c.definition, ''), coalesce(c.digest, ''),
		q.number IS NOT NULL, coalesce(k.digest, ''), coalesce(c.fence, 0) > 0 AND g.call_id IS NULL, coalesce(a.card, '')
		FROM receipts r LEFT JOIN turns t ON t.session_id = r.session_id
		LEFT JOIN calls c ON c.call_id = r.call_id AND c.turn_id = t.turn_id
		LEFT JOIN questions q ON q.number = r.question AND q.turn_id = t.turn_id
		LEFT JOIN consents k ON k.call_id = r.call_id AND k.question = r.question AND k.given_by = r.given_by AND k.surface = r.surface
		LEFT JOIN grants g ON g.call_id = c.call_id AND g.fence = c.fence
		LEFT JOIN reports a ON a.call_id = r.call_id AND a.turn_id = t.turn_id
		WHERE r.entry > $1 AND r.entry <= $2 ORDER BY r.entry`, []any{f.After, f.To}, func(scan func(...any) error) error {
		var a store.ReceiptSubject
		err := scan(&a.Entry, &a.Turn, &a.Project, &a.Erased, &a.Imported, &a.Tool, &a.Card, &a.Definition, &a.Digest, &a.Question, &a.Consent, &a.Unstarted, &a.Answer)
		rows = append(rows, a)
		return err
	})
	return rows, t.read(err, "what the receipts of the audit chain are about")
}

// ActSubjects implements [store.Tx].
func (t *Tx) ActSubjects(f store.EntryFilter) ([]store.ActSubject, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.ActSubject
	err := t.c.Each(`SELECT a.n, coalesce(a.call_id, ''), coalesce(t.turn_id, ''), coalesce(t.project, ''), `+erased+`, t.turn_id IS NOT NULL AND CAST(t.imported AS integer) = 1,
		coalesce(c.class, ''), coalesce(c.digest, ''), coalesce(c.fence, 0), EXISTS (SELECT 1 FROM grants g WHERE g.call_id = c.call_id AND g.fence = coalesce(a.fence, g.fence)),
		EXISTS (SELECT 1 FROM receipts y WHERE y.call_id = a.call_id AND y.decision = $3), coalesce(r.status, ''), coalesce(r.card, ''), coalesce(c.doc, '')
		FROM audit a LEFT JOIN turns t ON t.session_id = a.session_id
		LEFT JOIN calls c ON c.call_id = a.call_id AND c.turn_id = t.turn_id
		LEFT JOIN reports r ON r.call_id = a.call_id AND r.turn_id = t.turn_id
		WHERE a.n > $1 AND a.n <= $2 AND a.session_id IS NOT NULL ORDER BY a.n`, []any{f.After, f.To, string(consent.Accept)}, func(scan func(...any) error) error {
		var d store.ActSubject
		var doc string
		err := scan(&d.Entry, &d.Call, &d.Turn, &d.Project, &d.Erased, &d.Imported, &d.Class, &d.Digest, &d.Fence, &d.Granted, &d.Accepted, &d.Status, &d.Card, &doc)
		d.Document = callOf(doc)
		rows = append(rows, d)
		return err
	})
	return rows, t.read(err, "what the acts of the audit chain are about")
}

// erased is the condition that the turn t has no content left. A turn that is only marked as erased does not match:
// otherwise its content would be compared with nothing.
const erased = `t.erased_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM cards WHERE cards.turn_id = t.turn_id)`

// callOf decodes a call from its document, which people are shown. An unreadable one gives an empty call.
func callOf(doc string) turn.Call {
	var c turn.Call
	if doc == "" || decode(doc, &c) != nil {
		return turn.Call{}
	}
	return c
}

// Calls that lack an entry in the audit chain, each with the reason. $1 is the decision accept, $2 the class
// irreversible, $3 the class without effect, $4 to $6 are the states of an ended call, and $7 and $8 those of a
// question that a person has ended without accepting.
const (
	// A yes, or the start of an irreversible call, without the receipt of a yes.
	unreceipted = `SELECT k.call_id, 1 AS unreceipted, 0 AS unrecorded FROM consents k
			WHERE NOT EXISTS (SELECT 1 FROM receipts r WHERE r.call_id = k.call_id AND r.decision = $1)
		UNION SELECT g.call_id, 1, 0 FROM grants g LEFT JOIN calls c ON c.call_id = g.call_id
			WHERE (c.call_id IS NULL OR c.class = $2) AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.call_id = g.call_id AND r.decision = $1)`
	// The start of a call with an effect without its entry, or the end of one that was started.
	startedAndEnded = `SELECT g.call_id, 0, 1 FROM grants g JOIN calls c ON c.call_id = g.call_id WHERE c.class <> $3 AND g.older = 0
			AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.session_id = c.session_id AND a.call_id = g.call_id AND a.fence = g.fence AND a.n > 0)
		UNION SELECT c.call_id, 0, 1 FROM calls c JOIN grants g ON g.call_id = c.call_id AND g.fence = c.fence
			WHERE c.class <> $3 AND g.older = 0 AND c.state IN ($4, $5, $6)
			AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.session_id = c.session_id AND a.call_id = c.call_id AND a.fence IS NULL AND a.n > 0)`
	// A person's no, or another answer, without its receipt.
	answered = `SELECT coalesce(c.call_id, 'question ' || CAST(q.number AS text)), 1, 0 FROM questions q LEFT JOIN calls c ON c.turn_id = q.turn_id AND c.question = q.number
			WHERE q.state IN ($7, $8) AND NOT EXISTS (SELECT 1 FROM receipts r JOIN turns t ON t.session_id = r.session_id
				WHERE t.turn_id = q.turn_id AND r.question = q.number)`
)

// Unaudited implements [store.Tx].
func (t *Tx) Unaudited(f store.UnauditedFilter) ([]api.AuditCall, error) {
	if err := t.usable(); err != nil || f.Limit == 0 {
		return nil, err
	}
	var rows []api.AuditCall
	err := t.c.Each(`SELECT s.call_id, coalesce(c.turn_id, ''), coalesce(c.question, 0), max(s.unreceipted), max(s.unrecorded)
		FROM (`+unreceipted+` UNION `+startedAndEnded+` UNION `+answered+`) s LEFT JOIN calls c ON c.call_id = s.call_id
		WHERE s.call_id > $9 GROUP BY s.call_id, c.turn_id, c.question ORDER BY s.call_id`+limited("$10"),
		[]any{
			string(consent.Accept), string(utp.Irreversible), string(utp.Read), string(turn.Finished), string(turn.Resolved), string(turn.Closed),
			string(consent.Rejected), string(consent.Answered), f.After, f.Limit,
		}, func(scan func(...any) error) error {
			var c api.AuditCall
			var unreceipted, unrecorded int
			err := scan(&c.Call, &c.Turn, &c.Question, &unreceipted, &unrecorded)
			c.Unreceipted, c.Unrecorded = unreceipted == 1, unrecorded == 1
			rows = append(rows, c)
			return err
		})
	return rows, t.read(err, "calls that the audit chain does not say enough of")
}
