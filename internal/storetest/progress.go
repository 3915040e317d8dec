package storetest

import (
	"cmp"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func progressCases() []exercise {
	return []exercise{
		{"an event is found by its id", eventsAreFound},
		{"of an empty ledger is none", progressOfNothing},
		{"since the beginning is everything", progressSinceTheBeginning},
		{"since an event is what came later", progressSinceAnEvent},
		{"does not tell of what was imported", progressOfAnImport},
		{"with an overlap goes back for others only", progressOverlaps},
		{"says when there is more", progressIsBounded},
		{"misses nothing, no matter who writes", progressMissesNothing},
		{"is asked first of all", progressComesFirst},
	}
}

func eventsAreFound(l *ledger) {
	r := plain(1)
	batch := []store.Event{event("sess_1", 1), event("sess_1", 2)}
	l.save(store.Batch{Turn: &r, Events: batch})
	for _, want := range batch {
		l.view(func(tx store.Tx) error {
			got, err := store.OneRow(tx.Events(store.EventFilter{IDs: []string{want.ID}}))
			same(l, "event", got, want)
			return err
		})
	}
	for _, name := range []string{"", "evt_9", "sess_1"} {
		l.missing("the event "+name, func(tx store.Tx) error {
			_, err := store.OneRow(tx.Events(store.EventFilter{IDs: []string{name}}))
			return err
		})
	}
}

// progress asks, and puts the answer in order.
func (l *ledger) progress(p store.Point) store.Progress {
	l.t.Helper()
	var out store.Progress
	l.view(func(tx store.Tx) (err error) {
		out, err = tx.Since(p)
		return err
	})
	slices.SortFunc(out.Sessions, func(a, b store.Advance) int { return cmp.Compare(a.Session, b.Session) })
	return out
}

func progressOfNothing(l *ledger) {
	same(l, "progress", l.progress(store.Point{Limit: 9}), store.Progress{})
	r := plain(1)
	l.save(store.Batch{Turn: &r}) // a session that has not said anything has not gone on
	same(l, "progress", l.progress(store.Point{Limit: 9}), store.Progress{})
	l.missing("a point that is not there", func(tx store.Tx) error {
		_, err := tx.Since(store.Point{Event: "evt_1", Limit: 9})
		return err
	})
}

// told saves an event of a session, n seconds after the beginning.
func (l *ledger) told(session string, n int) store.Event {
	l.t.Helper()
	batch := []store.Event{event(session, n)}
	l.save(store.Batch{Events: batch})
	return batch[0]
}

func (l *ledger) turns(n int) {
	l.t.Helper()
	for i := range n {
		r := plain(i + 1)
		if i == 2 {
			r.State.Status, r.State.Owner = turn.Ended, "bob"
		}
		l.save(store.Batch{Turn: &r})
	}
}

func progressSinceTheBeginning(l *ledger) {
	l.turns(3)
	l.told("sess_1", 1)
	l.told("sess_3", 2)
	last := l.told("sess_1", 3)
	same(l, "progress", l.progress(store.Point{Limit: 9}), store.Progress{Newest: last.ID, Sessions: []store.Advance{
		{Session: "sess_1", Owner: "ann", Seq: 0, Last: 2},
		{Session: "sess_3", Owner: "bob", Seq: 0, Last: 1, Ended: true},
	}})
	same(l, "only the newest", l.progress(store.Point{}), store.Progress{Newest: last.ID})
}

func progressSinceAnEvent(l *ledger) {
	l.turns(3)
	l.told("sess_1", 1)
	l.told("sess_2", 2)
	point := l.told("sess_1", 3)
	l.told("sess_3", 4)
	l.told("sess_1", 5)
	last := l.told("sess_1", 6)
	same(l, "progress", l.progress(store.Point{Event: point.ID, Limit: 9}), store.Progress{Newest: last.ID, Owner: "ann", Sessions: []store.Advance{
		{Session: "sess_1", Owner: "ann", Seq: 2, Last: 4},
		{Session: "sess_3", Owner: "bob", Seq: 0, Last: 1, Ended: true},
	}})
	same(l, "since the newest", l.progress(store.Point{Event: last.ID, Limit: 9}), store.Progress{Newest: last.ID, Owner: "ann"})
	same(l, "of one owner, others fill no page", l.progress(store.Point{Event: point.ID, Limit: 1, Owners: []string{"bob", "cat"}}),
		store.Progress{Newest: last.ID, Owner: "ann", Sessions: []store.Advance{{Session: "sess_3", Owner: "bob", Seq: 0, Last: 1, Ended: true}}})
	same(l, "of nobody there", l.progress(store.Point{Event: point.ID, Limit: 9, Owners: []string{"cat"}}), store.Progress{Newest: last.ID, Owner: "ann"})
}

// progressOfAnImport: what an import brings in happened elsewhere, and fills no page. A turn whose
// own words look like the mark of one is told of.
func progressOfAnImport(l *ledger) {
	l.turns(1)
	point := l.told("sess_1", 1)
	for i := 2; i <= 4; i++ {
		r := plain(i)
		r.State.Status, r.Imported = turn.Ended, at(2)
		if i == 3 {
			r.Imported, r.State.Agent = time.Time{}, `{"imported":`
		}
		l.save(store.Batch{Turn: &r})
		l.told(r.State.Session, i)
	}
	last := l.told("sess_4", 5)
	for _, limit := range []int{1, 9} {
		same(l, "progress", l.progress(store.Point{Event: point.ID, Limit: limit}), store.Progress{Newest: last.ID, Owner: "ann", Sessions: []store.Advance{
			{Session: "sess_3", Owner: "ann", Seq: 0, Last: 1, Ended: true},
		}})
	}
}

func progressOverlaps(l *ledger) {
	l.turns(2)
	l.told("sess_2", 1)
	l.told("sess_2", 10)
	l.told("sess_1", 12)
	l.told("sess_2", 13)
	point := l.told("sess_1", 15)
	for _, c := range []struct {
		overlap time.Duration
		want    []store.Advance
	}{
		{0, nil},
		{time.Second, nil},
		{2 * time.Second, []store.Advance{{Session: "sess_2", Owner: "ann", Seq: 2, Last: 3}}},
		{5 * time.Second, []store.Advance{{Session: "sess_2", Owner: "ann", Seq: 1, Last: 3}}},
		{time.Hour, []store.Advance{{Session: "sess_2", Owner: "ann", Seq: 0, Last: 3}}},
	} {
		got := l.progress(store.Point{Event: point.ID, Overlap: c.overlap, Limit: 9})
		same(l, "with an overlap of "+c.overlap.String(), got, store.Progress{Newest: point.ID, Owner: "ann", Sessions: c.want})
	}
}

func progressIsBounded(l *ledger) {
	l.turns(3)
	for n := range 3 {
		l.told(id("sess", n+1), n)
	}
	if got := l.progress(store.Point{Limit: 3}); len(got.Sessions) != 3 || got.More {
		l.t.Errorf("three of three: %+v", got)
	}
	if got := l.progress(store.Point{Limit: 2}); len(got.Sessions) != 2 || !got.More {
		l.t.Errorf("two of three: %+v", got)
	}
}

// progressMissesNothing lets many write while one goes from point to point: together the
// steps tell every event once.
func progressMissesNothing(l *ledger) {
	const sessions = 3
	for n := range sessions {
		r := plain(n)
		l.save(store.Batch{Turn: &r})
	}
	heard := map[string]int64{}
	var point store.Point
	point.Limit = 9
	step := func() {
		p := l.progress(point)
		for _, a := range p.Sessions {
			if a.Seq != heard[a.Session] {
				l.t.Errorf("%s: heard up to %d, and now told from %d on", a.Session, heard[a.Session], a.Seq)
			}
			heard[a.Session] = a.Last
		}
		point.Event = p.Newest
	}
	race(func(i int) {
		for j := range rounds {
			if i == 0 {
				step()
				continue
			}
			if err := l.try(store.Batch{Events: []store.Event{event(id("sess", j%sessions), i*1000+j)}}); err != nil {
				l.t.Error(err)
			}
		}
	})
	step()
	for n := range sessions {
		session := id("sess", n)
		same(l, "the last of "+session, heard[session], int64(len(l.events(session))))
	}
}

// progressComesFirst: what was read before may be older than what is told.
func progressComesFirst(l *ledger) {
	for what, run := range map[string]func(func(store.Tx) error) error{
		"view": func(fn func(store.Tx) error) error { return l.store.View(l.t.Context(), fn) }, "update": l.update,
	} {
		err := run(func(tx store.Tx) error {
			if _, err := tx.Count("n", 0); err != nil {
				return err
			}
			if _, err := tx.Since(store.Point{Limit: 1}); err == nil {
				l.t.Errorf("a %s was told what has gone on after something else was read in it", what)
			}
			_, err := tx.Count("n", 0) // refusing has done no harm
			return err
		})
		if err != nil {
			l.t.Errorf("%s: %v", what, err)
		}
	}
}
