package memory

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Turn implements [store.Tx].
func (t *tx) Turn(ref store.TurnRef) (store.Record, error) {
	if err := t.usable(); err != nil {
		return store.Record{}, err
	}
	id, err := t.locate(ref)
	if err != nil {
		return store.Record{}, err
	}
	row, is := t.rows.turns.get(id)
	if !is {
		return store.Record{}, missing("the turn of", ref)
	}
	rec := copyOf(row.rec)
	rec.Last = row.seq
	return rec, nil
}

// locate finds the turn of a handle. An empty handle leads nowhere.
func (t *tx) locate(ref store.TurnRef) (string, error) {
	var ids []string
	if ref.Turn != "" {
		ids = append(ids, ref.Turn)
	}
	if ref.Session != "" {
		ids = append(ids, t.rows.sessions.row(ref.Session))
	}
	if ref.Call != "" {
		if c := t.rows.calls.row(ref.Call); c != nil {
			ids = append(ids, c.turn)
		} else {
			ids = append(ids, "")
		}
	}
	if ref.Token != "" {
		ids = append(ids, t.rows.questions.row(t.rows.tokens.row(ref.Token)).turn)
	}
	if ref.Question != 0 {
		ids = append(ids, t.rows.questions.row(ref.Question).turn)
	}
	switch len(ids) {
	case 0:
		return "", missing("a turn without a handle", ref)
	case 1:
		return ids[0], nil
	default:
		return "", invalid("finding a turn", fmt.Sprintf("%d handles", len(ids)), "one")
	}
}

// Turns implements [store.Tx].
func (t *tx) Turns(f store.TurnFilter) ([]store.TurnRow, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if f.Claim && !t.writes {
		return nil, fmt.Errorf("%w: claiming turns", store.ErrReadOnly)
	}
	by := orderOf(f)
	behind := store.Record{State: turn.State{Turn: f.After}, Due: micro(f.Position), Free: micro(f.Position)}
	if f.After != "" && by == byCreation {
		row, is := t.rows.turns.get(f.After)
		if !is {
			return nil, missing("the turn", f.After)
		}
		behind = row.rec
	}
	asking := t.asking(f)
	var found []*turnRow
	for row := range t.candidates(f) {
		if matches(f, row) && (!f.Asking || asking[row.rec.State.Turn]) && (f.After == "" || by.compare(f, &row.rec, &behind) > 0) {
			found = append(found, row)
		}
	}
	slices.SortFunc(found, func(a, b *turnRow) int { return by.compare(f, &a.rec, &b.rec) })
	var rows []store.TurnRow
	for _, row := range firstOf(found, f.Limit) {
		rows = append(rows, row.listed(by))
	}
	return rows, nil
}

// candidates yields the turns that a list may have.
func (t *tx) candidates(f store.TurnFilter) iter.Seq[*turnRow] {
	return func(yield func(*turnRow) bool) {
		if f.Turn != "" {
			if row := t.rows.turns.row(f.Turn); row != nil {
				yield(row)
			}
			return
		}
		if f.Open || f.Active || f.Worker != "" || !f.Due.IsZero() || !f.Free.IsZero() {
			for id := range t.rows.open.all() {
				if !yield(t.rows.turns.row(id)) {
					return
				}
			}
			return
		}
		for _, row := range t.rows.turns.all() {
			if !yield(row) {
				return
			}
		}
	}
}

// asking returns the turns that have an open question, where the list is about those.
func (t *tx) asking(f store.TurnFilter) map[string]bool {
	if !f.Asking {
		return nil
	}
	found := map[string]bool{}
	for _, q := range t.rows.questions.all() {
		if q.state == consent.Open {
			found[q.turn] = true
		}
	}
	return found
}

// turnOrder is what a list of turns is ordered by, before the turn's id.
type turnOrder int

const (
	byCreation turnOrder = iota
	byDue
	byFree
	byID // by nothing else
)

func orderOf(f store.TurnFilter) turnOrder {
	switch {
	case !f.Due.IsZero():
		return byDue
	case !f.Free.IsZero():
		return byFree
	case f.Active:
		return byID
	default:
		return byCreation
	}
}

func (o turnOrder) position(r *store.Record) time.Time {
	switch o {
	case byDue:
		return r.Due
	case byFree:
		return r.Free
	case byID:
		return time.Time{}
	case byCreation:
	}
	return r.Created
}

func (o turnOrder) compare(f store.TurnFilter, a, b *store.Record) int {
	n := cmp.Or(o.position(a).Compare(o.position(b)), cmp.Compare(a.State.Turn, b.State.Turn))
	if f.Newest {
		n = -n
	}
	return n
}

func matches(f store.TurnFilter, row *turnRow) bool {
	r, s := &row.rec, &row.rec.State
	switch {
	case f.Turn != "" && s.Turn != f.Turn,
		f.Session != "" && s.Session != f.Session,
		f.Agent != "" && s.Agent != f.Agent,
		f.Worker != "" && s.Worker != f.Worker,
		f.Topic != "" && row.topic != f.Topic,
		len(f.Names) > 0 && (s.Project != f.Project || row.name == "" || !slices.Contains(f.Names, row.name)),
		!f.Due.IsZero() && (r.Due.IsZero() || r.Due.After(f.Due)),
		!f.Free.IsZero() && (r.Free.IsZero() || r.Free.After(f.Free)),
		f.Open && s.Status == turn.Ended,
		f.Active && !s.IsActive(),
		len(f.Statuses) > 0 && !slices.Contains(f.Statuses, s.Status),
		len(f.Owners) > 0 && !slices.Contains(f.Owners, s.Owner):
		return false
	}
	return true
}

func (row *turnRow) listed(by turnOrder) store.TurnRow {
	s := &row.rec.State
	r := store.TurnRow{
		Turn: s.Turn, Session: s.Session, Agent: s.Agent, Name: row.name, Owner: s.Owner, Status: s.Status, Created: row.rec.Created,
		Request: row.rec.Request, Last: row.seq,
	}
	if s.End != nil {
		r.Summary = s.End.Message
	}
	if by == byDue || by == byFree {
		r.Position = by.position(&row.rec)
	}
	return r
}
