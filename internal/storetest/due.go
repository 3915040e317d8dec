package storetest

import (
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func dueCases() []exercise {
	return []exercise{
		{"what is due is listed by its time", dueIsListed},
		{"what is free is listed by agent and time", freeIsListed},
		{"what a worker holds", claimedIsListed},
		{"a list goes on behind a place that its turn has left", listGoesOn},
		{"free turns go to one each", freeRace},
	}
}

// timed saves a turn that is due and free so many seconds after the beginning; a negative
// number is never.
func (l *ledger) timed(n, due, free int) store.Record {
	l.t.Helper()
	r := plain(n)
	if due >= 0 {
		r.Due = at(due)
	}
	if free >= 0 {
		r.Free = at(free)
	}
	l.save(store.Batch{Turn: &r})
	r.Version = 1
	return r
}

// listed are the turns of a list and their places.
func (l *ledger) listed(f store.TurnFilter) (names []string, places []time.Time) {
	l.t.Helper()
	l.view(func(tx store.Tx) error {
		rows, err := tx.Turns(f)
		for _, r := range rows {
			names, places = append(names, r.Turn), append(places, r.Position)
		}
		return err
	})
	return names, places
}

func dueIsListed(l *ledger) {
	l.timed(1, 30, -1)
	l.timed(2, 10, -1)
	l.timed(3, -1, 10)
	l.timed(4, 10, -1)
	changed := l.timed(5, 5, -1)
	l.timed(6, 31, -1)
	changed.Due = at(20)
	l.save(store.Batch{Turn: &changed})
	for _, c := range []struct {
		name   string
		filter store.TurnFilter
		want   []string
	}{
		{"up to a time", store.TurnFilter{Due: at(30)}, []string{"turn_2", "turn_4", "turn_5", "turn_1"}},
		{"nothing yet", store.TurnFilter{Due: at(9)}, nil},
		{"a page", store.TurnFilter{Due: at(99), Limit: 2}, []string{"turn_2", "turn_4"}},
		{"the next page", store.TurnFilter{Due: at(99), Limit: 2, After: "turn_4", Position: at(10)}, []string{"turn_5", "turn_1"}},
		{"within a time", store.TurnFilter{Due: at(99), After: "turn_2", Position: at(10)}, []string{"turn_4", "turn_5", "turn_1", "turn_6"}},
		{"one", store.TurnFilter{Due: at(10), Turn: "turn_4"}, []string{"turn_4"}},
		{"one that is not due", store.TurnFilter{Due: at(10), Turn: "turn_1"}, nil},
		{"one that never is", store.TurnFilter{Due: at(99), Turn: "turn_3"}, nil},
	} {
		got, _ := l.listed(c.filter)
		same(l, c.name, got, c.want)
	}
	_, places := l.listed(store.TurnFilter{Due: at(30)})
	same(l, "places", places, []time.Time{at(10), at(10), at(20), at(30)})
	changed.Due, changed.Version = time.Time{}, 2
	l.save(store.Batch{Turn: &changed})
	got, _ := l.listed(store.TurnFilter{Due: at(30)})
	same(l, "after it is not due any more", got, []string{"turn_2", "turn_4", "turn_1"})
}

func freeIsListed(l *ledger) {
	l.timed(1, -1, 30)
	l.timed(2, 10, -1)
	at1970 := l.timed(3, -1, 9)
	at1970.Free = turn.Epoch
	l.save(store.Batch{Turn: &at1970})
	other := plain(4)
	other.State.Agent, other.Free = "other", turn.Epoch
	l.save(store.Batch{Turn: &other})
	l.timed(5, -1, 10)
	got, places := l.listed(store.TurnFilter{Agent: "tidy", Free: at(20)})
	same(l, "free", got, []string{"turn_3", "turn_5"})
	same(l, "since", places, []time.Time{turn.Epoch, at(10)})
	got, _ = l.listed(store.TurnFilter{Agent: "tidy", Free: at(99), After: "turn_3", Position: turn.Epoch, Limit: 1})
	same(l, "the next one", got, []string{"turn_5"})
	got, _ = l.listed(store.TurnFilter{Agent: "other", Free: at(0)})
	same(l, "of another agent", got, []string{"turn_4"})
	same(l, "as it was saved", l.turn(store.TurnRef{Turn: "turn_3"}).Free, turn.Epoch)
}

func claimedIsListed(l *ledger) {
	for n := range 4 {
		r := plain(n)
		if n > 0 {
			r.State.Worker = id("seat", n%2)
		}
		l.save(store.Batch{Turn: &r})
	}
	got, _ := l.listed(store.TurnFilter{Worker: "seat_1"})
	same(l, "of a worker", got, []string{"turn_1", "turn_3"})
	got, _ = l.listed(store.TurnFilter{Worker: "seat_7"})
	same(l, "of a worker that holds nothing", got, nil)
	r := l.turn(store.TurnRef{Turn: "turn_1"})
	r.State.Worker = ""
	l.save(store.Batch{Turn: &r})
	got, _ = l.listed(store.TurnFilter{Agent: "tidy", Open: true, Worker: "seat_1"})
	same(l, "after it has let go of one", got, []string{"turn_3"})
}

// listGoesOn: the turn that a page ended with has been moved, or is gone from the list, and
// the next page begins where it was all the same.
func listGoesOn(l *ledger) {
	var last store.Record
	for n := range 5 {
		if r := l.timed(n, n, -1); n == 2 {
			last = r
		}
	}
	last.Due = at(50)
	l.save(store.Batch{Turn: &last})
	got, _ := l.listed(store.TurnFilter{Due: at(99), After: "turn_2", Position: at(2)})
	same(l, "behind one that was moved", got, []string{"turn_3", "turn_4", "turn_2"})
	got, _ = l.listed(store.TurnFilter{Due: at(99), After: "turn_9", Position: at(3)})
	same(l, "behind one that is not there", got, []string{"turn_4", "turn_2"})
}

// freeRace lets many claim the first free turn at once: each gets one of its own.
func freeRace(l *ledger) {
	const turns = 3 * racers
	for n := range turns {
		l.timed(n, -1, 0)
	}
	taken := make([]map[string]int, racers)
	race(func(i int) {
		taken[i] = map[string]int{}
		for range 2 * turns / racers {
			name := ""
			err := l.update(func(tx store.Tx) error {
				name = ""
				rows, err := tx.Turns(store.TurnFilter{Agent: "tidy", Free: at(1), Limit: 1, Claim: true})
				if err != nil || len(rows) == 0 {
					return err
				}
				r, err := tx.Turn(store.TurnRef{Turn: rows[0].Turn})
				if err != nil {
					return err
				}
				name, r.State.Worker, r.Free = r.State.Turn, id("seat", i), time.Time{}
				return tx.Save(store.Batch{Turn: &r})
			})
			if err != nil {
				l.t.Errorf("claiming: %v", err)
			}
			taken[i][name]++
		}
	})
	all := map[string]int{}
	for _, mine := range taken {
		for name, n := range mine {
			all[name] += n
		}
	}
	delete(all, "") // nothing was left, or others held it
	for name, n := range all {
		if n != 1 {
			l.t.Errorf("%s was taken %d times", name, n)
		}
	}
	same(l, "turns that were taken", len(all), turns)
}
