package sim

import (
	"cmp"
	"slices"

	"github.com/earshot-dev/earshot/aaep/consent"
	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/utp"
)

// agreed reads what is kept of what receipts are about.
func (t *tx) agreed(f kernel.AgreedFilter) []kernel.Agreed {
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

// unreceipted lists the calls that were agreed to, or started although they cannot be undone, and
// that no receipt of a yes stands for.
func (t *tx) unreceipted(f kernel.UnreceiptedFilter) []utp.AuditCall {
	if f.Limit == 0 {
		return nil
	}
	wanted := map[string]bool{}
	for call := range t.rows.consents {
		wanted[call] = true
	}
	for key := range t.rows.grants {
		c, is := t.rows.made[key.call]
		if !is || c.Class == utp.Irreversible {
			wanted[key.call] = true
		}
	}
	for _, kept := range t.rows.receipts {
		for _, r := range kept {
			if r.Decision == string(consent.Accept) {
				delete(wanted, r.Call)
			}
		}
	}
	var rows []utp.AuditCall
	for call := range wanted {
		if call > f.After {
			rows = append(rows, utp.AuditCall{Call: call, Turn: t.rows.calls[call], Question: t.rows.made[call].Question})
		}
	}
	slices.SortFunc(rows, func(a, b utp.AuditCall) int { return cmp.Compare(a.Call, b.Call) })
	return firstOf(rows, f.Limit)
}
