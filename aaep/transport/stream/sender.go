package stream

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// heartbeat is the longest silence of a stream (TR-SSE-13).
	heartbeat = 15 * time.Second
	// writeTimeout is how long one write may take before the reader is disconnected.
	writeTimeout = 30 * time.Second
	// glance is how often a stream that is never silent is checked for the right to hear it.
	glance = 10 * time.Second
)

// ErrRevoked ends a stream whose reader may no longer receive it.
var ErrRevoked = errors.New("the right to hear this stream has ended")

// Frame is one event of a stream.
type Frame struct {
	ID    string // "" leaves the reader's last id as it is
	Event string // "" is the unnamed event
	Data  []byte // one line of JSON
	// Comment is a line that a reader ignores; if set, the frame has nothing else.
	Comment string
	// Retry tells the reader how soon to reconnect after the stream has broken; if set, the frame has nothing else.
	Retry time.Duration
}

// Source produces what a stream sends, a group at a time, until there is no more, the context ends, or send returns
// false.
type Source func(ctx context.Context, send func([]Frame) bool) error

// Permit tells whether a reader may still receive a stream.
type Permit interface {
	// Changes sends when the right may have changed; a closed or nil channel means that it no longer changes. It is closed after the
	// context's end.
	Changes(ctx context.Context) <-chan struct{}
	// Valid reports whether the reader may receive the stream now.
	Valid() bool
}

// wire is a reader's end of a stream, in one transport. A stream calls it for one group at a time.
type wire interface {
	// write sends a group of frames. It fails if the reader does not take them in time.
	write(group []Frame) error
	// beat shows the reader that the stream lives.
	beat() error
}

// Sender writes frames to one reader. It is safe for concurrent use.
type Sender struct {
	wire wire

	mu    sync.Mutex
	wrote time.Time
}

// Send writes a group of frames together.
func (s *Sender) Send(group ...Frame) error {
	_, err := s.send(group)
	return err
}

// send writes a group, and returns when it began to. Of an empty one it writes nothing: an empty chunk would end an HTTP answer.
func (s *Sender) send(group []Frame) (at time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(group) == 0 {
		return s.wrote, nil
	}
	s.wrote = time.Now()
	return s.wrote, s.wire.write(group)
}

// Run sends frames until there are no more, the reader disconnects, or its right ends. All goroutines that it has started have ended
// when it returns. It closes the connection of a detached stream.
func (s *Sender) Run(ctx context.Context, from Source, still Permit) error {
	if own, detached := s.wire.(*ownWire); detached {
		return s.runOwn(ctx, own, from, still)
	}
	ctx, cancel := context.WithCancel(ctx)
	changed := still.Changes(ctx)
	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- s.writeAll(ctx, from, still.Valid)
	}()
	defer func() { // wait for everything that was started here
		cancel()
		drain(done)
		if changed != nil {
			drain(changed)
		}
	}()
	return s.attend(ctx, done, changed, still.Valid)
}

// drain reads a channel until it is closed.
func drain[T any](from <-chan T) {
	for range from {
		continue
	}
}

// writeAll writes what the stream sends. A group is written when send returns.
func (s *Sender) writeAll(ctx context.Context, from Source, valid func() bool) error {
	var failed error
	looked := time.Now()
	wrote := looked
	err := from(ctx, func(group []Frame) bool {
		if wrote.Sub(looked) >= glance { // a stream that is never silent is checked too
			if looked = wrote; !valid() {
				failed = ErrRevoked
				return false
			}
		}
		if ctx.Err() != nil {
			return false
		}
		wrote, failed = s.send(group)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// attend sends heartbeats, and checks whether the reader may still receive the stream.
func (s *Sender) attend(ctx context.Context, done <-chan error, changed <-chan struct{}, valid func() bool) error {
	timer := time.NewTimer(heartbeat)
	defer timer.Stop()
	for {
		silent := false
		select {
		case <-ctx.Done():
			return nil
		case err := <-done:
			return err
		case _, more := <-changed:
			if !more {
				changed = nil
			}
		case <-timer.C:
			silent = true
		}
		if !valid() {
			return ErrRevoked
		}
		if !silent {
			continue
		}
		next, err := s.beat()
		if err != nil {
			return err
		}
		timer.Reset(next)
	}
}

// beat sends a heartbeat if the stream has been silent long enough, and returns when to check again.
func (s *Sender) beat() (next time.Duration, err error) {
	if !s.mu.TryLock() { // something is being written, which has its own time
		return heartbeat, nil
	}
	defer s.mu.Unlock()
	if left := heartbeat - time.Since(s.wrote); left > 0 {
		return left, nil
	}
	s.wrote = time.Now()
	return heartbeat, s.wire.beat()
}
