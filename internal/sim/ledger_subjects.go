package sim

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
	for session, kept := range t.rows.receipts {
		for _, r := range kept {
			if r.Entry > f.After && r.Entry <= f.To {
				rows = append(rows, t.receiptSubject(session, r))
			}
		}
	}
	slices.SortFunc(rows, func(a, b store.ReceiptSubject) int { return cmp.Compare(a.Entry, b.Entry) })
	return rows, t.usable()
}

func (t *tx) receiptSubject(session string, r store.Receipt) store.ReceiptSubject {
	a := store.ReceiptSubject{Entry: r.Entry}
	row, is := t.rows.turns[t.rows.sessions[session]]
	if is {
		s := row.rec.State
		a.Turn, a.Project, a.Erased, a.Imported = s.Turn, s.Project, row.rec.Erased, !row.rec.Imported.IsZero()
		a.Question = t.rows.questions[r.Question].turn == s.Turn
	}
	if id := t.rows.calls[r.Call]; is && id == a.Turn {
		c := t.rows.callDocuments[r.Call]
		a.Tool, a.Card, a.Definition, a.Digest = c.Tool, c.Card, c.Definition, c.Digest
		_, granted := t.rows.grants[startKey{c.ID, c.Fence}]
		a.Unstarted = c.Fence > 0 && !granted
	}
	if report, is := t.rows.reports[r.Call]; is && report.Turn == a.Turn {
		a.Answer = report.Card
	}
	if g, is := t.rows.consents[r.Call]; is && g.Question == r.Question && g.By == r.By && g.Surface == r.Surface {
		a.Consent = g.Digest
	}
	return a
}

// ActSubjects implements [store.Tx].
func (t *tx) ActSubjects(f store.EntryFilter) ([]store.ActSubject, error) {
	var rows []store.ActSubject
	for _, e := range t.rows.audit {
		if e.N > f.After && e.N <= f.To && e.Act != nil && e.Act.Call != "" {
			rows = append(rows, t.actSubject(e))
		}
	}
	return rows, t.usable()
}

func (t *tx) actSubject(e api.AuditEntry) store.ActSubject {
	d := store.ActSubject{Entry: e.N, Call: e.Act.Call}
	for _, kept := range t.rows.receipts {
		d.Accepted = d.Accepted || slices.ContainsFunc(kept, func(r store.Receipt) bool { return r.Call == d.Call && r.Decision == string(consent.Accept) })
	}
	row, is := t.rows.turns[t.rows.sessions[e.Act.Session]]
	if !is {
		return d
	}
	d.Turn, d.Project, d.Erased, d.Imported = row.rec.State.Turn, row.rec.State.Project, row.rec.Erased, !row.rec.Imported.IsZero()
	if r, is := t.rows.reports[d.Call]; is && r.Turn == d.Turn {
		d.Status, d.Card = string(r.Status), r.Card
	}
	if t.rows.calls[d.Call] != d.Turn {
		return d
	}
	c := t.rows.callDocuments[d.Call]
	d.Class, d.Digest, d.Fence, d.Document = string(c.Class), c.Digest, c.Fence, c
	for key := range t.rows.grants {
		d.Granted = d.Granted || key.call == d.Call && (e.Act.Act != api.ActStart || key.fence == e.Act.Fence)
	}
	return d
}

// Unaudited implements [store.Tx].
func (t *tx) Unaudited(f store.UnauditedFilter) ([]api.AuditCall, error) {
	if f.Limit == 0 {
		return nil, t.usable()
	}
	wanted := map[string]api.AuditCall{}
	for call := range t.rows.consents {
		wanted[call] = api.AuditCall{Unreceipted: true}
	}
	for key := range t.rows.grants {
		c, is := t.rows.callDocuments[key.call]
		if !is || c.Class == utp.Irreversible {
			wanted[key.call] = api.AuditCall{Unreceipted: true}
		}
	}
	for _, kept := range t.rows.receipts {
		for _, r := range kept {
			if r.Decision == string(consent.Accept) {
				delete(wanted, r.Call)
			}
		}
	}
	for _, call := range t.unrecorded() {
		w := wanted[call]
		w.Unrecorded = true
		wanted[call] = w
	}
	for number := range t.rows.questions {
		if id := t.unreceipted(number); id != "" {
			w := wanted[id]
			w.Unreceipted = true
			wanted[id] = w
		}
	}
	var rows []api.AuditCall
	for call, w := range wanted {
		if call > f.After {
			w.Call, w.Turn, w.Question = call, t.rows.calls[call], t.rows.callDocuments[call].Question
			rows = append(rows, w)
		}
	}
	slices.SortFunc(rows, func(a, b api.AuditCall) int { return cmp.Compare(a.Call, b.Call) })
	return firstOf(rows, f.Limit), t.usable()
}

// unrecorded are the calls with an effect whose start, or whose end, has no act.
func (t *tx) unrecorded() []string {
	var calls []string
	recorded := t.recorded()
	for key := range t.rows.grants {
		c, is := t.rows.callDocuments[key.call]
		ended := c.Fence == key.fence && (c.State == turn.Finished || c.State == turn.Resolved || c.State == turn.Closed)
		if is && c.Class.Effectful() && (!recorded[key] || ended && !recorded[startKey{key.call, 0}]) {
			calls = append(calls, key.call)
		}
	}
	return calls
}

// recorded are the starts that have an act; that of an outcome has no fence.
func (t *tx) recorded() map[startKey]bool {
	all := map[startKey]bool{}
	for _, e := range t.rows.audit {
		switch {
		case e.Act == nil:
		case e.Act.Act == api.ActStart:
			all[startKey{e.Act.Call, e.Act.Fence}] = true
		case e.Act.Act == api.ActOutcome:
			all[startKey{e.Act.Call, 0}] = true
		}
	}
	return all
}

// unreceipted is the call of a question that a person has ended without a yes and that has no receipt, or else "".
func (t *tx) unreceipted(number int) string {
	q := t.rows.questions[number]
	row := t.rows.turns[q.turn]
	if q.state != consent.Rejected && q.state != consent.Answered {
		return ""
	}
	for _, r := range t.rows.receipts[row.rec.State.Session] {
		if r.Question == number {
			return ""
		}
	}
	for id, c := range t.rows.callDocuments {
		if t.rows.calls[id] == q.turn && c.Question == number {
			return id
		}
	}
	return "question " + strconv.Itoa(number)
}
