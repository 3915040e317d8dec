package storetest

import (
	"errors"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func turnCases() []exercise {
	return []exercise{
		{"come back as they were", turnsComeBack},
		{"are read with the number of their last event", turnsHaveTheirLast},
		{"are compared and set", turnsAreCompared},
		{"exist once", turnsExistOnce},
		{"are listed oldest first", turnsAreListed},
		{"leave their places", turnsLeaveTheirPlaces},
		{"are listed in pages, either way", turnsArePaged},
		{"are listed with what is known of them", turnsAreDescribed},
		{"have names of their own while they are open", turnsAreNamed},
		{"have their agent's open calls counted", openCallsAreCounted},
		{"lose no update in a race", turnsRace},
		{"one of many writers of a version wins", turnsOneWinner},
	}
}

func turnsComeBack(l *ledger) {
	bare, rich := plain(1), full(2)
	l.save(store.Batch{Turn: &bare})
	l.save(store.Batch{Turn: &rich})
	if bare.Version != 0 || rich.Version != 0 {
		l.t.Error("Save has changed the record that it was given: a lost race could not be run again")
	}
	for _, want := range []store.Record{bare, rich} {
		want.Version = 1
		same(l, "new turn", l.turn(store.TurnRef{Turn: want.State.Turn}), want)
	}
	changed := full(3)
	changed.State.Turn, changed.State.Session, changed.Version = rich.State.Turn, rich.State.Session, 1
	changed.State.Calls, changed.Questions = rich.State.Calls, rich.Questions
	changed.Request, changed.Narration, changed.Args = "anders", nil, awkward(9)
	l.save(store.Batch{Turn: &changed})
	changed.Version = 2
	same(l, "saved again", l.turn(store.TurnRef{Turn: rich.State.Turn}), changed)
}

func turnsHaveTheirLast(l *ledger) {
	last := func() (n int64) {
		l.view(func(tx store.Tx) error {
			r, err := tx.Turn(store.TurnRef{Turn: "turn_1"})
			n = r.Last
			return err
		})
		return n
	}
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	same(l, "before the first event", last(), 0)
	l.save(store.Batch{Turn: versioned(r, 1), Events: []store.Event{event("sess_1", 1), event("sess_1", 2)}})
	same(l, "after two", last(), 2)
	l.save(store.Batch{Events: []store.Event{event("sess_1", 3)}})
	same(l, "after another one without the turn", last(), 3)
}

func turnsAreCompared(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	l.refuse("an update of a turn that is not there", store.ErrConflict, store.Batch{Turn: versioned(plain(2), 1)})
	l.save(store.Batch{Turn: versioned(r, 1)})
	l.refuse("a stale version", store.ErrConflict, store.Batch{Turn: versioned(r, 1), Events: []store.Event{event(r.State.Session, 1)}})
	l.refuse("a version of the future", store.ErrConflict, store.Batch{Turn: versioned(r, 3)})
	if got := l.turn(store.TurnRef{Turn: r.State.Turn}).Version; got != 2 {
		l.t.Errorf("version %d after two saves, want 2", got)
	}
	same(l, "events of the refused step", len(l.events(r.State.Session)), 0)
}

func versioned(r store.Record, version int64) *store.Record {
	r.Version = version
	return &r
}

func turnsExistOnce(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	l.refuse("the same turn again", store.ErrConflict, store.Batch{Turn: &r})
	other := plain(2)
	other.State.Session = r.State.Session
	l.refuse("another turn of the same session", store.ErrConflict, store.Batch{Turn: &other})
	l.missing("the refused turn", func(tx store.Tx) error {
		_, err := tx.Turn(store.TurnRef{Turn: other.State.Turn})
		return err
	})
}

func turnsAreListed(l *ledger) {
	statuses := []turn.Status{turn.Queued, turn.Running, turn.Suspended, turn.Ended}
	for n := 8; n > 0; n-- { // the newest first, so that the order is not that of writing
		r := plain(n)
		r.State.Status = statuses[n%4]
		if n > 4 {
			r.State.Agent = "other"
		}
		l.save(store.Batch{Turn: &r})
	}
	for _, c := range []struct {
		name   string
		filter store.TurnFilter
		want   []int
	}{
		{"all", store.TurnFilter{}, []int{1, 2, 3, 4, 5, 6, 7, 8}},
		{"the oldest", store.TurnFilter{Limit: 3}, []int{1, 2, 3}},
		{"open ones", store.TurnFilter{Open: true}, []int{1, 2, 4, 5, 6, 8}},
		{"of an agent", store.TurnFilter{Agent: "other"}, []int{5, 6, 7, 8}},
		{"open ones of an agent", store.TurnFilter{Agent: "other", Open: true, Limit: 2}, []int{5, 6}},
		{"by status", store.TurnFilter{Statuses: []turn.Status{turn.Running, turn.Ended}}, []int{1, 3, 5, 7}},
		{"by status and open", store.TurnFilter{Statuses: []turn.Status{turn.Running, turn.Ended}, Open: true}, []int{1, 5}},
		{"active ones", store.TurnFilter{Active: true}, []int{1, 2, 5, 6}},
		{"the first active one of an agent", store.TurnFilter{Active: true, Agent: "other", Limit: 1}, []int{5}},
		{"active ones after an id that does not exist", store.TurnFilter{Active: true, After: "turn_2x"}, []int{5, 6}},
		{"of nobody", store.TurnFilter{Agent: "nobody"}, nil},
		{"one", store.TurnFilter{Turn: "turn_3"}, []int{3}},
		{"the newest", store.TurnFilter{Newest: true, Limit: 2}, []int{8, 7}},
	} {
		var rows []store.TurnRow
		l.view(func(tx store.Tx) (err error) {
			rows, err = tx.Turns(c.filter)
			return err
		})
		var got []string
		for _, r := range rows {
			got = append(got, r.Turn)
		}
		var want []string
		for _, n := range c.want {
			want = append(want, id("turn", n))
		}
		same(l, c.name, got, want)
	}
	l.view(func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{Limit: 1})
		same(l, "a row", rows, []store.TurnRow{{
			Turn: "turn_1", Session: "sess_1", Agent: "tidy", Owner: "ann", Status: turn.Running, Created: at(1),
		}})
		return err
	})
}

func turnsLeaveTheirPlaces(l *ledger) {
	r := plain(1)
	r.State.Status = turn.Suspended
	placed := func(step string, want int) {
		l.t.Helper()
		if r.Version == 0 {
			l.save(store.Batch{Turn: &r})
		} else if err := l.update(func(tx store.Tx) error { // as a step: it reads its turn before
			was, err := tx.Turn(store.TurnRef{Turn: r.State.Turn})
			r.Version = was.Version
			return errors.Join(err, tx.Save(store.Batch{Turn: &r}))
		}); err != nil {
			l.t.Fatal(err)
		}
		r.Version = l.turn(store.TurnRef{Turn: r.State.Turn}).Version
		names, _ := l.listed(store.TurnFilter{Active: true})
		same(l, step, len(names), want)
	}
	placed("it waits for something", 1)
	r.State.Calls = []turn.Call{{ID: id("tc", 1), Tool: "fork_join", State: turn.Started, Batch: &turn.Batch{Waits: true, Children: []turn.Child{{Agent: "clerk"}}}}}
	placed("it waits for others only", 0)
	r.State.Calls[0].State = turn.Finished
	placed("it goes on", 1)
	r.State.Status, r.State.Calls = turn.Ended, nil
	placed("it has ended", 0)
}

func turnsArePaged(l *ledger) {
	for n := 1; n <= 7; n++ {
		r := plain(n)
		r.Created = at(n / 2) // two at a time are equally old
		if n%3 == 0 {
			r.State.Owner = `b"b`
		}
		l.save(store.Batch{Turn: &r})
	}
	page := func(f store.TurnFilter) (all []string) {
		f.Limit = 2
		for {
			var rows []store.TurnRow
			l.view(func(tx store.Tx) (err error) {
				rows, err = tx.Turns(f)
				return err
			})
			if len(rows) == 0 {
				return all
			}
			for _, r := range rows {
				all = append(all, r.Turn)
			}
			f.After = rows[len(rows)-1].Turn
		}
	}
	all := []string{"turn_1", "turn_2", "turn_3", "turn_4", "turn_5", "turn_6", "turn_7"}
	same(l, "oldest first", page(store.TurnFilter{}), all)
	slices.Reverse(all)
	same(l, "newest first", page(store.TurnFilter{Newest: true}), all)
	same(l, "of one owner", page(store.TurnFilter{Owners: []string{`b"b`}}), []string{"turn_3", "turn_6"})
	same(l, "of several", page(store.TurnFilter{Owners: []string{"ann", "nobody"}, Newest: true}), []string{"turn_7", "turn_5", "turn_4", "turn_2", "turn_1"})
	same(l, "of nobody", page(store.TurnFilter{Owners: []string{"nobody"}}), nil)
	l.missing("a list behind a turn that is not there", func(tx store.Tx) error {
		_, err := tx.Turns(store.TurnFilter{After: "turn_99"})
		return err
	})
}

func turnsAreDescribed(l *ledger) {
	r := plain(1)
	r.Request, r.State.Status = "räum auf", turn.Ended
	r.State.End = &turn.End{Message: "3 of 5\nare gone"}
	r.State.Name, r.State.Topic = "tidy 2, photos", "tidy, photos"
	l.save(store.Batch{Turn: &r, Events: []store.Event{event("sess_1", 1), event("sess_1", 2)}})
	l.view(func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{})
		same(l, "a row", rows, []store.TurnRow{{
			Turn: "turn_1", Session: "sess_1", Agent: "tidy", Name: "tidy 2, photos", Owner: "ann", Status: turn.Ended, Created: at(1),
			Request: "räum auf", Summary: "3 of 5\nare gone", Last: 2,
		}})
		return err
	})
}

// turnsAreNamed: no two open turns of a project have one name, and those of a topic, and those of some names, are found.
func turnsAreNamed(l *ledger) {
	named := func(n int, name, topic string) store.Record {
		r := plain(n)
		r.State.Name, r.State.Topic = name, topic
		return r
	}
	first, second, other := named(1, "tidy, a", "tidy, a"), named(2, "tidy, a 2", "tidy, a"), named(3, "tidy, b", "tidy, b")
	elsewhere := named(4, "tidy, a", "tidy, a")
	elsewhere.State.Project = "another"
	for _, r := range []store.Record{first, second, other, elsewhere} {
		l.save(store.Batch{Turn: &r})
	}
	again := named(5, "tidy, a", "tidy, a")
	l.refuse("the name of an open turn", store.ErrConflict, store.Batch{Turn: &again})
	bare, barer := named(6, "", ""), named(7, "", "")
	l.save(store.Batch{Turn: &bare})
	l.save(store.Batch{Turn: &barer}) // those of an older ledger have none
	found := func(f store.TurnFilter) []string {
		var ids []string
		f.Open = true
		l.view(func(tx store.Tx) error {
			rows, err := tx.Turns(f)
			ids = make([]string, 0, len(rows))
			for _, row := range rows {
				ids = append(ids, row.Turn)
			}
			return err
		})
		return ids
	}
	topic := store.TurnFilter{Topic: "tidy, a"}
	names := store.TurnFilter{Project: first.State.Project, Names: []string{"tidy, a", "tidy, b", "tidy, c", ""}}
	same(l, "of a topic", found(topic), []string{"turn_1", "turn_2", "turn_4"})
	same(l, "of some names", found(names), []string{"turn_1", "turn_3"})
	first.State.Status, first.Version = turn.Ended, 1
	l.save(store.Batch{Turn: &first})
	same(l, "of some names, after one has ended", found(names), []string{"turn_3"})
	l.save(store.Batch{Turn: &again})
	same(l, "of a topic, after one has ended", found(topic), []string{"turn_2", "turn_4", "turn_5"})
}

// racers is how many goroutines race, and rounds how often each.
const (
	racers = 16
	rounds = 8
)

// race runs fn in many goroutines at once and waits for all.
func race(fn func(racer int)) {
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range racers {
		all.Go(func() {
			<-begin
			fn(i)
		})
	}
	close(begin)
	all.Wait()
}

func turnsRace(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	race(func(int) {
		for range rounds {
			if err := l.retry(func(tx store.Tx) error {
				r, err := tx.Turn(store.TurnRef{Turn: "turn_1"})
				if err != nil {
					return err
				}
				r.State.Applied++
				return tx.Save(store.Batch{Turn: &r})
			}); err != nil {
				l.t.Error(err)
			}
		}
	})
	end := l.turn(store.TurnRef{Turn: "turn_1"})
	if end.State.Applied != racers*rounds || end.Version != racers*rounds+1 {
		l.t.Errorf("%d updates at version %d, want %d at %d", end.State.Applied, end.Version, racers*rounds, racers*rounds+1)
	}
}

// retry repeats an update as long as its race is lost, as the kernel does.
func (l *ledger) retry(fn func(store.Tx) error) error {
	for {
		if err := l.update(fn); !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

func turnsOneWinner(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	var mu sync.Mutex
	var winners []int
	race(func(i int) {
		mine := plain(1)
		mine.Version, mine.State.Step = 1, i+1
		err := l.try(store.Batch{Turn: &mine})
		switch {
		case err == nil:
			mu.Lock()
			winners = append(winners, i+1)
			mu.Unlock()
		case !errors.Is(err, store.ErrConflict):
			l.t.Error(err)
		}
	})
	if got := l.turn(store.TurnRef{Turn: "turn_1"}).State.Step; !slices.Equal(winners, []int{got}) {
		l.t.Errorf("winners %v, and the ledger holds %d", winners, got)
	}
}

func openCallsAreCounted(l *ledger) {
	save := func(n int, agent string, status turn.Status, states ...turn.CallState) {
		r := plain(n)
		r.State.Agent, r.State.Status = agent, status
		for i, state := range states {
			c := asking(n).State.Calls[0]
			c.ID, c.Question, c.State = id("tc", n*100+i), 0, state
			r.State.Calls = append(r.State.Calls, c)
		}
		l.save(store.Batch{Turn: &r})
	}
	count := func(agent string, limit int) (n int) {
		l.view(func(tx store.Tx) (err error) {
			n, err = tx.OpenCalls(agent, limit)
			return err
		})
		return n
	}
	save(1, "tidy", turn.Suspended, turn.Asked, turn.Started, turn.Finished, turn.Closed, turn.Resolved)
	save(2, "tidy", turn.Suspended, turn.Unknown)
	save(3, "tidy", turn.Ended, turn.Asked)
	save(4, "scout", turn.Suspended, turn.Asked)
	same(l, "all", count("tidy", 9), 3)
	same(l, "at most", count("tidy", 2), 2)
	same(l, "another's", count("scout", 9), 1)
	same(l, "nobody's", count("none", 9), 0)
}
