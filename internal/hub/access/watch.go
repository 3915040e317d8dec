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
	bell := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed[bell] = struct{}{}
	if s.lookout == nil {
		s.lookout = s.beginLookout()
	}
	context.AfterFunc(ctx, func() {
		defer close(bell)
		if last := s.leave(bell); last != nil {
			last.stop()
			<-last.done
		}
	})
	return bell
}

// leave takes one who watched out, and returns the lookout if that was the last.
func (s *Store) leave(bell chan struct{}) *lookout {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.changed, bell)
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
		s.lookOut(ctx)
	}()
	return l
}

// lookOut looks at the file when it has changed, or may have, and lets page sessions run
// out.
func (s *Store) lookOut(ctx context.Context) {
	var told <-chan struct{}
	if s.poll <= 0 {
		var stop func()
		told, stop = changes(s.path)
		defer stop()
	}
	timer := time.NewTimer(s.lookAgain(told != nil))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, more := <-told:
			if !more { // the system tells no more
				told = nil
			}
		case <-timer.C:
		}
		timer.Reset(s.lookAgain(told != nil))
	}
}

// lookAgain looks, and says how soon to do so again by itself.
func (s *Store) lookAgain(told bool) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep()
	if ended := s.sweep(); s.refresh() || ended {
		s.tell()
	}
	switch {
	case s.poll > 0:
		return s.poll
	case !told || s.behind():
		return defaultPoll
	}
	next := glance
	for _, pg := range s.pages {
		next = min(next, pg.expires.Sub(s.now()))
	}
	return max(next, time.Millisecond)
}
