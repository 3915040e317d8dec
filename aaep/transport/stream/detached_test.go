package stream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport/sse"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// pipes is a listener whose connections are in memory: what one end does not read, the other cannot write, and time limits are those of
// the bubble.
type pipes struct {
	ends chan net.Conn
	gone chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.ends:
		return c, nil
	case <-p.gone:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.gone); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// right is a permit that can be taken away. It tells so by sending.
type right struct {
	mu      sync.Mutex
	lost    bool
	changes chan struct{}
}

func (r *right) Valid() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.lost
}

func (r *right) lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = true
}

func (r *right) Changes(ctx context.Context) <-chan struct{} {
	context.AfterFunc(ctx, func() { close(r.changes) })
	return r.changes
}

// told is a right that tells by a call.
type told struct {
	*right

	mu      sync.Mutex
	changed func()
	stopped bool
}

func (r *told) Notify(changed func()) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = changed
	return func() { r.stopped = true }
}

// owner serves one stream, whose handler returns as soon as the connection is taken over.
type owner struct {
	t     *testing.T
	still stream.Permit
	group chan []stream.Frame // what is sent; closed at the end
	wrap  func(http.ResponseWriter) http.ResponseWriter

	life     context.Context //nolint:containedctx // that of the streams
	detached chan bool
	left     chan struct{} // closed when the handler has returned
	ended    chan error    // gets how the stream has ended
	written  chan bool     // gets whether each group was taken
}

func newOwner(t *testing.T) *owner {
	t.Helper()
	return &owner{
		t: t, still: always{}, group: make(chan []stream.Frame, 64), life: t.Context(), wrap: func(w http.ResponseWriter) http.ResponseWriter { return w },
		detached: make(chan bool, 1), left: make(chan struct{}), ended: make(chan error, 1), written: make(chan bool, 64),
	}
}

func (o *owner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer close(o.left)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
	http.SetCookie(w, &http.Cookie{Name: "c", Value: "d"})
	to, detached := stream.Detach(o.wrap(w), r)
	o.detached <- detached
	run := func(ctx context.Context) { o.ended <- to.Run(ctx, o.source, o.still) }
	if !detached {
		run(r.Context())
		return
	}
	go run(o.life)
}

func (o *owner) source(ctx context.Context, send func([]stream.Frame) bool) error {
	for {
		select {
		case group, more := <-o.group:
			if !more {
				return nil
			}
			went := send(group)
			o.written <- went
			if !went {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// received is an answer, whose body ends with its connection.
type received struct {
	status int
	header http.Header
	coding []string
	last   bool // nothing else follows on the connection
	body   io.Reader
}

func receivedAs(r *http.Response) received {
	return received{status: r.StatusCode, header: r.Header, coding: r.TransferEncoding, last: r.Close, body: r.Body}
}

// asked dials the server, and asks for the stream.
func (o *owner) asked(request string) (conn net.Conn, from *bufio.Reader, answer received) {
	o.t.Helper()
	p := &pipes{ends: make(chan net.Conn, 1), gone: make(chan struct{})}
	server := &http.Server{Handler: o, ReadHeaderTimeout: time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(p) }()
	o.t.Cleanup(func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			o.t.Error(err)
		}
	})
	mine, its := net.Pipe()
	o.t.Cleanup(func() { _ = mine.Close() })
	p.ends <- its
	go func() { _, _ = io.WriteString(mine, request) }()
	from = bufio.NewReader(mine)
	r, err := http.ReadResponse(from, nil) //nolint:bodyclose // it ends with the connection
	if err != nil {
		o.t.Fatal(err)
	}
	return mine, from, receivedAs(r)
}

const get = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"

func frames(text ...string) (all []stream.Frame) {
	for _, one := range text {
		all = append(all, stream.Frame{ID: one, Data: []byte(`"` + one + `"`)})
	}
	return all
}

// wantsDetached fails unless the stream is detached, and the handler has returned.
func (o *owner) wantsDetached() {
	o.t.Helper()
	if !<-o.detached {
		o.t.Fatal("the stream is not detached")
	}
	<-o.left
}

// TestDetached: a stream with the connection for itself sends the header that the handlers have set, goes on when its handler has returned,
// and ends as an answer does. Each group arrives whole, whatever its size.
func TestDetached(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		_, behind, answer := o.asked(get)
		o.wantsDetached()
		h := answer.header
		if answer.status != http.StatusOK || h.Get("Content-Type") != "text/event-stream" || h.Get("X-Content-Type-Options") != "nosniff" ||
			!slices.Equal(h.Values("Set-Cookie"), []string{"a=b", "c=d"}) || h.Get("Date") == "" || h.Get("Content-Length") != "" ||
			!slices.Equal(answer.coding, []string{"chunked"}) || !answer.last {
			t.Errorf("answered %+v", answer)
		}
		from := sse.NewReader(answer.body, "")
		for _, size := range []int{1, 15, 16, 255, 256, 4095, 4096, 70_000, 1 << 20} {
			text := strings.Repeat("x", size)
			o.group <- nil // which is nothing, and no end
			o.group <- frames("first", text)
			for _, want := range []string{"first", text} {
				if e, err := from.Next(func() {}); err != nil || e.ID != want || string(e.Data) != `"`+want+`"` {
					t.Fatalf("of %d bytes %d arrived, %v", size, len(e.Data), err)
				}
			}
		}
		close(o.group)
		if _, err := from.Next(func() {}); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("it has ended with %v", err)
		}
		if err := <-o.ended; err != nil {
			t.Error(err)
		}
		if _, err := behind.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("behind it: %v", err)
		}
	})
}

// TestDetachedWrapped: the writers of other handlers are looked through.
func TestDetachedWrapped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		o.wrap = func(w http.ResponseWriter) http.ResponseWriter { return wrapped{w} }
		_, _, _ = o.asked(get)
		o.wantsDetached()
		close(o.group)
		if err := <-o.ended; err != nil {
			t.Error(err)
		}
	})
}

type wrapped struct{ http.ResponseWriter }

func (w wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestNotDetached: where a connection cannot be taken over, the stream is sent by the HTTP server.
func TestNotDetached(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(t *testing.T, o *owner) received{
		"HTTP/1.0": func(_ *testing.T, o *owner) received {
			_, _, answer := o.asked("GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n")
			return answer
		},
		"HTTP/2": func(t *testing.T, o *owner) received {
			t.Helper()
			server := httptest.NewUnstartedServer(o)
			server.EnableHTTP2 = true
			server.StartTLS()
			t.Cleanup(server.Close)
			answer, _ := got(t, server)
			return answer
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOwner(t)
			answer := ask(t, o)
			if <-o.detached {
				t.Fatal("it is detached")
			}
			o.group <- frames("evt_1")
			if e, err := sse.NewReader(answer.body, "").Next(func() {}); err != nil || e.ID != "evt_1" {
				t.Errorf("received %+v, %v", e, err)
			}
			close(o.group)
			if err := <-o.ended; err != nil {
				t.Error(err)
			}
		})
	}
}

func got(t *testing.T, server *httptest.Server) (answer received, hangUp func()) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	w, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Body.Close() })
	return receivedAs(w), func() { _ = w.Body.Close() }
}

// TestDetachedTLS: a connection under TLS is taken over, too, and is waited for with deadlines.
func TestDetachedTLS(t *testing.T) {
	t.Parallel()
	o := newOwner(t)
	r := &told{right: &right{}}
	o.still = r
	server := httptest.NewTLSServer(o)
	defer server.Close()
	answer, hangUp := got(t, server)
	o.wantsDetached()
	from := sse.NewReader(answer.body, "")
	for _, id := range []string{"evt_1", "evt_2"} {
		o.group <- frames(id)
		if e, err := from.Next(func() {}); err != nil || e.ID != id {
			t.Fatalf("received %+v, %v", e, err)
		}
		r.wake() // which interrupts its reading
	}
	hangUp()
	if err := <-o.ended; err != nil {
		t.Error(err)
	}
}

// wake calls, once there is somebody to call.
func (r *told) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed != nil {
		r.changed()
	}
}

// TestDetachedSilence: a silent stream is beaten, and its right is checked then.
func TestDetachedSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		r := &told{right: &right{}}
		o.still = r
		_, _, answer := o.asked(get)
		o.wantsDetached()
		from, began := bufio.NewReader(answer.body), time.Now()
		for n := range 3 {
			if line, err := from.ReadString('\n'); err != nil || line != ": still here\n" {
				t.Fatalf("received %q, %v", line, err)
			}
			if waited := time.Since(began); waited != time.Duration(n+1)*15*time.Second {
				t.Errorf("heartbeat %d came after %s", n, waited)
			}
			_, _ = from.ReadString('\n')
		}
		r.lose()
		if rest, err := io.ReadAll(from); err != nil || len(rest) > 0 {
			t.Errorf("received %q, %v", rest, err)
		}
		if err := <-o.ended; !errors.Is(err, stream.ErrRevoked) || time.Since(began) != time.Minute {
			t.Errorf("ended after %s with %v", time.Since(began), err)
		}
		if !r.stopped {
			t.Error("it is still called")
		}
	})
}

// TestDetachedRevoked: the end of the right ends a stream at once, also one whose reader takes nothing, whatever way it is told.
func TestDetachedRevoked(t *testing.T) {
	t.Parallel()
	for _, stalls := range []bool{false, true} {
		for name, of := range map[string]func(r *right) (stream.Permit, func()){
			"sent":   func(r *right) (stream.Permit, func()) { return r, func() { r.changes <- struct{}{} } },
			"called": func(r *right) (stream.Permit, func()) { c := &told{right: r}; return c, c.wake },
		} {
			t.Run(fmt.Sprintf("%s, stalled %v", name, stalls), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					o := newOwner(t)
					r := &right{changes: make(chan struct{})}
					var tell func()
					o.still, tell = of(r)
					_, _, answer := o.asked(get)
					o.wantsDetached()
					synctest.Wait()
					tell() // for nothing
					synctest.Wait()
					if stalls {
						o.group <- frames(strings.Repeat("x", 10_000))
						synctest.Wait()
					}
					began := time.Now()
					r.lose()
					tell()
					if !stalls {
						go func() { _, _ = io.Copy(io.Discard, answer.body) }()
					}
					if err := <-o.ended; !errors.Is(err, stream.ErrRevoked) || time.Since(began) > time.Second {
						t.Errorf("ended after %s with %v", time.Since(began), err)
					}
				})
			})
		}
	}
}

// TestDetachedGone: the reader's leaving ends the stream at once, whether it is silent or in the middle of a write.
func TestDetachedGone(t *testing.T) {
	t.Parallel()
	for _, stalls := range []bool{false, true} {
		t.Run(fmt.Sprintf("stalled %v", stalls), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOwner(t)
				conn, _, _ := o.asked(get)
				o.wantsDetached()
				if stalls {
					o.group <- frames(strings.Repeat("x", 10_000))
				}
				synctest.Wait()
				began := time.Now()
				_ = conn.Close()
				if err := <-o.ended; !stalls && err != nil || time.Since(began) != 0 {
					t.Errorf("ended after %s with %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestDetachedEnded: the end of its owner's life ends a stream with the end of an answer, and in a second if the reader takes nothing.
func TestDetachedEnded(t *testing.T) {
	t.Parallel()
	for _, stalls := range []bool{false, true} {
		t.Run(fmt.Sprintf("stalled %v", stalls), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := newOwner(t)
				life, end := context.WithCancel(t.Context())
				o.life = life
				_, _, answer := o.asked(get)
				o.wantsDetached()
				if stalls {
					o.group <- frames(strings.Repeat("x", 10_000))
				}
				synctest.Wait()
				began := time.Now()
				end()
				if !stalls {
					if rest, err := io.ReadAll(answer.body); err != nil || len(rest) > 0 {
						t.Errorf("received %q, %v", rest, err)
					}
				}
				if err := <-o.ended; err != nil || time.Since(began) > time.Second {
					t.Errorf("ended after %s with %v", time.Since(began), err)
				}
			})
		})
	}
}

// TestDetachedStalled: a reader who takes nothing for half a minute is cut off, and not told that the answer is whole.
func TestDetachedStalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		_, _, answer := o.asked(get)
		o.wantsDetached()
		o.group <- frames("evt_1")
		from := sse.NewReader(answer.body, "")
		if _, err := from.Next(func() {}); err != nil {
			t.Fatal(err)
		}
		<-time.After(500 * time.Millisecond) // so that the next write shares the deadline of this one
		began := time.Now()
		o.group <- frames(strings.Repeat("x", 10_000))
		if err := <-o.ended; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) < 29*time.Second || time.Since(began) > 30*time.Second {
			t.Errorf("cut off after %s with %v", time.Since(began), err)
		}
		if _, err := from.Next(func() {}); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("it has ended with %v", err)
		}
	})
}

// TestDetachedStray: what a reader sends behind its request is ignored, be it another request, up to 64 KiB.
func TestDetachedStray(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := newOwner(t)
		conn, _, answer := o.asked(get + get)
		o.wantsDetached()
		from := sse.NewReader(answer.body, "")
		sent := 0
		stray := func(size int) {
			n, _ := conn.Write(make([]byte, size))
			sent += n
		}
		for _, id := range []string{"evt_1", "evt_2", "evt_3"} {
			stray(1000)
			o.group <- frames(id)
			if e, err := from.Next(func() {}); err != nil || e.ID != id {
				t.Fatalf("received %+v, %v", e, err)
			}
		}
		go stray(1 << 20)
		if _, err := from.Next(func() {}); !errors.Is(err, io.EOF) {
			t.Errorf("it has ended with %v", err)
		}
		if err := <-o.ended; !errors.Is(err, stream.ErrStray) {
			t.Error(err)
		}
		if synctest.Wait(); sent > 64<<10+1000 {
			t.Errorf("%d bytes were read", sent)
		}
	})
}

// TestDetachedUnused: a stream that is detached and never run is closed by its owner.
func TestDetachedUnused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		mine, its := net.Pipe()
		p := &pipes{ends: make(chan net.Conn, 1), gone: make(chan struct{})}
		server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to, detached := stream.Detach(w, r)
			if !detached {
				t.Error("it is not detached")
			}
			to.Close()
			to.Close()
			if err := to.Send(stream.Frame{Comment: "late"}); err == nil {
				t.Error("it is still sent to")
			}
		})}
		go func() { _ = server.Serve(p) }()
		defer func() { _ = server.Close() }()
		p.ends <- its
		go func() { _, _ = io.WriteString(mine, get) }()
		r, err := http.ReadResponse(bufio.NewReader(mine), nil) //nolint:bodyclose // it ends with the connection
		if err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(r.Body); err != nil || len(rest) > 0 {
			t.Errorf("received %q, %v", rest, err)
		}
	})
}
