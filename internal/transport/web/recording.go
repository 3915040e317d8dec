package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
	"github.com/earshot-dev/earshot/api"
)

// RecordingOptions configure a [Recording]. Open is required.
type RecordingOptions struct {
	// Open opens the recording at its beginning. It is called once for playing, and once for each listener.
	Open func() (io.ReadCloser, error)
	// Speed is the playback speed as a multiple of the recorded one; 0 plays without pauses.
	Speed float64
	// Skipped is called for each broken message, which is not played. It is called by the goroutine of
	// [Recording.Play].
	Skipped func(*capture.BrokenError)
	// Log receives the errors of listeners; default none.
	Log *slog.Logger
}

// Recording plays recorded messages to any number of listeners, at the recorded pace. A late listener gets them from
// the first one on. Played messages stay in the file: memory does not grow with them. It is safe for concurrent use.
// Create it with [NewRecording].
type Recording struct {
	o RecordingOptions

	mu       sync.Mutex
	released int           // messages that listeners may get
	ended    bool          // there will be no more
	changed  chan struct{} // closed with each change of the above
	complete int           // listeners that have received everything
	under    int           // listeners that are still receiving
}

// NewRecording creates a recording that has not been played yet.
func NewRecording(o RecordingOptions) *Recording {
	if o.Skipped == nil {
		o.Skipped = func(*capture.BrokenError) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Recording{o: o, changed: make(chan struct{})}
}

// Play releases each message at its time, and returns their number when all are released. The time of a message follows
// from the difference between its timestamp and the previous one. Without a timestamp, or if time runs backwards, it is
// released at once.
func (r *Recording) Play(ctx context.Context) (int, error) {
	in, err := r.o.Open()
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }()
	defer r.change(func() { r.ended = true })

	messages := &playable{from: capture.NewReader(in, capture.Options{}), skipped: r.o.Skipped}
	var last time.Time
	for played := 0; ; played++ {
		raw, err := messages.next()
		if errors.Is(err, io.EOF) {
			return played, nil
		}
		if err != nil {
			return played, fmt.Errorf("web: recording: %w", err)
		}
		if at, ok := timeOf(raw); ok {
			if err := r.pause(ctx, last, at); err != nil {
				return played, err
			}
			last = at
		}
		r.change(func() { r.released++ })
	}
}

// timeOf returns the timestamp of a message.
func timeOf(raw []byte) (time.Time, bool) {
	text, _ := aaep.Read(raw).Text("timestamp")
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

func (r *Recording) pause(ctx context.Context, last, at time.Time) error {
	if r.o.Speed <= 0 || last.IsZero() || !at.After(last) {
		return context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
	timer := time.NewTimer(time.Duration(float64(at.Sub(last)) / r.o.Speed))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) //nolint:wrapcheck // the caller's own
	}
}

// change changes the state and notifies all waiters.
func (r *Recording) change(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	close(r.changed)
	r.changed = make(chan struct{})
}

// until waits until the condition, which reads the state, is true.
func (r *Recording) until(ctx context.Context, condition func() bool) error {
	for {
		r.mu.Lock()
		done, changed := condition(), r.changed
		r.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx) //nolint:wrapcheck // the caller's own
		}
	}
}

// WaitPlayed waits until at least one listener has received everything, and none is still receiving.
func (r *Recording) WaitPlayed(ctx context.Context) error {
	return r.until(ctx, func() bool { return r.ended && r.complete > 0 && r.under == 0 })
}

// play passes all messages to one listener as they are released, past ones at once. It returns nil at the end of the
// recording, or when deliver returns false.
func (r *Recording) play(ctx context.Context, deliver func(raw []byte) bool) error {
	in, err := r.o.Open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	r.change(func() { r.under++ })
	whole := false
	defer r.change(func() {
		r.under--
		if whole {
			r.complete++
		}
	})
	messages := &playable{from: capture.NewReader(in, capture.Options{}), skipped: func(*capture.BrokenError) {}}
	for n := 1; ; n++ {
		if err := r.until(ctx, func() bool { return r.released >= n || r.ended }); err != nil {
			return err
		}
		if r.out() < n {
			whole = true
			return nil
		}
		raw, err := messages.next()
		if err != nil {
			return fmt.Errorf("web: recording: %w", err)
		}
		if !deliver(raw) {
			return nil
		}
	}
}

func (r *Recording) out() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.released
}

// playable iterates over the valid messages of a recording.
type playable struct {
	from    *capture.Reader
	skipped func(*capture.BrokenError)
}

func (p *playable) next() ([]byte, error) {
	for {
		m, err := p.from.Next()
		switch {
		case err != nil:
			return nil, err
		case m.Err != nil:
			p.skipped(m.Err)
		case !aaep.Read(m.Raw).Readable():
			p.skipped(&capture.BrokenError{Line: m.Line, Column: m.Column, Offset: m.Offset, Reason: "found no JSON object"})
		default:
			return m.Raw, nil
		}
	}
}

// Handler serves the recording:
//
//	GET  /events                  server-sent events, at once
//	GET  /ws                      a WebSocket, at once
//	POST /aaep/v1/subscriptions   and the stream that it names: Appendix B of the protocol
//	GET  /aaep/v1/events
//	GET  /aaep/v1/ws              a WebSocket whose first message is a subscription.request
//	POST /aaep/v1/replies         refused: a recording asks nobody
//
// On a WebSocket, a reply closes the connection, and a message of the handshake is ignored. A reader that returns with
// the id of the last event gets status 204: there is no more.
func (r *Recording) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", r.serveEvents)
	mux.HandleFunc("GET "+api.AAEPRoot+"/events", r.serveEvents)
	mux.HandleFunc("POST "+api.AAEPRoot+"/subscriptions", r.serveSubscribe)
	mux.HandleFunc("POST "+api.AAEPRoot+"/replies", func(w http.ResponseWriter, _ *http.Request) {
		refuse(api.KindConflict, "this is a recording: its questions were asked elsewhere, and no reply counts here", "answer where the question is asked").write(w)
	})
	mux.HandleFunc("GET /ws", func(w http.ResponseWriter, q *http.Request) { r.serveSocket(w, q, false) })
	mux.HandleFunc("GET "+api.AAEPRoot+"/ws", func(w http.ResponseWriter, q *http.Request) { r.serveSocket(w, q, true) })
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if !isLoopback(q.Host) { // protects against a page whose name was pointed here (DNS rebinding)
			refuse(api.KindMisdirected, "a recording is played to this machine, under its own names", "use the address that `earshot replay` has printed").write(w)
			return
		}
		mux.ServeHTTP(w, q)
	})
}

// serveEvents plays to a reader of server-sent events, after the event that it names.
func (r *Recording) serveEvents(w http.ResponseWriter, q *http.Request) {
	after := q.Header.Get("Last-Event-ID")
	if after != "" && r.isLast(q.Context(), after) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	name := "aaep.event"
	if q.URL.Path == "/events" {
		name = "" // a reader of that path may only understand unnamed events (C-80)
	}
	to := stream.Open(w)
	if err := to.Send(stream.Frame{Comment: "connected"}); err != nil {
		return
	}
	err := to.Run(q.Context(), func(ctx context.Context, send func([]stream.Frame) bool) error {
		behind := after != "" && r.has(ctx, after)
		return r.play(ctx, func(raw []byte) bool {
			id, _ := aaep.Read(raw).Text("event_id")
			if behind {
				behind = id != after
				return true
			}
			return send([]stream.Frame{{ID: id, Event: name, Data: append([]byte(nil), raw...)}})
		})
	}, forever{})
	if err != nil && q.Context().Err() == nil {
		r.o.Log.InfoContext(q.Context(), "a listener is gone", "reason", err)
	}
}

// has reports whether the event has been played.
func (r *Recording) has(ctx context.Context, id string) bool {
	found, _ := r.find(ctx, id)
	return found
}

// isLast reports whether the recording has ended with this event.
func (r *Recording) isLast(ctx context.Context, id string) bool {
	found, last := r.find(ctx, id)
	return found && last
}

// find searches the released events.
func (r *Recording) find(ctx context.Context, id string) (found, last bool) {
	r.mu.Lock()
	out, ended := r.released, r.ended
	r.mu.Unlock()
	in, err := r.o.Open()
	if err != nil {
		return false, false
	}
	defer func() { _ = in.Close() }()
	messages := &playable{from: capture.NewReader(in, capture.Options{}), skipped: func(*capture.BrokenError) {}}
	for n := 0; n < out && ctx.Err() == nil; n++ {
		raw, err := messages.next()
		if err != nil {
			return found, false
		}
		if of, _ := aaep.Read(raw).Text("event_id"); of == id {
			found, last = true, ended && n == out-1
		}
	}
	return found, last
}

// forever is a permit for a stream that anybody may receive.
type forever struct{}

func (forever) Changes(context.Context) <-chan struct{} { return nil }
func (forever) Valid() bool                             { return true }
