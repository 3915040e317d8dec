package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func event(session, name string) store.Event {
	return store.Event{Session: session, ID: "evt_" + name, Type: "agent.state.changed", At: time.UnixMicro(1)}
}

// TestTwoKernelsClaim: while one kernel holds the oldest turns, the other is given the next
// ones at once, and each keeps what it was given.
func TestTwoKernelsClaim(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	one, other := open(t, dsn), open(t, dsn)
	for i, name := range []string{"a", "b", "c", "d", "e"} {
		r := numbered(name)
		r.Created = time.UnixMicro(int64(i))
		if err := save(t.Context(), one, store.Batch{Turn: r}); err != nil {
			t.Fatal(err)
		}
	}
	claim := func(s *postgres.Store, meanwhile func()) (taken []string) {
		t.Helper()
		err := s.Update(t.Context(), func(tx store.Tx) error {
			rows, err := tx.Turns(store.TurnFilter{Statuses: []turn.Status{turn.Queued}, Limit: 2, Claim: true})
			meanwhile()
			for _, row := range rows {
				r, rerr := tx.Turn(store.TurnRef{Turn: row.Turn})
				r.State.Status = turn.Running
				err = errors.Join(err, rerr, tx.Save(store.Batch{Turn: &r}))
				taken = append(taken, row.Turn)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return taken
	}
	var second, third []string
	first := claim(one, func() {
		second = claim(other, func() {})
		third = claim(other, func() {})
	})
	for i, c := range []struct{ got, want []string }{{first, []string{"turn_a", "turn_b"}}, {second, []string{"turn_c", "turn_d"}}, {third, []string{"turn_e"}}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("claim %d has taken %v, want %v", i, c.got, c.want)
		}
	}
}

// TestNothingIsOvertaken: a row that is committed stays untold while one before it can still
// come, and nobody waits for that.
func TestNothingIsOvertaken(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	one, other := open(t, dsn), open(t, dsn)
	for _, name := range []string{"a", "b"} {
		if err := save(t.Context(), one, store.Batch{Turn: numbered(name), Events: []store.Event{event("sess_"+name, name+"0")}}); err != nil {
			t.Fatal(err)
		}
	}
	var at store.Point
	step := func(newest string, sessions ...store.Advance) {
		t.Helper()
		at.Limit = 9
		err := other.View(t.Context(), func(tx store.Tx) error {
			p, err := tx.Since(at)
			slices.SortFunc(p.Sessions, func(a, b store.Advance) int { return strings.Compare(a.Session, b.Session) })
			if p.Newest != newest || !slices.Equal(p.Sessions, sessions) {
				t.Errorf("since %q: got %+v, want up to %s: %+v", at.Event, p, newest, sessions)
			}
			at.Event = p.Newest
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	step("evt_b0", store.Advance{Session: "sess_a", Last: 1}, store.Advance{Session: "sess_b", Last: 1})
	err := one.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Save(store.Batch{Events: []store.Event{event("sess_a", "a1")}}); err != nil {
			return err
		}
		if rows, err := tx.Events(store.EventFilter{Session: "sess_a", After: 1, Limit: 9}); err != nil || len(rows) != 1 { // what is read again was sent before
			return fmt.Errorf("its own event: %v, %w", rows, err)
		}
		if err := save(t.Context(), other, store.Batch{Events: []store.Event{event("sess_b", "b1")}}); err != nil {
			return err
		}
		step("evt_b0")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	step("evt_b1", store.Advance{Session: "sess_a", Seq: 1, Last: 2}, store.Advance{Session: "sess_b", Seq: 1, Last: 2})
	step("evt_b1")
	_ = one.Update(t.Context(), func(tx store.Tx) error { // one that is undone holds nobody up afterwards
		_ = tx.Save(store.Batch{Events: []store.Event{event("sess_a", "a2")}})
		return errors.New("on purpose")
	})
	if err := save(t.Context(), other, store.Batch{Events: []store.Event{event("sess_b", "b2")}}); err != nil {
		t.Fatal(err)
	}
	step("evt_b2", store.Advance{Session: "sess_b", Seq: 2, Last: 3})
}

func TestSettle(t *testing.T) {
	t.Parallel()
	const wrap = 1 << 32
	for _, c := range []struct {
		last int64
		open []int64
		want int64
	}{
		{0, nil, 0},
		{7, nil, 7},
		{7, []int64{7}, 7},
		{7, []int64{5, 3, 6}, 3},
		{7, []int64{0}, 0},
		{wrap + 5, []int64{5}, wrap + 5},
		{wrap + 5, []int64{3}, wrap + 3},
		{wrap + 5, []int64{wrap - 2}, wrap - 2},
		{3*wrap + 1, []int64{wrap - 1, 0}, 3*wrap - 1},
	} {
		if got := postgres.Settle(c.last, c.open); got != c.want {
			t.Errorf("the last %d, under way %v: settled up to %d, want %d", c.last, c.open, got, c.want)
		}
	}
}

// TestDeadlocksAreRunAgain: two updates want the same two sessions, each the other one
// first. The server undoes one, and both come through.
func TestDeadlocksAreRunAgain(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	s := open(t, dsn)
	for _, name := range []string{"a", "b"} {
		if err := save(t.Context(), s, store.Batch{Turn: numbered(name)}); err != nil {
			t.Fatal(err)
		}
	}
	var runs atomic.Int32
	var both, done sync.WaitGroup
	both.Add(2)
	for _, order := range [][]string{{"sess_a", "sess_b"}, {"sess_b", "sess_a"}} {
		done.Go(func() {
			first := true
			err := s.Update(t.Context(), func(tx store.Tx) error {
				runs.Add(1)
				if err := tx.Save(store.Batch{Events: []store.Event{event(order[0], order[0]+order[1]+"1")}}); err != nil {
					return err
				}
				if first {
					first = false
					both.Done()
					both.Wait()
				}
				_ = tx.Save(store.Batch{Events: []store.Event{event(order[1], order[0]+order[1]+"2")}}) // what fn makes of it does not count
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if n := runs.Load(); n < 3 { // the second run may meet the other update once more
		t.Errorf("the functions ran %d times, want 3 or more: one of them again", n)
	}
	for _, session := range []string{"sess_a", "sess_b"} {
		err := s.View(t.Context(), func(tx store.Tx) error {
			rows, err := tx.Events(store.EventFilter{Session: session, Limit: 9})
			if len(rows) != 2 || rows[0].Seq != 1 || rows[1].Seq != 2 {
				t.Errorf("%s: %+v", session, rows)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestLostRacesAreRunAgain: what the server undoes because it cannot put it in any order
// with others is run again, and not for ever.
func TestLostRacesAreRunAgain(t *testing.T) {
	t.Parallel()
	dsn := nowhere(t)
	s := open(t, dsn)
	outside(t, dsn, `CREATE FUNCTION lose() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '40001'; END $$`)
	for _, c := range []struct{ losses, runs int }{{2, 3}, {1 << 20, postgres.Tries}} {
		runs := 0
		err := s.Update(t.Context(), func(tx store.Tx) error {
			runs++
			if _, err := tx.Count("runs", 1); err != nil {
				return err
			}
			if runs <= c.losses {
				var n int
				_ = postgres.Ask(tx, `SELECT lose()`, &n)
				return errors.New("hidden")
			}
			return nil
		})
		if runs != c.runs || (err == nil) != (c.losses < postgres.Tries) {
			t.Errorf("%d losses: %d runs, %v", c.losses, runs, err)
		}
	}
	if err := s.View(t.Context(), func(tx store.Tx) error {
		n, err := tx.Count("runs", 0)
		if n != 1 {
			t.Errorf("counted %d, want 1: a run that was lost has left something", n)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		var n int
		return postgres.Ask(tx, `SELECT lose()`, &n)
	})
	var e *ledgersql.Error
	if !errors.As(err, &e) || !errors.Is(err, ledgersql.ErrBusy) || !e.SafeToRetry() {
		t.Errorf("got %v, want %v, safe to retry", err, ledgersql.ErrBusy)
	}
}
