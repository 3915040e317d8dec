package web

import (
	"context"
	"sync"
)

// lookout tells streams when rights may have changed. One goroutine waits for all of them, as long as there are any.
type lookout struct {
	access Access

	mu    sync.Mutex
	calls map[int]func()
	next  int
	stop  func() // ends the goroutine and waits for it; nil without one
}

// join has changed called when rights may have changed, until leave is called. With the last one the goroutine has ended.
func (l *lookout) join(changed func()) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls == nil {
		l.calls = map[int]func(){}
	}
	l.next++
	n := l.next
	l.calls[n] = changed
	if l.stop == nil {
		l.stop = l.begin()
	}
	return func() {
		if last := l.remove(n); last != nil {
			last()
		}
	}
}

// remove returns what ends the goroutine if nobody is left.
func (l *lookout) remove(n int) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.calls, n)
	if len(l.calls) > 0 {
		return nil
	}
	stop, l.stop = l.stop, nil
	return stop
}

func (l *lookout) begin() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	changes := l.access.Watch(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range changes {
			l.tell()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (l *lookout) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, changed := range l.calls {
		changed()
	}
}
