package fakemodel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// maxRequest bounds a request: agents send all that they know of.
const maxRequest = 64 << 20

// Server answers by a script. It is an http.Handler; Start also has it listen.
type Server struct {
	// URL is the address that clients are told, without a path; empty without Start.
	URL string

	mu       sync.Mutex
	script   Script // without the asides
	asides   Script
	next     int // the turn of the next request
	calls    int // how many calls the turns so far have made: their IDs
	requests []Request
	problems []string
	changed  chan struct{} // closed, and made again, when requests or gates change
	open     map[string]bool
	stopped  chan struct{}
}

// New is a server that nothing listens for yet.
func New(script Script) *Server {
	s := &Server{changed: make(chan struct{}), open: map[string]bool{}, stopped: make(chan struct{})}
	for _, turn := range script {
		if turn.Aside == "" {
			s.script = append(s.script, turn)
		} else {
			s.asides = append(s.asides, turn)
		}
	}
	return s
}

// Start has a server listen on the loopback until the test ends. The test then fails with what did not go by the script.
func Start(t testing.TB, script Script) *Server {
	t.Helper()
	server := New(script)
	listening := httptest.NewServer(server)
	server.URL = listening.URL
	t.Cleanup(func() {
		close(server.stopped) // anyone who waits at a gate goes
		listening.Close()
		if err := server.Err(); err != nil {
			t.Errorf("the scripted model: %v", err)
		}
	})
	return server
}

// Requests are those that turns have answered so far, or should have, in their order. Asides are not among them.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Request waits for the request of a number, which begins at 1.
func (s *Server) Request(ctx context.Context, number int) (Request, error) {
	for {
		s.mu.Lock()
		changed, requests := s.changed, s.requests
		s.mu.Unlock()
		if len(requests) >= number {
			return requests[number-1], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("found %d requests of the model, expected %d: %w", len(requests), number, ctx.Err())
		}
	}
}

// Open opens a gate for good: a turn that waits there, or comes there later, goes on.
func (s *Server) Open(gate string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[gate] = true
	s.signal()
}

// Err says what did not go by the script: requests that had no answer in it, and turns that nobody asked for.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	problems := slices.Clone(s.problems)
	if left := len(s.script) - s.next; left > 0 {
		problems = append(problems, fmt.Sprintf("found %d requests, expected %d: nobody asked for turn %d of the script", len(s.requests), len(s.script), s.next+1))
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "\n"))
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return // the client has gone
	}
	f := formatOf(r)
	if f == nil {
		s.otherRequest(w, r)
		return
	}
	request := Request{Wire: f.wire, Header: r.Header, Body: body}
	if err := f.decode(r, &request); err != nil {
		s.refuse(w, f, fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err))
		return
	}
	answer, err := s.respond(request)
	if err != nil {
		s.refuse(w, f, err)
		return
	}
	if !s.pass(r.Context(), answer.Wait) {
		return
	}
	switch {
	case answer.Fail.Status != 0:
		if answer.Fail.RetryAfter != "" {
			w.Header().Set("Retry-After", answer.Fail.RetryAfter)
		}
		reply(w, answer.Fail.Status, f.failure(answer.Fail))
	case request.Stream:
		s.stream(w, r, f, answer)
	case answer.Cut:
		panic(http.ErrAbortHandler) // the way to break a connection
	default:
		reply(w, http.StatusOK, f.whole(answer))
	}
}

// answer is a turn for one request: its tools are found among those that are offered.
type answer struct {
	Turn
	request Request
	number  int // of the turn, from 1
	calls   []ToolCall
}

// respond is the answer of an aside or of the next turn, and notes the request.
func (s *Server) respond(request Request) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, aside := range s.asides {
		if strings.Contains(request.System+request.news(), aside.Aside) {
			return s.resolve(aside, request)
		}
	}
	s.requests = append(s.requests, request)
	s.signal()
	if s.next >= len(s.script) {
		return answer{}, fmt.Errorf("the script has ended after %d turns, and there was another %s", len(s.script), request.summary())
	}
	s.next++
	turn, err := s.script[s.next-1].choose(request.news())
	if err != nil {
		return answer{}, fmt.Errorf("turn %d: %w; it was a %s", s.next, err, request.summary())
	}
	return s.resolve(turn, request)
}

// resolve finds the tools that a turn calls. The caller holds the lock.
func (s *Server) resolve(turn Turn, request Request) (answer, error) {
	a := answer{Turn: turn, request: request, number: s.next}
	for _, call := range turn.Call {
		tool, err := request.Find(call.Tool)
		if err != nil {
			return answer{}, fmt.Errorf("turn %d: %w", s.next, err)
		}
		args, err := call.args()
		if err != nil {
			return answer{}, fmt.Errorf("turn %d: the arguments of %s: %w", s.next, call.Tool, err)
		}
		s.calls++
		a.calls = append(a.calls, ToolCall{ID: fmt.Sprintf("call_%d", s.calls), Namespace: tool.Namespace, Tool: tool.Name, Args: args})
	}
	return a, nil
}

func (c Call) args() (string, error) {
	if c.Raw != "" {
		return c.Raw, nil
	}
	if c.Args == nil {
		return "{}", nil
	}
	raw, err := json.Marshal(c.Args, json.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}
	return string(raw), nil
}

// pass waits at a gate. It is false when the client or the test has gone first.
func (s *Server) pass(ctx context.Context, gate string) bool {
	for gate != "" {
		s.mu.Lock()
		changed, open := s.changed, s.open[gate]
		s.mu.Unlock()
		if open {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		case <-s.stopped:
			return false
		}
	}
	return true
}

// signal wakes all who wait. The caller holds the lock.
func (s *Server) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// refuse is for what no turn answers. Clients try no bad request again, so that the test ends soon.
func (s *Server) refuse(w http.ResponseWriter, f *format, err error) {
	s.note(err)
	reply(w, http.StatusBadRequest, f.failure(Failure{Status: http.StatusBadRequest, Message: err.Error()}))
}

func (s *Server) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, err.Error())
}

// otherRequest answers what clients ask besides answers of the model: how long a text is, which models there are, whether anyone is here.
func (s *Server) otherRequest(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/count_tokens"):
		reply(w, http.StatusOK, object{"input_tokens": 10})
	case strings.HasSuffix(path, ":countTokens"):
		reply(w, http.StatusOK, object{"totalTokens": 10})
	case r.Method == http.MethodGet && strings.HasSuffix(path, "/models"):
		reply(w, http.StatusOK, object{"object": "list", "data": []object{}, "models": []object{}})
	case r.Method == http.MethodHead:
	default:
		s.note(fmt.Errorf("found %s %s, expected a request of one of the four wire formats", r.Method, path))
		reply(w, http.StatusNotFound, object{"error": object{"type": "not_found_error", "message": "not here: " + path}})
	}
}

// reply writes a whole answer.
func reply(w http.ResponseWriter, status int, value any) {
	raw, err := encode(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that has gone needs no answer
}
