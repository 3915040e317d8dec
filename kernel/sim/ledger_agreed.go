package sim

import (
	"cmp"
	"slices"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/utp"
)

// agreed reads what is kept of what receipts are about.
func (t *tx) agreed(f kernel.EntryFilter) []kernel.Agreed {
	var rows []kernel.Agreed
	for session, kept := range t.rows.receipts {
		for _, r := range kept {
			if r.Entry > f.After && r.Entry <= f.To {
				rows = append(rows, t.agreedTo(session, r))
			}
		}
	}
	slices.SortFunc(rows, func(a, b kernel.Agreed) int { return cmp.Compare(a.Entry, b.Entry) })
	return rows
}

func (t *tx) agreedTo(session string, r kernel.Receipt) kernel.Agreed {
	a := kernel.Agreed{Entry: r.Entry}
	row, is := t.rows.turns[t.rows.sessions[session]]
	if is {
		s := row.rec.State
		a.Turn, a.Project, a.Erased, a.Imported = s.Turn, s.Project, row.rec.Erased, !row.rec.Imported.IsZero()
		a.Question = t.rows.questions[r.Question].turn == s.Turn
	}
	if id := t.rows.calls[r.Call]; is && id == a.Turn {
		c := t.rows.made[r.Call]
		a.Tool, a.Card, a.Definition, a.Digest = c.Tool, c.Card, c.Definition, c.Digest
		_, granted := t.rows.grants[startKey{c.ID, c.Fence}]
		a.Unstarted = c.Fence > 0 && !granted
	}
	if g, is := t.rows.consents[r.Call]; is && g.Question == r.Question {
		a.Consent = g.Digest
	}
	return a
}

// done reads what is kept of the calls of starts and outcomes.
func (t *tx) done(f kernel.EntryFilter) []kernel.Done {
	var rows []kernel.Done
	for _, e := range t.rows.audit {
		if e.N > f.After && e.N <= f.To && e.Act != nil && e.Act.Call != "" {
			rows = append(rows, t.doneBy(e))
		}
	}
	return rows
}

func (t *tx) doneBy(e api.AuditEntry) kernel.Done {
	d := kernel.Done{Entry: e.N, Call: e.Act.Call}
	row, is := t.rows.turns[t.rows.sessions[e.Act.Session]]
	if !is {
		return d
	}
	d.Turn, d.Erased, d.Imported = row.rec.State.Turn, row.rec.Erased, !row.rec.Imported.IsZero()
	if r, is := t.rows.reports[d.Call]; is && r.Turn == d.Turn {
		d.Status, d.Card = string(r.Status), r.Card
	}
	if t.rows.calls[d.Call] != d.Turn {
		return d
	}
	c := t.rows.made[d.Call]
	d.Class, d.Digest, d.Fence = string(c.Class), c.Digest, c.Fence
	for key := range t.rows.grants {
		d.Granted = d.Granted || key.call == d.Call && (e.Act.Act != api.ActStart || key.fence == e.Act.Fence)
	}
	return d
}

// unaudited lists the calls that were agreed to, or started although they cannot be undone, and
// that no receipt of a yes stands for; and those with an effect that were started since the chain has
// acts, without one that says so.
func (t *tx) unaudited(f kernel.UnauditedFilter) []api.AuditCall {
	if f.Limit == 0 {
		return nil
	}
	wanted := map[string]api.AuditCall{}
	for call := range t.rows.consents {
		wanted[call] = api.AuditCall{Unreceipted: true}
	}
	for key := range t.rows.grants {
		c, is := t.rows.made[key.call]
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
	for key, g := range t.rows.grants {
		if c, is := t.rows.made[key.call]; is && c.Class.Effectful() && t.unrecorded(g) {
			w := wanted[key.call]
			w.Unrecorded = true
			wanted[key.call] = w
		}
	}
	var rows []api.AuditCall
	for call, w := range wanted {
		if call > f.After {
			w.Call, w.Turn, w.Question = call, t.rows.calls[call], t.rows.made[call].Question
			rows = append(rows, w)
		}
	}
	slices.SortFunc(rows, func(a, b api.AuditCall) int { return cmp.Compare(a.Call, b.Call) })
	return firstOf(rows, f.Limit)
}

// unrecorded reports whether no act says that a start was granted, and the chain has had acts before it.
func (t *tx) unrecorded(g kernel.Grant) bool {
	first := slices.IndexFunc(t.rows.audit, func(e api.AuditEntry) bool { return e.Kind == audit.Act })
	return first >= 0 && g.At.UnixMicro() > t.rows.audit[first].At.UnixMicro() && !slices.ContainsFunc(t.rows.audit, func(e api.AuditEntry) bool {
		return e.Act != nil && e.Act.Act == api.ActStart && e.Act.Call == g.Call && e.Act.Fence == g.Fence
	})
}
