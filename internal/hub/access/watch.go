package access

import (
	"context"
	"time"
)

const (
	// defaultPoll is the polling interval where file notifications are not available, and the retry interval for failed
	// writes. It is half of the second within which a change has to take effect.
	defaultPoll = 500 * time.Millisecond
	// glance is the polling interval in addition to file notifications: a network file system does not report remote
	// changes.
	glance = 15 * time.Second
)

// lookout is the one goroutine that watches the file for all watchers of a store.
type lookout struct {
	stop context.CancelFunc
	done chan struct{}
}

// Watch sends when credentials may have changed, once for any number of changes, until the context ends; then it closes
// the channel. The caller must wait for that: when the last watcher has left, the watching goroutine has ended too.
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

// leave removes a watcher, and returns the lookout if that was the last one.
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

// watchFile refreshes the store when the file may have changed, and expires page sessions.
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
			if !more { // notifications have ended
				changed = nil
			}
		case <-timer.C:
		}
		timer.Reset(s.refreshFile(changed != nil))
	}
}

// refreshFile refreshes the store, and returns the delay until the next poll.
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
