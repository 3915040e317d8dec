package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// heartbeat is the longest silence of a stream (TR-SSE-13).
	heartbeat = 15 * time.Second
	// writeTimeout is how long one write may take before the reader is disconnected.
	writeTimeout = 30 * time.Second
)

// frame is one event of a stream.
type frame struct {
	id    string // "" leaves the reader's last id as it is
	event string // "" is the unnamed event (the public suite's form, C-80)
	data  []byte // one line of JSON
	// comment is a line that a reader ignores; if set, the frame has nothing else.
	comment string
	// retry tells the reader how soon to reconnect after the stream has broken; if set, the frame has nothing else.
	retry time.Duration
}

// wire is a reader's end of a stream, in one transport. A stream calls it for one group at a time.
type wire interface {
	// write sends a group of frames. It fails if the reader does not take them in time.
	write(group []frame) error
	// beat shows the reader that the stream lives.
	beat() error
}

// stream writes frames to one reader. It is safe for concurrent use.
type stream struct {
	wire wire

	mu    sync.Mutex
	wrote time.Time
}

// openStream opens a stream of server-sent events. It sends its header at once, so that the reader knows that it is connected.
// The server's own timeouts do not apply to it.
func openStream(w http.ResponseWriter) *stream {
	to := &eventWire{to: w, control: http.NewResponseController(w)}
	headStream(w)
	_ = to.control.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	return &stream{wire: to}
}

// headStream sets the header of a stream, which is all that HEAD gets.
func headStream(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // a proxy in between must not hold events back
}

// send writes a group of frames together.
func (s *stream) send(group ...frame) error {
	if len(group) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrote = time.Now()
	return s.wire.write(group)
}

// eventWire writes server-sent events.
type eventWire struct {
	to      http.ResponseWriter
	control *http.ResponseController
	buffer  bytes.Buffer
}

// write sends a group in one write (TR-SSE-06, C-92).
func (e *eventWire) write(group []frame) error {
	defer e.buffer.Reset()
	for _, f := range group {
		f.appendTo(&e.buffer)
	}
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // by the real clock; not every writer supports a deadline
	if _, err := e.to.Write(e.buffer.Bytes()); err != nil {      //nolint:gosec // it is no page: its media type is that of events
		return fmt.Errorf("web: stream: %w", err)
	}
	if err := e.control.Flush(); err != nil {
		return fmt.Errorf("web: stream: %w", err)
	}
	return nil
}

func (e *eventWire) beat() error { return e.write([]frame{{comment: "still here"}}) }

// appendTo writes the frame: the event's name, its id, the data on one line, an empty
// line, with single line feeds.
func (f frame) appendTo(b *bytes.Buffer) {
	if f.comment != "" {
		b.WriteString(": " + f.comment + "\n\n")
		return
	}
	if f.retry > 0 {
		fmt.Fprintf(b, "retry: %d\n\n", f.retry.Milliseconds())
		return
	}
	if f.event != "" {
		b.WriteString("event: ")
		b.WriteString(f.event)
		b.WriteByte('\n')
	}
	if f.id != "" {
		b.WriteString("id: ")
		b.WriteString(f.id)
		b.WriteByte('\n')
	}
	b.WriteString("data: ")
	appendLine(b, f.data)
	b.WriteString("\n\n")
}

// otherBreaks are characters that some readers treat as line breaks. JSON contains them only in strings, where an
// escape means the same.
var otherBreaks = []struct{ raw, escape string }{
	{"\u0085", `\u0085`},
	{"\u2028", `\u2028`},
	{"\u2029", `\u2029`},
}

// appendLine writes JSON on one line. Line breaks between tokens have no meaning.
func appendLine(b *bytes.Buffer, data []byte) {
	start := b.Len()
	if bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		data = slices.DeleteFunc(bytes.Clone(data), func(c byte) bool { return c == '\n' || c == '\r' })
	}
	b.Write(data)
	for _, other := range otherBreaks {
		written := b.Bytes()[start:]
		if bytes.Contains(written, []byte(other.raw)) {
			line := bytes.ReplaceAll(written, []byte(other.raw), []byte(other.escape))
			b.Truncate(start)
			b.Write(line)
		}
	}
}

// frames produces what a stream sends, a group at a time, until there is no more, the context ends, or send returns
// false.
type frames func(ctx context.Context, send func([]frame) bool) error

// permit tells whether a reader may still receive a stream.
type permit interface {
	// changes sends when the right may have changed; a closed or nil channel means that it no longer changes.
	changes(ctx context.Context) <-chan struct{}
	valid() bool
}

// run sends frames until there are no more, the reader disconnects, or its right ends. Frames are produced and written
// by a separate goroutine, which has ended when run returns.
func (s *stream) run(ctx context.Context, from frames, still permit) error {
	ctx, cancel := context.WithCancel(ctx)
	changed := still.changes(ctx)
	done := make(chan error, 1)
	go func() {
		defer close(done)
		done <- s.writeAll(ctx, from, still.valid)
	}()
	defer func() { // wait for everything that was started here
		cancel()
		drain(done)
		if changed != nil {
			drain(changed)
		}
	}()
	return s.attend(ctx, done, changed, still.valid)
}

// drain reads a channel until it is closed.
func drain[T any](from <-chan T) {
	for range from {
		continue
	}
}

// writeAll writes what the stream sends. A group is written when send returns.
func (s *stream) writeAll(ctx context.Context, from frames, valid func() bool) error {
	var failed error
	looked := time.Now()
	err := from(ctx, func(group []frame) bool {
		if now := time.Now(); now.Sub(looked) >= glance { // a stream that is never silent is checked too
			if looked = now; !valid() {
				failed = errRevoked
				return false
			}
		}
		if ctx.Err() != nil {
			return false
		}
		failed = s.send(group...)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// attend sends heartbeats, and checks whether the reader may still receive the stream.
func (s *stream) attend(ctx context.Context, done <-chan error, changed <-chan struct{}, valid func() bool) error {
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
			return errRevoked
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
func (s *stream) beat() (next time.Duration, err error) {
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
