package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
)

// held runs together while the writer is held up: all updates that together starts wait
// in the queue when release is called, so that they share a commit. It returns when all
// are answered.
func held(t *testing.T, s *sqlite.Store, together func(start func(fn func()))) {
	t.Helper()
	var all sync.WaitGroup
	release := make(chan struct{})
	all.Go(func() {
		if err := s.Update(t.Context(), func(store.Tx) error { <-release; return nil }); err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	together(func(fn func()) { all.Go(fn) })
	synctest.Wait()
	close(release)
	all.Wait()
}

func TestOneCommitForAllThatWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		before := commits(t, dir)
		held(t, s, func(start func(func())) {
			for n := range 100 {
				start(func() {
					err := s.Update(t.Context(), func(tx store.Tx) error {
						if err := tx.Save(twoEvents(n)); err != nil || n%10 != 3 {
							return err
						}
						return errStop
					})
					if (n%10 == 3) != errors.Is(err, errStop) {
						t.Errorf("update %d: %v", n, err)
					}
				})
			}
		})
		if got := commits(t, dir) - before; got != 1 {
			t.Errorf("%d commits for 100 updates that waited together, want 1", got)
		}
		for n := range 100 {
			if there := holds(t, s, n); there != (n%10 != 3) {
				t.Errorf("update %d is there: %t", n, there)
			}
		}
	})
}

var errStop = errors.New("stop")

func TestWithdrawnUpdatesNeverRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		held(t, s, func(start func(func())) {
			for n := range 600 { // more than one group of nothing but withdrawn ones
				ctx, cancel := context.WithCancel(t.Context())
				start(func() {
					err := s.Update(ctx, func(store.Tx) error { t.Errorf("update %d has run", n); return nil })
					if !errors.Is(err, context.Canceled) {
						t.Errorf("update %d: %v", n, err)
					}
				})
				synctest.Wait()
				cancel()
			}
			start(func() {
				if err := save(t.Context(), s, twoEvents(1)); err != nil {
					t.Error(err)
				}
			})
		})
		if !holds(t, s, 1) {
			t.Error("the update behind the withdrawn ones is not there")
		}
	})
}

// TestNoRoomIsTheLargeOnesAlone fills the quota with one update of a group. SQLite may
// end the whole transaction then, and the others have to be there all the same.
func TestNoRoomIsTheLargeOnesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openWith(t, sqlite.Options{Path: dir, Quota: 2 << 20})
		large := make([]byte, 8<<20)
		held(t, s, func(start func(func())) {
			for n := range 20 {
				start(func() {
					if n == 7 || n == 11 {
						err := s.Update(t.Context(), func(tx store.Tx) error {
							return errors.Join(tx.Save(twoEvents(n)), tx.Save(store.Batch{Blobs: []api.PutRequest{{SHA256: nought, Size: 8 << 20, Data: large}}}))
						})
						if !errors.Is(err, store.ErrFull) {
							t.Errorf("the large update: got %v, want %v", err, store.ErrFull)
						}
						return
					}
					if err := save(t.Context(), s, twoEvents(n)); err != nil {
						t.Errorf("update %d: %v", n, err)
					}
				})
			}
		})
		for n := range 20 {
			if there := holds(t, s, n); there != (n != 7 && n != 11) {
				t.Errorf("update %d is there: %t", n, there)
			}
		}
	})
}

// nought is the SHA-256 of something else than is put under it; nobody gets that far.
const nought = "0000000000000000000000000000000000000000000000000000000000000000"

// TestHiddenLackOfRoom hides that there was no room. What comes after it in the same
// function must not be written by itself.
func TestHiddenLackOfRoom(t *testing.T) {
	t.Parallel()
	s := openWith(t, sqlite.Options{Path: t.TempDir(), Quota: 1 << 20})
	err := s.Update(t.Context(), func(tx store.Tx) error {
		_ = tx.Save(store.Batch{Blobs: []api.PutRequest{{SHA256: nought, Size: 8 << 20, Data: make([]byte, 8<<20)}}})
		_ = tx.Save(twoEvents(1))
		return nil
	})
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("got %v, want %v", err, store.ErrFull)
	}
	if holds(t, s, 1) {
		t.Error("a write after the failure is there")
	}
	var full *ledgersql.Error
	if !errors.As(err, &full) || !full.SafeToRetry() {
		t.Errorf("no room is safe to retry: %v", err)
	}
}

// TestTheSameUpdateWithMoreRoom: nothing of the refused one is in its way.
func TestTheSameUpdateWithMoreRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openWith(t, sqlite.Options{Path: dir, Quota: 1})
	var err error
	n := 0
	for ; err == nil; n++ {
		err = save(t.Context(), s, twoEvents(n))
	}
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("got %v, want %v", err, store.ErrFull)
	}
	shut(t, s)
	s = open(t, dir)
	if err := save(t.Context(), s, twoEvents(n-1)); err != nil {
		t.Error(err)
	}
}

// TestFunctionEndsTheWriter: a function that ends its goroutine leaves nobody waiting.
func TestFunctionEndsTheWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		held(t, s, func(start func(func())) {
			for n := range 10 {
				start(func() {
					err := s.Update(t.Context(), func(tx store.Tx) error {
						if n == 5 {
							runtime.Goexit()
						}
						return tx.Save(twoEvents(n))
					})
					if !errors.Is(err, ledgersql.ErrClosed) {
						t.Errorf("update %d: got %v, want %v", n, err, ledgersql.ErrClosed)
					}
				})
			}
		})
		if err := save(t.Context(), s, twoEvents(99)); !errors.Is(err, ledgersql.ErrClosed) {
			t.Errorf("after that: got %v, want %v", err, ledgersql.ErrClosed)
		}
		shut(t, s)
		s = open(t, dir)
		for n := range 10 {
			if holds(t, s, n) {
				t.Errorf("update %d was refused and is there", n)
			}
		}
	})
}

func TestPanic(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	var p *ledgersql.PanicError
	if err := s.Update(t.Context(), func(store.Tx) error { panic(errStop) }); !errors.As(err, &p) || p.Value != any(errStop) || len(p.Stack) == 0 {
		t.Errorf("got %v", err)
	}
}

// TestCloseAnswersTheQueue: updates that wait when the store is closed are under way.
func TestCloseAnswersTheQueue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		held(t, s, func(start func(func())) {
			for n := range 10 {
				start(func() {
					if err := save(t.Context(), s, twoEvents(n)); err != nil {
						t.Errorf("update %d: %v", n, err)
					}
				})
			}
			synctest.Wait()
			start(func() {
				shut(t, s)
			})
		})
		s = open(t, dir)
		for n := range 10 {
			if !holds(t, s, n) {
				t.Errorf("update %d is gone", n)
			}
		}
	})
}

// TestBusy holds the ledger with another store, as another process would.
func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, s := open(t, dir), open(t, dir)
	impatient := func(tx store.Tx) error { _, err := sqlite.Pragma(tx, "busy_timeout=1"); return err }
	if err := s.Update(t.Context(), impatient); err != nil {
		t.Fatal(err)
	}
	err := other.Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Save(twoEvents(1)); err != nil {
			return err
		}
		err := save(t.Context(), s, twoEvents(2))
		var busy *ledgersql.Error
		if !errors.Is(err, ledgersql.ErrBusy) || !errors.As(err, &busy) || !busy.SafeToRetry() {
			t.Errorf("got %v, want %v, safe to retry", err, ledgersql.ErrBusy)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := save(t.Context(), s, twoEvents(2)); err != nil {
		t.Error(err)
	}
}

func TestViewsWaitForAConnection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		release := make(chan struct{})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := s.View(t.Context(), func(store.Tx) error { <-release; return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		all.Go(func() {
			err := s.View(ctx, func(store.Tx) error { t.Error("a fifth view has run"); return nil })
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		ran := false
		all.Go(func() {
			if err := s.View(t.Context(), func(store.Tx) error { ran = true; return nil }); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if err := save(t.Context(), s, twoEvents(1)); err != nil { // the writer waits for no view
			t.Error(err)
		}
		close(release)
		all.Wait()
		if !ran {
			t.Error("the view that waited has not run")
		}
	})
}

// TestFailedCommit makes the commit itself fail, by a constraint that is only looked at
// then: everybody in the group hears it, nothing is written, and the store goes on.
func TestFailedCommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, dir)
		held(t, s, func(start func(func())) {
			for n := range 10 {
				start(func() {
					err := s.Update(t.Context(), func(tx store.Tx) error {
						if n == 4 {
							return errStop // what it has seen is gone too, so it may not keep its own answer
						}
						if _, err := sqlite.Pragma(tx, "defer_foreign_keys=1"); n == 5 && !errors.Is(err, sql.ErrNoRows) {
							return err
						}
						b := twoEvents(n)
						if n == 5 {
							b.Grants = []store.Grant{{Call: "none such"}}
						}
						return tx.Save(b)
					})
					if !errors.Is(err, store.ErrConflict) {
						t.Errorf("update %d: got %v, want the failure of the commit", n, err)
					}
				})
			}
		})
		for n := range 10 {
			if holds(t, s, n) {
				t.Errorf("update %d was refused and is there", n)
			}
		}
		if err := save(t.Context(), s, twoEvents(1)); err != nil {
			t.Error(err)
		}
	})
}

// TestLostTransaction ends the transaction of a group from within one update. That one
// fails, also when it hides it; the others are run again, before and after it.
func TestLostTransaction(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{"no room": store.ErrFull, "disk": ledgersql.ErrIO} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s := open(t, dir)
				culprit := func(n int) bool { return n == 3 || n == 6 }
				held(t, s, func(start func(func())) {
					for n := range 10 {
						start(func() {
							err := s.Update(t.Context(), func(tx store.Tx) error {
								err := tx.Save(twoEvents(n))
								if n == 3 {
									_ = sqlite.Lose(tx, why)
									_ = tx.Save(twoEvents(100))
									return errStop // not what it was answered
								}
								if n == 6 {
									_ = sqlite.Lose(tx, why)
								}
								return err
							})
							if culprit(n) != errors.Is(err, why) || (!culprit(n) && err != nil) {
								t.Errorf("update %d: %v", n, err)
							}
						})
						synctest.Wait() // one after the other, so that there are some before and after
					}
				})
				for n := range 10 {
					if there := holds(t, s, n); there == culprit(n) {
						t.Errorf("update %d is there: %t", n, there)
					}
				}
				if holds(t, s, 100) {
					t.Error("what came after the loss was written by itself")
				}
			})
		})
	}
}

// TestLostViews: a view whose connection is in an unknown state costs the next views
// nothing.
func TestLostViews(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	for range 10 {
		if err := s.View(t.Context(), func(tx store.Tx) error { return sqlite.Lose(tx, ledgersql.ErrIO) }); !errors.Is(err, ledgersql.ErrIO) {
			t.Errorf("got %v, want %v", err, ledgersql.ErrIO)
		}
	}
	if err := save(t.Context(), s, twoEvents(1)); err != nil {
		t.Fatal(err)
	}
	if !holds(t, s, 1) {
		t.Error("the turn is not there")
	}
}
