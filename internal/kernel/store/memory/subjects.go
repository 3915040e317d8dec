package memory

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// ReceiptSubjects implements [store.Tx].
func (t *tx) ReceiptSubjects(f store.EntryFilter) ([]store.ReceiptSubject, error) {
	var rows []store.ReceiptSubject
	for _, kept := range t.rows.receipts.all() {
		for i := range kept {
			if r := &kept[i]; r.Entry > f.After && r.Entry <= f.To {
				rows = append(rows, t.receiptSubject(r))
			}
		}
	}
	slices.SortFunc(rows, func(a, b store.ReceiptSubject) int { return cmp.Compare(a.Entry, b.Entry) })
	return rows, t.usable()
}

func (t *tx) receiptSubject(r *store.Receipt) store.ReceiptSubject {
	a := store.ReceiptSubject{Entry: r.Entry}
	if k, is := t.rows.consents.get(r.Call); is && k.Question == r.Question && k.By == r.By && k.Surface == r.Surface {
		a.Consent = k.Digest
	}
	row, is := t.rows.turns.get(t.rows.sessions.row(r.Session))
	if !is {
		return a
	}
	s := &row.rec.State
	a.Turn, a.Project, a.Erased, a.Imported = s.Turn, s.Project, t.isErased(row), row.imported
	q, asked := t.rows.questions.get(r.Question)
	a.Question = asked && q.turn == s.Turn
	if c := t.rows.calls.row(r.Call); c != nil && c.turn == s.Turn {
		a.Tool, a.Card, a.Definition, a.Digest = c.call.Tool, c.card, c.call.Definition, c.call.Digest
		a.Unstarted = c.call.Fence > 0 && !t.rows.grants.has(startKey{r.Call, c.call.Fence})
	}
	if reported, is := t.rows.reports.get(r.Call); is && reported.Turn == s.Turn {
		a.Answer = reported.Card
	}
	return a
}

// isErased reports whether a turn has no content left. One that is only marked as erased has.
func (t *tx) isErased(row *turnRow) bool {
	return !row.erased.IsZero() && len(t.cardsOf(row.rec.State.Turn)) == 0
}

// ActSubjects implements [store.Tx].
func (t *tx) ActSubjects(f store.EntryFilter) ([]store.ActSubject, error) {
	var rows []store.ActSubject
	accepted := t.accepted()
	for _, e := range t.rows.audit {
		if e.N > f.After && e.N <= f.To && e.Act != nil && e.Act.Call != "" {
			d := t.actSubject(e)
			d.Accepted = accepted[d.Call]
			rows = append(rows, d)
		}
	}
	return rows, t.usable()
}

// accepted returns the calls that have the receipt of a yes.
func (t *tx) accepted() map[string]bool {
	found := map[string]bool{}
	for _, kept := range t.rows.receipts.all() {
		for i := range kept {
			if kept[i].Decision == string(consent.Accept) {
				found[kept[i].Call] = true
			}
		}
	}
	return found
}

func (t *tx) actSubject(e api.AuditEntry) store.ActSubject {
	d := store.ActSubject{Entry: e.N, Call: e.Act.Call}
	row, is := t.rows.turns.get(t.rows.sessions.row(e.Act.Session))
	if !is {
		return d
	}
	d.Turn, d.Project, d.Erased, d.Imported = row.rec.State.Turn, row.rec.State.Project, t.isErased(row), row.imported
	if r, is := t.rows.reports.get(d.Call); is && r.Turn == d.Turn {
		d.Status, d.Card = string(r.Status), r.Card
	}
	c := t.rows.calls.row(d.Call)
	if c == nil || c.turn != d.Turn {
		return d
	}
	d.Class, d.Digest, d.Fence = string(c.call.Class), c.call.Digest, c.call.Fence
	if row.erased.IsZero() {
		d.Document = copyOf(c.call)
	}
	for key := range t.rows.grants.all() {
		d.Granted = d.Granted || key.call == d.Call && (e.Act.Act != api.ActStart || key.fence == e.Act.Fence)
	}
	return d
}

// Unaudited implements [store.Tx].
func (t *tx) Unaudited(f store.UnauditedFilter) ([]api.AuditCall, error) {
	if err := t.usable(); err != nil || f.Limit == 0 {
		return nil, err
	}
	found := map[string]api.AuditCall{}
	for _, call := range t.unreceipted() {
		found[call] = api.AuditCall{Unreceipted: true}
	}
	for _, call := range t.unrecorded() {
		c := found[call]
		c.Unrecorded = true
		found[call] = c
	}
	var rows []api.AuditCall
	for call, c := range found {
		if call <= f.After {
			continue
		}
		c.Call = call
		if row := t.rows.calls.row(call); row != nil {
			c.Turn, c.Question = row.turn, row.call.Question
		}
		rows = append(rows, c)
	}
	slices.SortFunc(rows, func(a, b api.AuditCall) int { return cmp.Compare(a.Call, b.Call) })
	return firstOf(rows, f.Limit), nil
}

// unreceipted lists the calls with a yes, with the start of what cannot be undone or with another answer of a person, whose
// receipt is missing.
func (t *tx) unreceipted() []string {
	var calls []string
	accepted := t.accepted()
	for call := range t.rows.consents.all() {
		if !accepted[call] {
			calls = append(calls, call)
		}
	}
	for key := range t.rows.grants.all() {
		if c := t.rows.calls.row(key.call); (c == nil || c.call.Class == utp.Irreversible) && !accepted[key.call] {
			calls = append(calls, key.call)
		}
	}
	for number, q := range t.rows.questions.all() {
		if q.state == consent.Rejected || q.state == consent.Answered {
			calls = append(calls, t.unanswered(number, q)...)
		}
	}
	return calls
}

// unanswered lists the calls of a question without a receipt, or names the question if it has no call.
func (t *tx) unanswered(number int, q question) []string {
	row := t.rows.turns.row(q.turn)
	if slices.ContainsFunc(t.rows.receipts.row(row.rec.State.Session), func(r store.Receipt) bool { return r.Question == number }) {
		return nil
	}
	var calls []string
	for _, id := range row.calls {
		if t.rows.calls.row(id).call.Question == number {
			calls = append(calls, id)
		}
	}
	if calls == nil {
		return []string{"question " + strconv.Itoa(number)}
	}
	return calls
}

// unrecorded lists the calls with an effect whose start, or whose end, has no act.
func (t *tx) unrecorded() []string {
	var calls []string
	recorded := t.recorded()
	for key := range t.rows.grants.all() {
		c := t.rows.calls.row(key.call)
		if c == nil || c.call.Class == utp.Read {
			continue
		}
		state := c.call.State
		ended := c.call.Fence == key.fence && (state == turn.Finished || state == turn.Resolved || state == turn.Closed)
		if !recorded[act{c.session, key.call, key.fence, true}] || ended && !recorded[act{c.session, key.call, 0, false}] {
			calls = append(calls, key.call)
		}
	}
	return calls
}

// act is what an act is found by: only a start has a fence.
type act struct {
	session, call string
	fence         int
	start         bool
}

func (t *tx) recorded() map[act]bool {
	found := map[act]bool{}
	for _, e := range t.rows.audit {
		switch {
		case e.Act == nil || e.Act.Call == "":
		case e.Act.Act == api.ActStart:
			found[act{e.Act.Session, e.Act.Call, e.Act.Fence, true}] = true
		default:
			found[act{e.Act.Session, e.Act.Call, 0, false}] = true
		}
	}
	return found
}
