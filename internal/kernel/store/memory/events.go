package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Events implements [store.Tx].
func (t *tx) Events(f store.EventFilter) ([]store.Event, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if f.Session != "" {
		rows := t.rows.events.row(f.Session)
		return copies(rows[afterSeq(rows, f.After):], func(store.Event) bool { return true }, f.Limit), nil
	}
	var rows []store.Event
	for _, id := range f.IDs {
		if at, is := t.rows.eventRefs.get(id); is {
			all := t.rows.events.row(at.session)
			rows = append(rows, copyOf(all[afterSeq(all, at.seq-1)]))
		}
	}
	slices.SortFunc(rows, func(a, b store.Event) int {
		return cmp.Or(cmp.Compare(a.Session, b.Session), cmp.Compare(a.Seq, b.Seq))
	})
	return slices.CompactFunc(rows, func(a, b store.Event) bool { return a.ID == b.ID }), nil
}

// afterSeq returns where the events of a session after a number begin. Erased ones are missing.
func afterSeq(rows []store.Event, seq int64) int {
	at, _ := slices.BinarySearchFunc(rows, seq, func(e store.Event, seq int64) int {
		if e.Seq <= seq {
			return -1
		}
		return 1
	})
	return at
}

// Since implements [store.Tx].
func (t *tx) Since(p store.Point) (store.Progress, error) {
	first := !t.used
	if err := t.usable(); err != nil {
		return store.Progress{}, err
	}
	if !first {
		return store.Progress{}, invalid("asking what has gone on", "a transaction that has read or written before", "to be the first that is asked")
	}
	out := store.Progress{Newest: p.Event}
	if n := len(t.rows.order); n > 0 {
		out.Newest = t.rows.order[n-1].id
	}
	var from eventRef
	seen := int64(0) // the row up to which the events of other sessions count as returned
	if p.Event != "" {
		var is bool
		if from, is = t.rows.eventRefs.get(p.Event); !is {
			return store.Progress{}, missing("the event", p.Event)
		}
		if row := t.rows.turns.row(t.rows.sessions.row(from.session)); row != nil {
			out.Owner = row.rec.State.Owner
		}
		seen = t.overlapped(from, p)
	}
	if p.Limit <= 0 {
		return out, nil
	}
	out.Sessions = t.advances(from, seen, p)
	if len(out.Sessions) > p.Limit {
		out.Sessions, out.More = out.Sessions[:p.Limit], true
	}
	return out, nil
}

// overlapped moves a point back by its overlap.
func (t *tx) overlapped(from eventRef, p store.Point) int64 {
	if p.Overlap <= 0 {
		return from.row
	}
	since := from.at.Add(-p.Overlap)
	for _, at := range slices.Backward(t.rows.order[:t.afterRow(from.row-1)]) {
		if at.at.Before(since) {
			return at.row
		}
	}
	return 0
}

// afterRow returns where the events after a row begin.
func (t *tx) afterRow(row int64) int {
	at, _ := slices.BinarySearchFunc(t.rows.order, row, func(e eventRef, row int64) int {
		if e.row <= row {
			return -1
		}
		return 1
	})
	return at
}

// advances lists sessions with new events, and one more than the limit if there are others.
func (t *tx) advances(from eventRef, seen int64, p store.Point) []store.Advance {
	first, last := map[string]int64{}, map[string]int64{}
	for _, at := range t.rows.order[t.afterRow(seen):] {
		if _, is := first[at.session]; !is {
			first[at.session] = at.seq
		}
		last[at.session] = at.seq
	}
	var out []store.Advance
	for _, session := range slices.Sorted(maps.Keys(first)) {
		row := t.rows.turns.row(t.rows.sessions.row(session))
		if row == nil || row.imported {
			continue
		}
		a := store.Advance{
			Session: session, Owner: row.rec.State.Owner, Seq: first[session] - 1, Last: last[session],
			Ended: row.rec.State.Status == turn.Ended && last[session] == row.seq,
		}
		if session == from.session {
			a.Seq = from.seq
		}
		if a.Seq < a.Last && (len(p.Owners) == 0 || slices.Contains(p.Owners, a.Owner)) && len(out) <= p.Limit {
			out = append(out, a)
		}
	}
	return out
}
