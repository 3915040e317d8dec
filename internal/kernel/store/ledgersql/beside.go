package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Auxiliary implements [store.Tx].
func (t *Tx) Auxiliary(f store.AuxiliaryFilter) (store.Auxiliary, error) {
	var b store.Auxiliary
	err := t.usable()
	if err == nil && f.Sealed != "" {
		b.Sealed, err = t.sealed(f.Sealed)
	}
	if err == nil && f.Receipts != "" {
		b.Receipts, err = t.receipts(f.Receipts)
	}
	if err == nil && f.Calls != "" {
		b.Calls, err = t.calls(f)
	}
	if err == nil && f.Preferences != "" {
		b.Preferences, err = t.preferences(f.Preferences)
	}
	if err == nil && f.Key != "" {
		b.Key, err = t.requestKey(f.KeyOf, f.Key)
	}
	if err == nil {
		err = t.auxiliaryChain(f, &b)
	}
	if err == nil && f.InForce != "" {
		b.InForce, err = t.inForce(f.InForce)
	}
	if err == nil && f.OpenCalls != "" {
		b.OpenCalls, err = t.openCalls(f.OpenCalls, f.OpenCallsLimit)
	}
	return b, err
}

// auxiliaryChain reads the requested parts of the audit chain.
func (t *Tx) auxiliaryChain(f store.AuxiliaryFilter, b *store.Auxiliary) (err error) {
	if f.Audit.Limit > 0 {
		b.Audit, err = t.audit(f.Audit)
	}
	if err == nil && f.Audit.Unchained {
		b.Unchained, err = t.unchained()
	}
	if err == nil && f.ReceiptSubjects.To > 0 {
		b.ReceiptSubjects, err = t.receiptSubjects(f.ReceiptSubjects)
	}
	if err == nil && f.ActSubjects.To > 0 {
		b.ActSubjects, err = t.actSubjects(f.ActSubjects)
	}
	if err == nil && f.Unaudited.Limit > 0 {
		b.Unaudited, err = t.unaudited(f.Unaudited)
	}
	return err
}

func (t *Tx) sealed(call string) ([]store.Sealed, error) {
	var rows []store.Sealed
	err := t.c.Each(`SELECT call_id, ref, box FROM sealed WHERE call_id = $1 ORDER BY ref`, []any{call},
		func(scan func(...any) error) error {
			var s store.Sealed
			err := scan(&s.Call, &s.Ref, &s.Box)
			rows = append(rows, s)
			return err
		})
	return rows, t.read(err, "the sealed values of %s", call)
}

func (t *Tx) receipts(session string) ([]store.Receipt, error) {
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

func (t *Tx) calls(f store.AuxiliaryFilter) ([]turn.Call, error) {
	w := t.where()
	w.add("turn_id = %s", f.Calls)
	if f.Call != "" {
		w.add("call_id = %s", f.Call)
	}
	if f.CallsAfter != "" {
		w.add("call_id > %s", f.CallsAfter)
	}
	var rows []turn.Call
	err := t.c.Each(`SELECT call_id, tool, target, state, class, risk, definition, coalesce(question, 0), digest, fence, doc FROM calls `+
		w.page("call_id", f.CallsLimit), w.args, func(scan func(...any) error) error {
		var c turn.Call
		var doc string
		err := scan(&c.ID, &c.Tool, &c.Target, &c.State, &c.Class, &c.Risk, &c.Definition, &c.Question, &c.Digest, &c.Fence, &doc)
		if err == nil {
			err = decode(doc, &c) // the document of an erased call is empty
		}
		rows = append(rows, c)
		return err
	})
	return rows, t.read(err, "the calls of %s", f.Calls)
}

// openCalls counts the open calls of an agent's open turns, up to a limit.
func (t *Tx) openCalls(agent string, limit int) (n int, err error) {
	err = t.c.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM turns t JOIN calls c ON c.turn_id = t.turn_id
		WHERE t.agent = $1 AND NOT t.ended AND c.state NOT IN ($2, $3, $4)`+limited("$5")+`) AS open`,
		[]any{agent, string(turn.Finished), string(turn.Resolved), string(turn.Closed), limit}, &n)
	return n, t.read(err, "the open calls of %s", agent)
}
