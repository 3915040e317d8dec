package postgres_test

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
)

// touch is a step of a turn: read it, tell an event, save it.
func touch(s store.Ledger, t *testing.T, name, evt string) error {
	t.Helper()
	return s.Update(t.Context(), func(tx store.Tx) error {
		r, err := tx.Turn(store.TurnRef{Turn: "turn_" + name})
		if err != nil {
			return err
		}
		return tx.Save(store.Batch{Turn: &r, Events: []store.Event{event("sess_"+name, evt)}})
	})
}

// TestTogether: what waits while every hand that commits is busy is committed in one
// transaction, and those that cannot be committed are left out of it, each with its own
// error.
func TestTogether(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	s, other := open(t, dsn), open(t, dsn)
	const members = 20
	for n := range members {
		if err := save(t.Context(), s, store.Batch{Turn: numbered(fmt.Sprint("m", n))}); err != nil {
			t.Fatal(err)
		}
	}
	var all, holding sync.WaitGroup
	release := make(chan struct{})
	until := func(busy, waiting int) {
		for b, w := postgres.Writing(s); b != busy || w != waiting; b, w = postgres.Writing(s) {
			runtime.Gosched()
		}
	}
	for n := range postgres.WritingHands { // each hand waits for a row that somebody else holds
		name := fmt.Sprint("held", n)
		if err := save(t.Context(), s, store.Batch{Turn: numbered(name)}); err != nil {
			t.Fatal(err)
		}
		until(0, 0)
		holding.Add(1)
		all.Go(func() {
			_ = other.Update(t.Context(), func(tx store.Tx) error {
				if _, err := tx.Count(name, 1); err != nil {
					t.Error(err)
				}
				r, err := tx.Turn(store.TurnRef{Turn: "turn_" + name})
				if err = errors.Join(err, tx.Save(store.Batch{Turn: &r})); err == nil {
					_, err = tx.Turn(store.TurnRef{Turn: "turn_" + name}) // sent before it is read again
				}
				if err != nil {
					t.Error(err)
				}
				holding.Done()
				<-release
				return errors.New("on purpose")
			})
		})
	}
	holding.Wait()
	for n := range postgres.WritingHands {
		all.Go(func() {
			if err := touch(s, t, fmt.Sprint("held", n), fmt.Sprint("h", n)); err != nil {
				t.Error(err)
			}
		})
		until(n+1, 0)
	}
	for n := range members {
		all.Go(func() {
			if err := touch(s, t, fmt.Sprint("m", n), fmt.Sprint("e", n)); err != nil {
				t.Errorf("member %d: %v", n, err)
			}
		})
	}
	for what, b := range map[string]store.Batch{
		"a turn that is there":    {Turn: numbered("m0")},
		"a turn that moved on":    {Turn: &store.Record{State: numbered("m1").State, Version: 7}},
		"an event that was told":  {Turn: numbered("new"), Events: []store.Event{event("sess_new", "e1"), event("sess_new", "e1")}},
		"a report of no turn":     {Turn: numbered("new2"), Reports: []store.Report{{Turn: "turn_none", Call: "tc_x"}}},
		"a report that is not":    {Turn: numbered("new3"), Applied: []store.ResultRow{{Call: "tc_none"}}},
		"a card that is no other": {Turn: numbered("new4"), Consumed: []store.Consent{{Question: 1, Call: "tc_none"}}},
	} {
		all.Go(func() {
			if err := save(t.Context(), s, b); !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: got %v, want %v", what, err, store.ErrConflict)
			}
		})
	}
	until(postgres.WritingHands, members+5) // a turn that was not read is compared by itself
	close(release)
	all.Wait()
	err := s.View(t.Context(), func(tx store.Tx) error {
		var commits int
		if err := postgres.Ask(tx, `SELECT count(DISTINCT xmin::text) FROM turns WHERE turn_id LIKE 'turn\_m%'`, &commits); err != nil || commits != 1 {
			t.Errorf("committed in %d transactions, want 1 (%v)", commits, err)
		}
		for n := range members {
			rows, err := tx.Events(store.EventFilter{Session: fmt.Sprint("sess_m", n), Limit: 9})
			if err != nil || len(rows) != 1 || rows[0].Seq != 1 {
				t.Errorf("member %d has the events %+v (%v)", n, rows, err)
			}
		}
		for _, name := range []string{"new", "new2", "new3", "new4"} {
			if _, err := tx.Turn(store.TurnRef{Turn: "turn_" + name}); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: something was written in part: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNumbers: the numbers of messages are known when the update has returned, whichever way
// they were written.
func TestNumbers(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t))
	for name, fn := range map[string]func(store.Tx, store.Batch) error{
		"put off": func(tx store.Tx, b store.Batch) error { return tx.Save(b) },
		"sent before": func(tx store.Tx, b store.Batch) error {
			err := tx.Save(b)
			_, cerr := tx.Count("n", 1)
			return errors.Join(err, cerr)
		},
		"in a transaction": func(tx store.Tx, b store.Batch) error {
			_, err := tx.Count("n", 1)
			return errors.Join(err, tx.Save(b))
		},
	} {
		b := store.Batch{Turn: numbered(name), Outbox: make([]store.Outgoing, 2)}
		for i := range b.Outbox {
			b.Outbox[i] = store.Outgoing{Session: b.Turn.State.Session, Subject: fmt.Sprint("s", i)}
		}
		if err := s.Update(t.Context(), func(tx store.Tx) error { return fn(tx, b) }); err != nil {
			t.Fatal(err)
		}
		err := s.View(t.Context(), func(tx store.Tx) error {
			rows, err := tx.Outbox(store.OutboxFilter{Session: b.Turn.State.Session})
			if len(rows) != 2 || rows[0].ID != b.Outbox[0].ID || rows[1].ID != b.Outbox[1].ID {
				t.Errorf("%s: got %+v, want the numbers of %+v", name, rows, b.Outbox)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestHandsAreReplaced: a connection that dies under the hands that read and commit costs
// nobody anything.
func TestHandsAreReplaced(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t)+"&pool_max_conns=2")
	if err := save(t.Context(), s, store.Batch{Turn: numbered("a")}); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		err := s.View(t.Context(), func(tx store.Tx) error {
			kill(t, tx) // the one that the hands are given next
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := touch(s, t, "a", fmt.Sprint("e", n)); err != nil {
			t.Errorf("after the connection has died: %v", err)
		}
	}
}

// TestPutOffIsRefused: a statement that the database refuses for what it is, is told like in a
// transaction of its own.
func TestPutOffIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, nowhere(t))
	b := store.Batch{Turn: numbered("a"), Consents: []store.Consent{{Question: 1, Call: "tc_none"}}} // without a digest
	if err := save(t.Context(), s, b); !errors.Is(err, ledgersql.ErrInvalid) {
		t.Errorf("got %v, want %v", err, ledgersql.ErrInvalid)
	}
	untouched(t, s, "the update")
}
