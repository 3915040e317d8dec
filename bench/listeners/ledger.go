package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// ledger holds what was told in memory, and is the bus to it.
type ledger struct {
	mu       sync.Mutex
	sessions map[string]*session
	order    []string
	newest   string
	told     int
	places   []place // of the events, in their order
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

// place is where an event is, and when it was told.
type place struct {
	session string
	seq     int64
	at      time.Time
}

// tell takes in the next event of a session, and broadcasts it.
func (l *ledger) tell(name, owner string, urgency aaep.Urgency, payload aaep.Payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, known := l.sessions[name]
	if !known {
		s = &session{owner: owner}
		l.sessions[name] = s
		l.order = append(l.order, name)
	}
	l.told++
	l.newest = named(time.Now(), l.told)
	e := aaep.Event{
		ID: l.newest, SessionID: name, Time: time.Now(), Producer: aaep.Producer{AgentID: "earshot", AgentName: "Earshot"}, Urgency: urgency,
		Hints: &aaep.LocalizationHints{PrimaryLanguage: "en"}, Payload: payload,
	}
	body, err := e.Encode()
	if err != nil {
		panic(err)
	}
	row := api.EventRow{Seq: int64(len(s.rows) + 1), Session: name, Owner: owner, Body: body}
	if _, is := payload.(aaep.StateChanged); is {
		row.Template, row.Params = "turn.thinking", jsontext.Value(`{}`)
	}
	s.rows = append(s.rows, row)
	l.places = append(l.places, place{session: name, seq: row.Seq, at: time.Now()})
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
	case api.OpPrefer:
		return answer(request, func(api.PreferRequest) (api.PreferAnswer, error) { return api.PreferAnswer{}, nil })
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

// since lists the sessions with events after one, some of them from a little before it.
func (l *ledger) since(q api.SinceRequest) (api.SinceAnswer, error) {
	a := api.SinceAnswer{Newest: l.newest}
	if q.Now || q.Event == "" || q.Event == l.newest {
		return a, nil
	}
	n := counted(q.Event)
	if n < 1 || n > len(l.places) {
		return a, &api.Fault{Code: utp.CodeNotFound}
	}
	here := l.places[n-1]
	a.Owner = l.sessions[here.session].owner
	limit := here.at.Add(-time.Duration(q.OverlapMS) * time.Millisecond)
	for n > 0 && l.places[n-1].at.After(limit) {
		n--
	}
	first := map[string]int64{here.session: here.seq}
	for _, later := range l.places[n:] {
		if _, known := first[later.session]; !known {
			first[later.session] = later.seq - 1
		}
	}
	for name, seq := range first {
		if s := l.sessions[name]; int(seq) < len(s.rows) {
			a.Sessions = append(a.Sessions, api.SinceRow{Session: name, Seq: seq, Last: int64(len(s.rows)), Owner: s.owner, Ended: s.ended})
		}
	}
	return a, nil
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
