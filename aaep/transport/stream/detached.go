package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

const (
	// endTime is how long a write of a stream that has ended may still take.
	endTime = time.Second
	// maxStray is how many bytes of a reader are ignored, which has nothing to send.
	maxStray = 64 << 10
)

// ErrStray ends a stream whose reader sends, again and again, where nothing is expected.
var ErrStray = errors.New("the reader has sent more than 64 KiB behind its request")

var errEnded = errors.New("the stream has ended")

// Notifier is a [Permit] that calls, so that nothing has to wait for it.
type Notifier interface {
	// Notify has changed called when the right may have changed, until stop is called. It must not block.
	Notify(changed func()) (stop func())
}

// Detach opens a stream as [Open] does and, where it can, takes its connection over from the HTTP server: over HTTP/1.1, if the writer
// is that of a connection. If detached, the handler may return, which ends the request's context and all that the HTTP server keeps for
// it. The stream then belongs to the caller alone: it runs it with a context of its own, ends it with [Sender.Close], and waits for
// it before its server ends.
func Detach(w http.ResponseWriter, r *http.Request) (s *Sender, detached bool) {
	from := hijacker(w)
	if from == nil || r.ProtoMajor != 1 || r.ProtoMinor < 1 {
		return Open(w), false
	}
	Head(w)
	w.Header().Set("Connection", "close") // nothing else follows on it
	w.WriteHeader(http.StatusOK)
	conn, _, err := from.Hijack() // which sends the header. What the reader has sent behind its request is ignored.
	if err != nil {
		return &Sender{wire: &eventWire{to: w, control: http.NewResponseController(w)}}, false
	}
	return &Sender{wire: &ownWire{conn: conn}}, true
}

// hijacker returns what takes the connection of a writer over, or nil.
func hijacker(w http.ResponseWriter) http.Hijacker {
	for {
		switch is := w.(type) {
		case http.Hijacker:
			return is
		case interface{ Unwrap() http.ResponseWriter }:
			w = is.Unwrap()
		default:
			return nil
		}
	}
}

// ownWire writes server-sent events to a connection of its own, in chunks: the header has said so.
type ownWire struct {
	conn   net.Conn
	broken bool // a chunk was not written whole, so that nothing may follow

	mu    sync.Mutex
	until time.Time // the deadline of writes
	ended bool      // it is the last one

	closing sync.Once
}

// chunkHead is room for the size of a chunk.
const chunkHead = 10

// write implements [wire]: a group is a chunk, in one write (TR-SSE-06, C-92).
func (o *ownWire) write(group []Frame) error {
	buffer, _ := buffers.Get().(*bytes.Buffer)
	defer release(buffer)
	buffer.WriteString("XXXXXXXX\r\n")
	for _, f := range group {
		f.appendTo(buffer)
	}
	size := strconv.FormatInt(int64(buffer.Len()-chunkHead), 16)
	buffer.WriteString("\r\n")
	chunk := buffer.Bytes()[chunkHead-2-len(size):]
	copy(chunk, size)
	return o.send(chunk)
}

func (o *ownWire) send(raw []byte) error {
	if o.broken || !o.extend() {
		return errEnded
	}
	if _, err := o.conn.Write(raw); err != nil {
		o.broken = true
		return fmt.Errorf("the stream: %w", err)
	}
	return nil
}

func (o *ownWire) beat() error { return o.write([]Frame{{Comment: "still here"}}) }

// extend gives the next write its time, to within a second, unless the stream has ended longer than that ago.
func (o *ownWire) extend() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now() // the real clock
	if o.ended {
		return now.Before(o.until)
	}
	if until := now.Add(writeTimeout); until.Sub(o.until) > time.Second {
		o.until = until
		_ = o.conn.SetWriteDeadline(until)
	}
	return true
}

// end limits what is still written. The shortest time counts.
func (o *ownWire) end(within time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if until := time.Now().Add(within); !o.ended || until.Before(o.until) {
		o.ended, o.until = true, until
		_ = o.conn.SetWriteDeadline(until)
	}
}

// close says that nothing follows, if the reader can still be told, and closes the connection.
func (o *ownWire) close() {
	o.closing.Do(func() {
		o.end(endTime)
		_ = o.send([]byte("0\r\n\r\n"))
		_ = o.conn.Close()
	})
}

// Close ends a detached stream, also one that was not run. It does nothing to another.
func (s *Sender) Close() {
	own, detached := s.wire.(*ownWire)
	if !detached {
		return
	}
	own.end(endTime)
	s.mu.Lock()
	defer s.mu.Unlock()
	own.close()
}

// runOwn is [Sender.Run] for a connection of its own. A second goroutine waits for what the reader sends or for its leaving, sends
// heartbeats and checks its right; it has ended when runOwn returns.
func (s *Sender) runOwn(ctx context.Context, own *ownWire, from Source, still Permit) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var hurrying sync.WaitGroup
	hurrying.Add(1)
	over := context.AfterFunc(ctx, func() {
		defer hurrying.Done()
		own.end(endTime)
	})
	a := attendant{Sender: s, own: own, valid: still.Valid}
	stop := a.notified(ctx, still)
	attended := make(chan struct{})
	go func() {
		defer close(attended)
		end(a.run())
	}()
	err := s.writeAll(ctx, from, still.Valid)
	if why := context.Cause(ctx); why != nil { // the first reason
		err = why
	}
	if over() {
		hurrying.Done()
	}
	end(nil)
	s.Close()
	<-attended
	stop()
	hurrying.Wait()
	if errors.Is(err, errGone) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

var errGone = errors.New("the reader has gone")

// attendant is what watches over a stream with a connection of its own. Nobody else reads from it.
type attendant struct {
	*Sender

	own     *ownWire
	valid   func() bool
	mu      sync.Mutex
	changed bool // the right may have changed since it was checked
}

// notified has the attendant learn that the right may have changed, until stop is called, which waits for what ctx ends.
func (a *attendant) notified(ctx context.Context, still Permit) (stop func()) {
	if calls, does := still.(Notifier); does {
		return calls.Notify(a.wake)
	}
	changes := still.Changes(ctx)
	if changes == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range changes {
			a.wake()
		}
	}()
	return func() { <-done }
}

// wake interrupts the reading.
func (a *attendant) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed = true
	_ = a.own.conn.SetReadDeadline(time.Unix(1, 0))
}

// wait sets when the reading ends, and reports whether the right has to be checked at once.
func (a *attendant) wait(next time.Duration) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed, a.changed = a.changed, false
	_ = a.own.conn.SetReadDeadline(time.Now().Add(next))
	return changed
}

// run returns why the stream has to end.
func (a *attendant) run() error {
	stray, buffer := 0, make([]byte, 16)
	next, due := heartbeat, time.Now().Add(heartbeat)
	for {
		if a.wait(next) && !a.valid() {
			return ErrRevoked
		}
		n, err := a.own.conn.Read(buffer)
		if stray += n; stray > maxStray {
			return ErrStray
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			a.own.end(0) // nobody takes what is being written
			return errGone
		}
		if next = time.Until(due); err == nil || next > 0 {
			continue
		}
		if !a.valid() {
			return ErrRevoked
		}
		if next, err = a.beat(); err != nil {
			return err
		}
		due = time.Now().Add(next)
	}
}
