package access

import (
	"context"
	"time"
)

const (
	// defaultPoll is how often the file is looked at where the system does not tell of
	// changes, and how soon what could not be written is tried again: twice in the second
	// within which a change has to count.
	defaultPoll = 500 * time.Millisecond
	// glance is how often it is looked at where the system tells: a file system that
	// somebody else changes from afar tells nothing.
	glance = 15 * time.Second
)

// lookout is the one goroutine that looks for all who watch a store.
type lookout struct {
	stop context.CancelFunc
	done chan struct{}
}

// Watch sends when what counts may have changed, once for any number of changes, until
// the context ends; then it closes the channel. Anyone who calls it waits for that: with the
// last of them everything has ended that watching began.
func (s *Store) Watch(ctx context.Context) <-chan struct{} {
	wakeup := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[wakeup] = struct{}{}
	if s.lookout == nil {
		s.lookout = s.beginLookout()
	}
	context.AfterFunc(ctx, func() {
		defer close(wakeup)
		if last := s.leave(wakeup); last != nil {
			last.stop()
			<-last.done
		}
	})
	return wakeup
}

// leave takes one who watched out, and returns the lookout if that was the last.
func (s *Store) leave(wakeup chan struct{}) *lookout {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.changed, wakeup)
	if len(s.changed) > 0 {
		return nil
	}
	last := s.lookout
	s.lookout = nil
	return last
}

func (s *Store) beginLookout() *lookout {
	ctx, cancel := context.WithCancel(context.Background())
	l := &lookout{stop: cancel, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		s.watchFile(ctx)
	}()
	return l
}

// watchFile looks at the file when it has changed, or may have, and lets page sessions run
// out.
func (s *Store) watchFile(ctx context.Context) {
	var changed <-chan struct{}
	if s.poll <= 0 {
		var stop func()
		changed, stop = changes(s.path)
		defer stop()
	}
	timer := time.NewTimer(s.refreshFile(changed != nil))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-changed:
			if !more { // the system tells no more
				changed = nil
			}
		case <-timer.C:
		}
		timer.Reset(s.refreshFile(changed != nil))
	}
}

// refreshFile looks, and says how soon to do so again by itself.
func (s *Store) refreshFile(changed bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
	if ended := s.sweep(); s.refresh() || ended {
		s.notify()
	}
	switch {
	case s.poll > 0:
		return s.poll
	case !changed || s.behind():
		return defaultPoll
	}
	next := glance
	for _, pg := range s.pages {
		next = min(next, pg.expires.Sub(s.now()))
	}
	return max(next, time.Millisecond)
}
