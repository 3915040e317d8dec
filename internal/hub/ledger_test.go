package hub_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// book is a ledger of many sessions, with a bus that a test makes as bad as it likes. It
// counts what it is asked.
type book struct {
	t *testing.T

	mu       sync.Mutex
	sessions map[string]*shelf
	order    []string // sessions, oldest first
	events   []string // ids in the order of commits
	at       map[string]cursor
	open     []api.QuestionRow
	asked    map[string]int
	read     map[string]int // events requests by session
	full     int            // questions that were read in full
	replies  []api.ReplyRequest
	answer   error
	shown    []api.ReplyRequest
	noticed  []api.ReplyRequest
	absents  []string // the last digit of the token, and when
	prefers  api.Preferences
	away     bool
	ears     map[int]func([]byte)
	ear      int
	// weather decides when a broadcast arrives, and how often; nil is at once, once.
	weather func(deliver func())
	// asking is called after each request has been answered; nil does nothing.
	asking func(op string)
}

type shelf struct {
	owner string
	rows  []api.EventRow
	state string
	ended bool
}

type cursor struct {
	session string
	seq     int64
	commit  int
	when    time.Time
}

func newBook(t *testing.T) *book {
	return &book{
		t: t, sessions: map[string]*shelf{}, at: map[string]cursor{}, asked: map[string]int{}, read: map[string]int{},
		ears: map[int]func([]byte){},
	}
}

// begin opens a session with its first event.
func (b *book) begin(session, owner string) {
	b.mu.Lock()
	b.sessions[session] = &shelf{owner: owner, state: aaep.StateIdle}
	b.order = append(b.order, session)
	b.mu.Unlock()
	b.tell(session, aaep.SessionStarted{SummaryNormal: "It begins."})
}

// tell commits an event, with what it says in extensions.earshot, and broadcasts it.
func (b *book) tell(session string, p aaep.Payload, ours ...any) api.EventRow {
	row := b.commit(session, p, ours...)
	b.broadcast(row)
	return row
}

// move commits n state changes.
func (b *book) move(session string, n int) {
	for range n {
		b.mu.Lock()
		from := b.sessions[session].state
		b.mu.Unlock()
		to := aaep.StateThinking
		if from == to {
			to = aaep.StateDeciding
		}
		b.tell(session, aaep.StateChanged{FromState: from, ToState: to, SummaryNormal: "On it goes."})
	}
}

func (b *book) commit(session string, p aaep.Payload, ours ...any) api.EventRow {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.sessions[session]
	row := api.EventRow{Seq: int64(len(s.rows) + 1), Session: session, Owner: s.owner}
	id := eventID(session, row.Seq)
	e := aaep.Event{
		ID: id, SessionID: session, Time: time.Now(), Producer: aaep.Producer{AgentID: "tidy"},
		Hints: &aaep.LocalizationHints{PrimaryLanguage: "en"}, Payload: p,
	}
	for i := 0; i < len(ours); i += 2 {
		var err error
		if e, err = e.Extend(aaep.PrefixEarshot, fmt.Sprint(ours[i]), ours[i+1]); err != nil {
			b.t.Fatal(err)
		}
	}
	if e.Extension(aaep.PrefixEarshot, "resolution") != "" {
		e.Urgency = aaep.UrgencyCritical
	}
	raw, err := e.Encode()
	if err != nil {
		b.t.Fatal(err)
	}
	row.Body = raw
	s.rows = append(s.rows, row)
	b.events = append(b.events, id)
	b.at[id] = cursor{session: session, seq: row.Seq, commit: len(b.events), when: time.Now()}
	if changed, is := p.(aaep.StateChanged); is {
		s.state = changed.ToState
	}
	s.ended = s.ended || e.IsTerminal()
	return row
}

func (b *book) broadcast(row api.EventRow) {
	payload, err := json.Marshal(row)
	if err != nil {
		b.t.Error(err)
	}
	deliver := func() {
		b.mu.Lock()
		var ears []func([]byte)
		for _, receive := range b.ears {
			ears = append(ears, receive)
		}
		b.mu.Unlock()
		for _, receive := range ears {
			receive(payload)
		}
	}
	b.mu.Lock()
	weather := b.weather
	b.mu.Unlock()
	if weather == nil {
		deliver()
		return
	}
	weather(deliver)
}

// ask opens a question in a session.
func (b *book) ask(session string, number int) api.QuestionRow {
	token := fmt.Sprintf("rpl_%032d", number)
	row := b.commit(session, aaep.AwaitingConfirmation{
		Action: fmt.Sprintf("Delete file %d", number), Consequence: "It is gone.", ReplyToken: token, TimeoutSeconds: 300,
		DefaultDecision: aaep.DecisionReject, Irreversible: true, RiskLevel: "high", SummaryNormal: "May I?",
	})
	b.mu.Lock()
	q := api.QuestionRow{
		Number: number, Session: session, Token: token, Kind: "confirmation", Owner: b.sessions[session].owner, Seq: row.Seq, Body: row.Body,
	}
	b.open = append(b.open, q)
	b.mu.Unlock()
	b.broadcast(row)
	return q
}

// answered tells how a question has ended, as the narrator does.
func (b *book) answered(session string, number int, how, by, surface string) {
	b.mu.Lock()
	from, to := b.sessions[session].state, aaep.StateThinking
	if from == to {
		to = aaep.StateDeciding
	}
	b.mu.Unlock()
	b.broadcast(b.commit(session, aaep.StateChanged{FromState: from, ToState: to, SummaryNormal: "Recorded."},
		"question", number, "resolution", how, "by", by, "surface", surface, "reply_token", fmt.Sprintf("rpl_%032d", number)))
}

func (b *book) end(session string) {
	b.tell(session, aaep.SessionCompleted{SummaryNormal: "Done."})
}

// Broadcasts implements hub.Conn.
func (b *book) Broadcasts(_ context.Context, session string, receive func([]byte)) (func(), error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if session != "" {
		b.t.Errorf("listens to %s only", session)
	}
	b.ear++
	n := b.ear
	b.ears[n] = receive
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.ears, n)
	}, nil
}

// Request implements rpc.Requester.
func (b *book) Request(_ context.Context, op string, request []byte) ([]byte, error) {
	b.mu.Lock()
	if asking := b.asking; asking != nil {
		defer asking(op)
	}
	defer b.mu.Unlock()
	b.asked[op]++
	if b.away {
		return nil, context.DeadlineExceeded
	}
	switch op {
	case api.OpSince:
		return answered(request, b.since)
	case api.OpSessions:
		return answered(request, b.list)
	case api.OpEvents:
		return answered(request, b.page)
	case api.OpQuestions:
		return answered(request, b.questions)
	case api.OpPresent:
		return answered(request, b.present)
	case api.OpNoticed:
		return answered(request, func(r api.ReplyRequest) (api.ReplyAnswer, error) {
			b.noticed = append(b.noticed, r)
			return api.ReplyAnswer{Question: r.Question, Resolution: "noticed"}, nil
		})
	case api.OpAbsent:
		return answered(request, b.absent)
	case api.OpPrefer:
		return answered(request, func(q api.PreferRequest) (api.PreferAnswer, error) {
			b.prefers = b.prefers.With(q.Preferences)
			return api.PreferAnswer{Person: q.Person, Preferences: b.prefers.Full()}, nil
		})
	case api.OpEnqueue:
		return answered(request, func(q api.EnqueueRequest) (api.EnqueueAnswer, error) {
			return api.EnqueueAnswer{Turn: "turn_" + q.Owner, Session: "sess_" + q.Owner}, nil
		})
	default:
		return answered(request, func(r api.ReplyRequest) (api.ReplyAnswer, error) {
			b.replies = append(b.replies, r)
			return api.ReplyAnswer{Resolution: op}, b.answer
		})
	}
}

func answered[Q, A any](request []byte, fn func(Q) (A, error)) ([]byte, error) {
	var q Q
	if err := json.Unmarshal(request, &q, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	a, err := fn(q)
	return api.EncodeAnswer(a, err), nil
}

// questions gives two questions a page, in full; there is room for many brief ones.
func (b *book) questions(q api.QuestionsRequest) (api.QuestionsAnswer, error) {
	most := 2
	if q.Brief {
		most = 1000
	}
	if q.Limit > 0 {
		most = min(most, q.Limit)
	}
	var a api.QuestionsAnswer
	for _, o := range b.open {
		if o.Number <= q.After || len(q.Owners) > 0 && !slices.Contains(q.Owners, o.Owner) {
			continue
		}
		if len(a.Questions) == most {
			a.Next = a.Questions[most-1].Number
			break
		}
		if q.Brief {
			o = api.QuestionRow{Number: o.Number, Session: o.Session, Owner: o.Owner}
		} else {
			b.full++
		}
		a.Questions = append(a.Questions, o)
	}
	return a, nil
}

// absent ends a question that nobody can answer.
func (b *book) absent(r api.ReplyRequest) (api.ReplyAnswer, error) {
	b.absents = append(b.absents, r.Token[len(r.Token)-1:]+" "+time.Now().Format(time.StampMilli))
	b.open = slices.DeleteFunc(slices.Clone(b.open), func(q api.QuestionRow) bool { return q.Token == r.Token })
	return api.ReplyAnswer{Resolution: "decided"}, b.answer
}

// present starts the time of a question that waited, under a new token.
func (b *book) present(r api.ReplyRequest) (api.ReplyAnswer, error) {
	b.shown = append(b.shown, r)
	for i := range b.open {
		if q := &b.open[i]; q.Token == r.Token && q.Unseen {
			q.Unseen = false
		}
	}
	return api.ReplyAnswer{Resolution: "shown"}, b.answer
}

func (b *book) since(q api.SinceRequest) (api.SinceAnswer, error) {
	var a api.SinceAnswer
	if len(b.events) > 0 {
		a.Newest = b.events[len(b.events)-1]
	}
	if q.Now {
		return a, nil
	}
	var point cursor
	if q.Event != "" {
		var known bool
		if point, known = b.at[q.Event]; !known {
			return a, &api.Fault{Code: utp.CodeNotFound}
		}
		a.Owner = b.sessions[point.session].owner
	}
	limit := point.when.Add(-time.Duration(q.OverlapMS) * time.Millisecond)
	for _, session := range b.order {
		s := b.sessions[session]
		row := api.SinceRow{Session: session, Last: int64(len(s.rows)), Owner: s.owner, Ended: s.ended}
		for _, r := range s.rows {
			at := b.at[b.idOf(session, r.Seq)]
			if at.commit <= point.commit && (session == point.session || q.OverlapMS == 0 || at.when.Before(limit)) {
				row.Seq = r.Seq
			}
		}
		if row.Seq < row.Last && (len(q.Owners) == 0 || slices.Contains(q.Owners, s.owner)) {
			a.Sessions = append(a.Sessions, row)
		}
	}
	return a, nil
}

func (b *book) idOf(session string, seq int64) string { return eventID(session, seq) }

// eventID is as long as an id of Earshot's, so that a stream can resume behind events that were joined.
func eventID(session string, seq int64) string {
	id := fmt.Sprintf("%sx%d", session[len("sess_"):], seq)
	return "evt_" + id + strings.Repeat("z", 32-len(id))
}

func (b *book) list(q api.SessionsRequest) ([]api.SessionRow, error) {
	var rows []api.SessionRow
	skip := q.After != ""
	for _, session := range b.order {
		s := b.sessions[session]
		row := api.SessionRow{Session: session, Turn: "turn_" + session, Owner: s.owner, Last: int64(len(s.rows)), Ended: s.ended}
		switch {
		case skip:
			skip = row.Turn != q.After
			continue
		case q.Session != "" && session != q.Session, q.Open && s.ended:
			continue
		case len(q.Owners) > 0 && !slices.Contains(q.Owners, s.owner):
			continue
		case q.Token != "" || q.Question != 0:
			if !slices.ContainsFunc(b.open, func(o api.QuestionRow) bool {
				return o.Session == session && (o.Token == q.Token || o.Number == q.Question)
			}) {
				continue
			}
		}
		if rows = append(rows, row); len(rows) == 2 {
			break
		}
	}
	return rows, nil
}

func (b *book) page(q api.EventsRequest) (api.EventsAnswer, error) {
	b.read[q.Session]++
	s, found := b.sessions[q.Session]
	if !found {
		return api.EventsAnswer{}, &api.Fault{Code: utp.CodeNotFound}
	}
	most := 7
	if q.Limit > 0 {
		most = min(most, q.Limit)
	}
	a := api.EventsAnswer{Ended: s.ended}
	for _, row := range s.rows {
		if row.Seq <= q.After {
			continue
		}
		if len(a.Events) == most {
			a.More = true
			break
		}
		a.Events = append(a.Events, api.EventRow{Seq: row.Seq, Body: row.Body})
	}
	return a, nil
}

func (b *book) count(op string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked[op]
}

func (b *book) setWeather(w func(deliver func())) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.weather = w
}

func (b *book) last(session string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return int64(len(b.sessions[session].rows))
}
