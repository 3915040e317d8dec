package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

var errOnPurpose = errors.New("storetest: on purpose")

func eventCases() []exercise {
	return []exercise{
		{"are numbered from 1 for each session", eventsAreNumbered},
		{"are read in pages", eventsArePaged},
		{"belong to a session", eventsNeedASession},
		{"exist once", eventsExistOnce},
		{"have no gap, no matter who fails", eventsHaveNoGap},
	}
}

func eventsAreNumbered(l *ledger) {
	for n := 1; n <= 2; n++ {
		r := plain(n)
		l.save(store.Batch{Turn: &r})
	}
	batch := []store.Event{event("sess_1", 1), event("sess_2", 1), event("sess_1", 2), event("sess_2", 2), event("sess_1", 3)}
	l.save(store.Batch{Turn: versioned(plain(1), 1), Events: batch})
	same(l, "numbers in place", numbers(batch), []int64{1, 1, 2, 2, 3})
	next := []store.Event{event("sess_2", 3), event("sess_1", 4)}
	l.save(store.Batch{Events: next}) // without the turn
	same(l, "numbers of the next step", numbers(next), []int64{3, 4})
	born := plain(3)
	first := []store.Event{event("sess_3", 1), event("sess_3", 2)}
	l.save(store.Batch{Turn: &born, Events: first})
	same(l, "numbers of a new turn", numbers(first), []int64{1, 2})
	same(l, "events of 1", l.events("sess_1"), []store.Event{batch[0], batch[2], batch[4], next[1]})
	same(l, "events of 2", l.events("sess_2"), []store.Event{batch[1], batch[3], next[0]})
	same(l, "events of 3", l.events("sess_3"), first)
}

func numbers(events []store.Event) []int64 {
	all := make([]int64, len(events))
	for i, e := range events {
		all[i] = e.Seq
	}
	return all
}

func eventsArePaged(l *ledger) {
	r := plain(1)
	batch := make([]store.Event, 10)
	for i := range batch {
		batch[i] = event("sess_1", i)
	}
	l.save(store.Batch{Turn: &r, Events: batch})
	for _, c := range []struct {
		after int64
		limit int
		want  []int64
	}{
		{0, 3, []int64{1, 2, 3}}, {3, 3, []int64{4, 5, 6}}, {9, 3, []int64{10}}, {10, 3, []int64{}}, {99, 3, []int64{}}, {4, 0, []int64{}}, {-1, 1, []int64{1}},
	} {
		l.view(func(tx store.Tx) error {
			rows, err := tx.Events(store.EventFilter{Session: "sess_1", After: c.after, Limit: c.limit})
			same(l, fmt.Sprintf("after %d, at most %d", c.after, c.limit), numbers(rows), c.want)
			return err
		})
	}
	same(l, "events of nobody", len(l.events("sess_9")), 0)
}

func eventsNeedASession(l *ledger) {
	r := plain(1)
	l.refuse("an event of no session", store.ErrNotFound, store.Batch{Turn: &r, Events: []store.Event{event("sess_1", 1), event("sess_9", 1)}})
	l.missing("the turn of the refused step", func(tx store.Tx) error {
		_, err := tx.Turn(store.TurnRef{Turn: "turn_1"})
		return err
	})
	same(l, "events", len(l.events("sess_9")), 0)
}

func eventsExistOnce(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r, Events: []store.Event{event("sess_1", 1)}})
	l.refuse("an event again", store.ErrConflict, store.Batch{Events: []store.Event{event("sess_1", 2), event("sess_1", 1)}})
	after := []store.Event{event("sess_1", 2)}
	l.save(store.Batch{Events: after})
	same(l, "the number that the refused step would have had", after[0].Seq, int64(2))
}

// eventsHaveNoGap lets many write into few sessions while every third update fails: by
// its own error, by a conflict after its events, by a hidden error, by a panic.
func eventsHaveNoGap(l *ledger) {
	const sessions = 3
	for n := range sessions {
		r := plain(n)
		l.save(store.Batch{Turn: &r})
	}
	var mu sync.Mutex
	acknowledged := map[string]store.Event{}
	race(func(i int) {
		for j := range rounds * 3 {
			session := id("sess", (i+j)%sessions)
			mine := []store.Event{event(session, i*1000+j*2), event(session, i*1000+j*2+1)}
			err := l.update(func(tx store.Tx) error { return eventsOrFailure(tx, mine, i+j) })
			if failing := (i+j)%3 == 1; failing == (err == nil) {
				l.t.Errorf("update %d/%d: %v", i, j, err)
			}
			if err != nil {
				continue
			}
			mu.Lock()
			for _, e := range mine {
				acknowledged[e.ID] = e
			}
			mu.Unlock()
		}
	})
	for n := range sessions {
		rows := l.events(id("sess", n))
		for i, e := range rows {
			if e.Seq != int64(i+1) {
				l.t.Fatalf("%s: event %d has the number %d", e.Session, i+1, e.Seq)
			}
			same(l, "event", e, acknowledged[e.ID])
			delete(acknowledged, e.ID)
		}
	}
	if len(acknowledged) != 0 {
		l.t.Errorf("%d events were acknowledged and are not there", len(acknowledged))
	}
}

func eventsOrFailure(tx store.Tx, mine []store.Event, n int) error {
	err := tx.Save(store.Batch{Events: mine})
	if n%3 != 1 || err != nil {
		return err
	}
	switch (n / 3) % 4 {
	case 0:
		return errOnPurpose
	case 1:
		return tx.Save(store.Batch{Events: slices.Clone(mine[:1])}) // it is there already
	case 2:
		_ = tx.Save(store.Batch{Events: slices.Clone(mine[:1])}) // hidden from the store
		return nil
	default:
		panic(errOnPurpose)
	}
}
