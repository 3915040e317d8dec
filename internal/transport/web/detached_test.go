package web_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-dev/earshot/internal/transport/web"
)

// serve serves the scene on pipes, until stop is called.
func (s *scene) serve() (at *wires, stop func()) {
	s.Helper()
	at = &wires{ends: make(chan net.Conn), gone: make(chan struct{})}
	server := &http.Server{Handler: s.server, ReadHeaderTimeout: time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(at) }()
	return at, func() {
		s.server.Close()
		_ = server.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			s.Error(err)
		}
	}
}

// received is an answer, whose body ends with its connection.
type received struct {
	status int
	header http.Header
	last   bool // nothing else follows on the connection
	body   io.Reader
}

// get asks for what is at a target and returns the answer.
func (w *wires) get(t *testing.T, target, headers string) (net.Conn, received) {
	t.Helper()
	mine, its := net.Pipe()
	w.ends <- its
	if _, err := fmt.Fprintf(mine, "GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", target, pageHost, headers); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(mine), nil) //nolint:bodyclose // it ends with the connection
	if err != nil {
		t.Fatal(err)
	}
	return mine, received{status: answer.StatusCode, header: answer.Header, last: answer.Close, body: answer.Body}
}

// open is the line of the metrics that says how many streams are open.
func (s *scene) open(n int) {
	s.Helper()
	synctest.Wait()
	wants(s.T, s.do("GET", "/metrics", "aud", "").Body.String(), fmt.Sprintf("\nearshot_streams_open %d\n", n))
}

// TestDetachedStreams: every stream that has its connection for itself sends the header of our answers, frees its place as soon as its
// reader has gone, and ends with the server, which waits for it, with a whole answer.
func TestDetachedStreams(t *testing.T) {
	for name, target := range map[string]func(s *scene) string{
		"a subscription": func(s *scene) string { return s.subscribe("ada") },
		"announcements":  func(*scene) string { return "/api/v1/announcements" },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				s := newScene(t, func(o *web.Options) { o.Streams = 1 })
				at, stop := s.serve()
				defer stop()
				to, as := target(s), "Authorization: Bearer secret-ada\r\n"
				conn, answer := at.get(t, to, as)
				for header, want := range map[string]string{
					"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
					"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
				} {
					if got := answer.header.Get(header); got != want {
						t.Errorf("%s is %q", header, got)
					}
				}
				if !answer.last || !strings.Contains(answer.header.Get("Content-Security-Policy"), "default-src 'none'") {
					t.Errorf("the header is %v", answer.header)
				}
				another, refused := at.get(t, to, as)
				if refused.status != http.StatusTooManyRequests {
					t.Errorf("beside it: %d", refused.status)
				}
				_ = another.Close()
				_ = conn.Close()
				s.open(0)
				if _, answer = at.get(t, to, as); answer.status != http.StatusOK {
					t.Fatalf("after it: %d", answer.status)
				}
				rest := make(chan error, 1)
				go func() {
					_, err := io.Copy(io.Discard, answer.body)
					rest <- err
				}()
				s.open(1)
				s.server.Close()
				s.open(0)
				if err := <-rest; err != nil {
					t.Errorf("it has ended with %v", err)
				}
			})
		})
	}
}

// TestDetachedPage: a page's stream over a connection of its own ends with the login, although its reader takes nothing.
func TestDetachedPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := newScene(t)
		s.login("ada")
		at, stop := s.serve()
		defer stop()
		_, answer := at.get(t, "/page/events", "Cookie: earshot_page=cookie-of-ada\r\n")
		if answer.status != http.StatusOK {
			t.Fatalf("answered %d", answer.status)
		}
		s.open(1)
		s.doors.mu.Lock()
		clear(s.doors.pages)
		s.doors.mu.Unlock()
		s.doors.ring()
		<-time.After(2 * time.Second)
		s.open(0)
		if _, err := io.ReadAll(answer.body); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("it has ended with %v", err)
		}
	})
}
