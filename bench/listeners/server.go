package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// inner is the server's process: it does what the lines of its input say.
func (s settings) inner() error {
	dir, err := os.MkdirTemp("", "earshot-listeners-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l := &ledger{sessions: map[string]*session{}}
	handler, begin, err := s.bare, started{Tokens: []string{"none"}}, error(nil)
	var at http.Handler
	if s.serve == "hub" {
		var end func()
		if at, begin.Tokens, end, err = s.hub(dir, l); err != nil {
			return err
		}
		defer end()
	} else {
		at = handler(l)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	begin.Address = listener.Addr().String()
	server := &http.Server{Handler: at}
	go server.Serve(listener) //nolint:errcheck // the process ends with it
	defer server.Close()
	for n := range s.recent {
		name := "sess_recent" + strconv.Itoa(n)
		for range 20 {
			l.tell(name, s.owner(n), step)
		}
		l.tell(name, s.owner(n), aaep.SessionCompleted{SummaryNormal: "Done."})
		time.Sleep(time.Millisecond) // as they would come
	}
	for n := range s.open {
		l.tell("sess_open"+strconv.Itoa(n), s.owner(n), aaep.SessionStarted{SummaryNormal: padding})
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(begin); err != nil {
		return err
	}
	told, before := 0, used()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "figures" {
			now := used()
			if err := out.Encode(figures{Processor: now - before, Resident: resident()}); err != nil {
				return err
			}
			before = now
			continue
		}
		for range s.batch {
			l.tell("sess_open"+strconv.Itoa(told%s.open), s.owner(told%s.open), step)
			told++
		}
	}
	return nil
}

func (s settings) owner(session int) string { return "person" + strconv.Itoa(session%s.owners) }

// hub is the server as `earshot up` has it, with a token for each person.
func (s settings) hub(dir string, l *ledger) (http.Handler, []string, func(), error) {
	store, err := access.Open(access.Options{Path: filepath.Join(dir, "tokens.json")})
	if err != nil {
		return nil, nil, nil, err
	}
	var tokens []string
	for n := range s.owners {
		secret, _, err := store.Add(access.NewToken{Name: s.owner(n), Roles: []access.Role{access.Listener}})
		if err != nil {
			return nil, nil, nil, err
		}
		tokens = append(tokens, secret)
	}
	h := hub.Open(hub.Options{
		Conn: l, Rights: store, Offer: pacing.Offer{Producer: aaep.Producer{AgentID: "earshot"}}, Subscriptions: 5 * s.listeners, Poll: 2 * time.Second, Idle: 15 * time.Second,
	})
	w, err := web.New(web.Options{Hub: web.FromHub(h), Access: store, Streams: 2 * s.listeners})
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var owned sync.WaitGroup
	owned.Go(func() { _ = h.Run(ctx) })
	for !l.open() {
		time.Sleep(time.Millisecond)
	}
	return w, tokens, func() {
		w.Close()
		cancel()
		owned.Wait()
	}, nil
}

// bare writes what it is told to every stream.
func (s settings) bare(l *ledger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /aaep/v1/subscriptions", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"subscription_id":"sub_none"}`)
	})
	mux.HandleFunc("GET /aaep/v1/events", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		c := http.NewResponseController(w)
		_ = c.Flush()
		next := make(chan api.EventRow, 1024)
		stop, _ := l.Broadcasts(r.Context(), "", func(payload []byte) {
			var row api.EventRow
			if json.Unmarshal(payload, &row) == nil {
				next <- row
			}
		})
		defer stop()
		var b []byte
		for {
			select {
			case <-r.Context().Done():
				return
			case row := <-next:
				b = append(b[:0], "event: aaep.event\nid: x\ndata: "...)
				b = append(b, row.Body...)
				b = append(b, "\n\n"...)
				if _, err := w.Write(b); err != nil || c.Flush() != nil {
					return
				}
			}
		}
	})
	return mux
}

// ledger holds what was told in memory, and is the bus to it.
type ledger struct {
	mu       sync.Mutex
	sessions map[string]*session
	order    []string
	newest   string
	hear     map[int]func([]byte)
	ears     int
}

type session struct {
	owner string
	ended bool
	rows  []api.EventRow
}

func (l *ledger) open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.hear) > 0
}

const padding = "Looking through the folder of pictures for files that are the same, and reading each of those that have the same size."

// step is what sessions tell.
var step = aaep.StateChanged{
	FromState: aaep.StateThinking, ToState: aaep.StateDeciding, SummaryTerse: "Looking", SummaryNormal: padding, SummaryDetailed: padding + " " + padding,
}

func (l *ledger) tell(name, owner string, payload aaep.Payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.sessions[name]
	if !known {
		s = &session{owner: owner}
		l.sessions[name] = s
		l.order = append(l.order, name)
	}
	seq := len(s.rows) + 1
	l.newest = fmt.Sprintf("evt_%sx%d", strings.TrimPrefix(name, "sess_"), seq)
	e := aaep.Event{
		ID: l.newest, SessionID: name, Time: time.Now(), Producer: aaep.Producer{AgentID: "earshot", AgentName: "Earshot"},
		Hints: &aaep.LocalizationHints{PrimaryLanguage: "en"}, Payload: payload,
	}
	body, err := e.Encode()
	if err != nil {
		panic(err)
	}
	row := api.EventRow{Seq: int64(seq), Session: name, Owner: owner, Body: body}
	s.rows = append(s.rows, row)
	s.ended = e.IsTerminal()
	broadcast, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	for _, hear := range l.hear {
		hear(broadcast)
	}
}

// Broadcasts implements hub.Conn.
func (l *ledger) Broadcasts(_ context.Context, _ string, hear func([]byte)) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hear == nil {
		l.hear = map[int]func([]byte){}
	}
	l.ears++
	n := l.ears
	l.hear[n] = hear
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.hear, n)
	}, nil
}

// Request implements rpc.Requester.
func (l *ledger) Request(_ context.Context, op string, request []byte) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch op {
	case api.OpSince:
		return answer(request, l.since)
	case api.OpSessions:
		return answer(request, l.list)
	case api.OpEvents:
		return answer(request, l.page)
	case api.OpQuestions:
		return answer(request, func(api.QuestionsRequest) (api.QuestionsAnswer, error) { return api.QuestionsAnswer{}, nil })
	}
	return nil, errors.New("not served: " + op)
}

func answer[Q, A any](request []byte, fn func(Q) (A, error)) ([]byte, error) {
	var q Q
	if err := json.Unmarshal(request, &q); err != nil {
		return nil, err
	}
	a, err := fn(q)
	return api.EncodeAnswer(a, err), nil
}

func (l *ledger) since(api.SinceRequest) (api.SinceAnswer, error) {
	return api.SinceAnswer{Newest: l.newest}, nil
}

func (l *ledger) list(q api.SessionsRequest) (rows []api.SessionRow, _ error) {
	skip := q.After != ""
	for _, name := range l.order {
		s := l.sessions[name]
		row := api.SessionRow{Session: name, Turn: name, Owner: s.owner, Last: int64(len(s.rows)), Ended: s.ended}
		switch {
		case skip:
			skip = name != q.After
		case q.Session != "" && name != q.Session, q.Open && s.ended:
		default:
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (l *ledger) page(q api.EventsRequest) (a api.EventsAnswer, _ error) {
	const most = 200
	limit := most
	if q.Limit > 0 {
		limit = min(limit, q.Limit)
	}
	s, known := l.sessions[q.Session]
	if !known {
		return a, nil
	}
	rest := s.rows[min(int(q.After), len(s.rows)):]
	a.More, a.Ended = len(rest) > limit, s.ended
	a.Events = rest[:min(limit, len(rest))]
	return a, nil
}

func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func resident() int {
	raw, _ := os.ReadFile("/proc/self/statm")
	var size, pages int
	fmt.Sscan(string(raw), &size, &pages)
	return pages * os.Getpagesize() >> 20
}
