package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// heartbeat is how long a stream stays silent at most (TR-SSE-13).
	heartbeat = 15 * time.Second
	// writeTimeout is how long one write may take before the reader is cut off.
	writeTimeout = 30 * time.Second
)

// frame is one event of a stream.
type frame struct {
	id    string // "" leaves the reader's last id as it is
	event string // "" is the unnamed event (the public suite's form, C-80)
	data  []byte // one line of JSON
	// comment is a line that a reader ignores; the frame is nothing else then.
	comment string
}

// stream writes frames to one reader. It has one user.
type stream struct {
	to      http.ResponseWriter
	control *http.ResponseController
	buffer  bytes.Buffer
}

// openStream answers with the head of a stream and sends it at once, so that the
// reader knows that it is connected. The server's own time limits do not hold for it.
func openStream(w http.ResponseWriter) *stream {
	s := &stream{to: w, control: http.NewResponseController(w)}
	headStream(w)
	_ = s.control.SetReadDeadline(time.Time{})
	w.WriteHeader(http.StatusOK)
	return s
}

// headStream sets the head of a stream, which is all that HEAD gets.
func headStream(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no") // a proxy in between must not hold events back
}

// retry tells the reader how soon to come back after the stream has broken.
func (s *stream) retry(after time.Duration) error {
	s.buffer.Reset()
	fmt.Fprintf(&s.buffer, "retry: %d\n\n", after.Milliseconds())
	return s.flush()
}

// send writes one frame (TR-SSE-06, C-92).
func (s *stream) send(f frame) error {
	s.buffer.Reset()
	f.appendTo(&s.buffer)
	return s.flush()
}

func (s *stream) flush() error {
	_ = s.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // the system's own clock counts; not every writer has one
	if _, err := s.to.Write(s.buffer.Bytes()); err != nil {
		return fmt.Errorf("web: stream: %w", err)
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("web: stream: %w", err)
	}
	return nil
}

// appendTo writes the frame: the event's name, its id, the data on one line, an empty
// line, with single line feeds.
func (f frame) appendTo(b *bytes.Buffer) {
	if f.comment != "" {
		b.WriteString(": " + f.comment + "\n\n")
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

// otherBreaks are the characters that some readers take for the end of a line. In JSON
// they stand inside strings only, where an escape means the same.
var otherBreaks = []struct{ raw, escape string }{
	{"\u0085", `\u0085`},
	{"\u2028", `\u2028`},
	{"\u2029", `\u2029`},
}

// appendLine writes JSON as one line. Line ends between its tokens carry no meaning.
func appendLine(b *bytes.Buffer, data []byte) {
	start := b.Len()
	for _, c := range data {
		if c != '\n' && c != '\r' {
			b.WriteByte(c)
		}
	}
	for _, other := range otherBreaks {
		written := b.Bytes()[start:]
		if bytes.Contains(written, []byte(other.raw)) {
			line := bytes.ReplaceAll(written, []byte(other.raw), []byte(other.escape))
			b.Truncate(start)
			b.Write(line)
		}
	}
}

// frames make what a stream sends, a group at a time, until there is no more, the context
// ends, or send answers false.
type frames func(ctx context.Context, send func([]frame) bool) error

// permit is what a reader needs to go on hearing a stream.
type permit interface {
	// changes sends when the right may have changed; a channel that is closed or nil sends no more.
	changes(ctx context.Context) <-chan struct{}
	valid() bool
}

// run sends what comes until there is no more, the reader goes, or the right to hear it
// ends. Frames are made on a goroutine of their own, which has ended when run returns.
func (s *stream) run(ctx context.Context, from frames, still permit) error {
	ctx, cancel := context.WithCancel(ctx)
	changed := still.changes(ctx)
	next, done := make(chan []frame), make(chan error, 1)
	go func() {
		defer close(done)
		done <- from(ctx, func(group []frame) bool {
			select {
			case next <- group:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	defer func() { // what was begun here has ended when run returns
		cancel()
		drain(done)
		if changed != nil {
			drain(changed)
		}
	}()
	return s.write(ctx, next, done, changed, still.valid)
}

// drain reads a channel until it is closed.
func drain[T any](from <-chan T) {
	for range from {
		continue
	}
}

// write is the one writer of the stream.
func (s *stream) write(ctx context.Context, next <-chan []frame, done <-chan error, changed <-chan struct{}, valid func() bool) error {
	timer := time.NewTimer(heartbeat)
	defer timer.Stop()
	looked := time.Now()
	for {
		var group []frame
		var peek bool
		select {
		case <-ctx.Done():
			return nil
		case err := <-done:
			return err
		case group = <-next:
			peek = time.Since(looked) >= glance // a stream that is never silent is looked at too
		case _, more := <-changed:
			peek = true
			if !more {
				changed = nil
			}
		case <-timer.C:
			peek = true
			group = []frame{{comment: "still here"}}
		}
		if peek {
			if !valid() {
				return errRevoked
			}
			looked = time.Now()
		}
		for _, f := range group {
			if err := s.send(f); err != nil {
				return err
			}
		}
		if len(group) > 0 {
			timer.Reset(heartbeat)
		}
	}
}
