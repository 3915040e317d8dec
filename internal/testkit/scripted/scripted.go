// Package scripted is a producer of AAEP that follows a script, for the tests of those who listen: over server-sent events, a WebSocket,
// gRPC and a Unix socket. It knows nothing of Earshot's extensions beyond what its script says.
package scripted

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
)

// Await is the step of a script that waits for a message of the subscriber.
const Await = "await"

// Accepted is what the producer grants.
const Accepted = `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0","producer":{"agent_id":"other"},"honored_capabilities":` +
	`{"supports_confirmation_reply":true,"supports_clarification_reply":true}}`

// Producer has one list of steps for each connection that it takes: messages to send, and [Await]. Each connection breaks after its
// last step; the last one ends.
type Producer struct {
	// Answer is what a request for a subscription gets; [New] sets it to [Accepted]. It is not changed once the producer serves.
	Answer string

	t     testing.TB
	steps [][]string
	come  chan string // messages of the subscriber

	mu       sync.Mutex
	got      []string
	more     chan struct{} // closed when more has come
	dialled  int
	serves   sync.WaitGroup
	shutDown context.Context //nolint:containedctx // that of the test
}

// New returns a producer that follows the steps.
func New(tb testing.TB, steps ...[]string) *Producer {
	tb.Helper()
	return &Producer{Answer: Accepted, t: tb, steps: steps, come: make(chan string, 16), more: make(chan struct{}), shutDown: tb.Context()}
}

// Event is an event of the session sess_1 of a certain type.
func Event(kind, id, members string) string {
	return fmt.Sprintf(`{"@context":"https://aaep-protocol.org/context/v1","aaep_version":"1.0.0","type":"aaep:agent.%s","event_id":"evt_%s",`+
		`"session_id":"sess_1","timestamp":"2026-11-21T12:00:00.000Z","producer":{"agent_id":"other"},"localization_hints":{"primary_language":"en"},%s}`, kind, id, members)
}

// Got returns what the subscriber has sent, in order, and "after ID" for each point at which it resumed.
func (p *Producer) Got() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.got...)
}

// Serve serves the producer on a transport, of the scheme "http", "ws", "grpc" or "unix", and returns its address.
func (p *Producer) Serve(scheme string) string {
	p.t.Helper()
	if scheme == "unix" {
		return p.unix()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /aaep/v1/subscriptions", func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		p.note(string(raw))
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, p.Answer)
	})
	mux.HandleFunc("GET /aaep/v1/events", p.stream)
	mux.HandleFunc("POST /aaep/v1/replies", func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		p.receive(string(raw))
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /aaep/v1/ws", func(w http.ResponseWriter, r *http.Request) {
		if conn, err := socket.Accept(w, r, socket.Options{Limit: transport.MessageLimit}); err == nil {
			p.converse(conn)
		}
	})
	mux.HandleFunc("POST "+grpc.SubscribePath, func(w http.ResponseWriter, r *http.Request) {
		if conn, err := grpc.Accept(w, r, grpc.Options{Limit: transport.MessageLimit}); err == nil {
			p.converse(conn)
		}
	})
	server := httptest.NewUnstartedServer(mux)
	grpc.Configure(server.Config)
	server.Start()
	p.t.Cleanup(server.Close)
	return scheme + strings.TrimPrefix(server.URL, "http")
}

func (p *Producer) unix() string {
	path := filepath.Join(p.t.TempDir(), "s")
	listener, err := new(net.ListenConfig).Listen(p.t.Context(), "unix", path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.serves.Go(func() {
		for {
			stream, err := listener.Accept()
			if err != nil {
				return
			}
			p.serves.Go(func() { p.converse(pipe.New(stream, pipe.Options{Limit: transport.MessageLimit})) })
		}
	})
	p.t.Cleanup(func() {
		_ = listener.Close()
		p.serves.Wait()
	})
	return "unix:" + path
}

// next returns the steps of the next connection, and whether it is the last; nil if there are no more.
func (p *Producer) next() (steps []string, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialled++
	if p.dialled > len(p.steps) {
		return nil, true
	}
	return p.steps[p.dialled-1], p.dialled == len(p.steps)
}

func (p *Producer) note(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got = append(p.got, message)
	close(p.more)
	p.more = make(chan struct{})
}

// Await returns what the subscriber has sent once there are so many, or fails the test.
func (p *Producer) Await(n int) []string {
	p.t.Helper()
	for {
		p.mu.Lock()
		got, more := append([]string(nil), p.got...), p.more
		p.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-more:
		case <-time.After(time.Minute):
			p.t.Fatalf("the producer got %q, and not %d messages", got, n)
		}
	}
}

func (p *Producer) receive(message string) {
	p.note(message)
	select {
	case p.come <- message:
	default:
	}
}

// wait waits for a message of the subscriber, for as long as its connection lasts.
func (p *Producer) wait(ctx context.Context) {
	select {
	case <-p.come:
	case <-ctx.Done():
	case <-p.shutDown.Done():
	}
}

func (p *Producer) stream(w http.ResponseWriter, r *http.Request) {
	if after := r.Header.Get("Last-Event-ID"); after != "" {
		p.note("after " + after)
	}
	steps, _ := p.next()
	if steps == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, step := range steps {
		if step == Await {
			p.wait(r.Context())
			continue
		}
		id, _ := aaep.Read([]byte(step)).Text("event_id")
		_, _ = fmt.Fprintf(w, "event: aaep.event\nid: %s\ndata: %s\n\n", id, step)
		_ = http.NewResponseController(w).Flush()
	}
}

func (p *Producer) converse(conn transport.Conn) {
	defer conn.Drop()
	raw, err := conn.Receive()
	if err != nil {
		return
	}
	p.note(string(raw))
	steps, last := p.next()
	_ = conn.Send([]byte(p.Answer))
	ctx, left := context.WithCancel(p.shutDown)
	var reads sync.WaitGroup
	reads.Go(func() {
		defer left()
		for {
			raw, err := conn.Receive()
			if err != nil {
				return
			}
			p.receive(string(raw))
		}
	})
	for _, step := range steps {
		if step == Await {
			p.wait(ctx)
		} else {
			_ = conn.Send([]byte(step))
		}
	}
	if last {
		conn.Close(transport.Clean, "that was all")
	}
	conn.Drop()
	reads.Wait()
}
