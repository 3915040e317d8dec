package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
)

// most is how many updates share one commit at most, unless the options say otherwise.
const most = 256

// request is an update that waits, runs, or has been answered. done is closed once err
// may be read.
type request struct {
	fn    func(store.Tx) error
	state atomic.Int32
	done  chan struct{}
	err   error
}

// The states of a request: the writer and the submitter race for it once.
const (
	queued int32 = iota
	running
	withdrawn
)

// Update runs fn and returns once what it wrote is durable. A context that ends while
// fn waits for its turn takes it out of the queue, and fn never runs; after that the
// answer is waited for, because it tells what was written. An error of fn is returned as
// it is, a panic as a [*ledgersql.PanicError].
func (s *Store) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{fn: fn, done: make(chan struct{})}
	if err := s.queue(r); err != nil {
		return err
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.state.CompareAndSwap(queued, withdrawn) {
			return ctx.Err()
		}
		<-r.done
	}
	return r.err
}

func (s *Store) queue(r *request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.closedError("updating")
	}
	s.waiting = append(s.waiting, r)
	s.wake()
	return nil
}

// write is the one goroutine that writes. It ends when the store is closed and nothing
// waits any more.
func (s *Store) write() {
	defer close(s.ended)
	defer s.abandon()
	for {
		group, closed := s.next()
		switch {
		case len(group) > 0:
			s.commit(group)
		case closed:
			return
		default:
			<-s.wakeup
		}
	}
}

// next takes the updates that wait, those that were withdrawn left out.
func (s *Store) next() ([]*request, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var group []*request
	n := 0
	for ; n < len(s.waiting) && len(group) < s.together; n++ {
		if r := s.waiting[n]; r.state.CompareAndSwap(queued, running) {
			group = append(group, r)
		}
	}
	s.waiting = slices.Delete(s.waiting, 0, n)
	return group, s.closed
}

// abandon answers what still waits when the writer ends in another way than by Close,
// so that nobody waits for ever: a function has ended this goroutine (runtime.Goexit,
// for example by a test's FailNow).
func (s *Store) abandon() {
	s.mu.Lock()
	left := s.waiting
	s.waiting = nil
	if !s.closed {
		s.closed, s.broken = true, errors.New("a transaction's function ended the writer's goroutine")
	}
	err := s.closedError("updating")
	s.mu.Unlock()
	for _, r := range left {
		if r.state.CompareAndSwap(queued, running) {
			r.answer(err)
		}
	}
}

func (r *request) answer(err error) {
	r.err = err
	close(r.done)
}

// commit brings a group to its end: together, and where that cannot be, without the one
// that ended the transaction, or one by one.
func (s *Store) commit(group []*request) {
	ended := false
	defer func() { // only when a function has ended this goroutine
		if !ended {
			s.rollback()
			fail(group, &ledgersql.Error{Kind: ledgersql.ErrClosed, Op: "updating", Found: "a function that ended the writer's goroutine"})
		}
	}()
	again, alone := s.transact(group)
	for len(again) > 0 && !alone {
		again, alone = s.transact(again)
	}
	for _, r := range again {
		s.transact([]*request{r}) // one by itself is always answered
	}
	ended = true
}

// transact runs a group in one transaction and answers it, or returns those that have to
// run again, and whether each alone.
func (s *Store) transact(group []*request) (again []*request, alone bool) {
	if _, err := s.writer.Exec("BEGIN IMMEDIATE"); err != nil {
		fail(group, border("beginning an update", err))
		return nil, false
	}
	errs := make([]error, len(group))
	for i, r := range group {
		var lost bool
		if errs[i], lost = s.savepoint(r.fn); !lost {
			continue
		}
		s.rollback()
		if errors.Is(errs[i], store.ErrFull) && len(group) > 1 {
			return group, true // it may have been the others that took the room
		}
		r.answer(errs[i])
		again = append(append(again, group[:i]...), group[i+1:]...)
		return again, false
	}
	s.commits.Add(1)
	if _, err := s.writer.Exec("COMMIT"); err != nil {
		s.rollback()
		err = border("committing", err)
		if errors.Is(err, store.ErrFull) && len(group) > 1 {
			return group, true
		}
		fail(group, err)
		return nil, false
	}
	for i, r := range group {
		r.answer(errs[i])
	}
	return nil, false
}

func fail(group []*request, err error) {
	for _, r := range group {
		select {
		case <-r.done:
		default:
			r.answer(err)
		}
	}
}

// savepoint runs one update inside the group's transaction and undoes it when it fails.
// lost means that the whole transaction is gone with it, as SQLite does when, for
// example, there is no room.
func (s *Store) savepoint(fn func(store.Tx) error) (err error, lost bool) { //nolint:revive // err is what the caller gets, lost is for the group
	if _, err := s.writer.Exec("SAVEPOINT one"); err != nil {
		return border("beginning an update", err), true
	}
	t := ledgersql.Update(s.writer, dialect, s.now)
	err = t.Run(fn)
	if err == nil {
		if _, rerr := s.writer.Exec("RELEASE one"); rerr != nil {
			return border("ending an update", rerr), true
		}
		return nil, false
	}
	for _, end := range []string{"ROLLBACK TO one", "RELEASE one"} {
		if _, rerr := s.writer.Exec(end); rerr != nil {
			if failed := t.Failed(); failed != nil {
				err = failed // what SQLite ended the transaction for
			}
			return err, true
		}
	}
	if rerr := t.Drop(t.Condemned()); rerr != nil {
		s.log.Error("a wrong blob stays", "error", rerr)
	}
	return err, false
}

// rollback ends the transaction, if there still is one.
func (s *Store) rollback() {
	if _, err := s.writer.Exec("ROLLBACK"); err != nil {
		s.log.Debug("nothing to roll back", "error", err)
	}
}
