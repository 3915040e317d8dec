package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/utp"
)

func decode(raw jsontext.Value, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("sim: decoding: %w", err)
	}
	return nil
}

// someone is a person at a surface: starts turns, looks at what is asked, and answers, or
// does not.
type someone struct {
	w    *world
	p    *process
	rand *rand.Rand
	// spawning is chance of its own, for turns that agents begin: so that what else is drawn stays as it was.
	spawning *rand.Rand
	minded   map[int]string // what is done about a question, once decided
	again    int            // how often an unknown call is asked for again
	longer   int            // how often more time is asked for
	began    []string       // sessions
}

func (w *world) runPerson(p *process) {
	s := &someone{w: w, p: p, minded: map[int]string{}, again: 3, longer: 4}
	s.rand, s.spawning = rand.New(rand.NewPCG(w.seed, 99)), rand.New(rand.NewPCG(w.seed, 98)) //nolint:gosec // Chance has to be the same again.
	for n := range w.turns {
		nap(p.ctx, time.Duration(s.rand.Int64N(int64(20*time.Second))))
		s.enqueue(n)
		s.poll()
	}
	w.begun.Store(true)
	for p.ctx.Err() == nil {
		nap(p.ctx, time.Duration(s.rand.Int64N(int64(12*time.Second))))
		s.poll()
	}
}

func (s *someone) ask(op string, request, into any) error {
	ctx, cancel := context.WithTimeout(s.p.ctx, 8*time.Second)
	defer cancel()
	return rpc.Ask(ctx, &conn{w: s.w, p: s.p}, op, request, into)
}

// enqueue starts a turn; one whose answer is lost may have begun all the same, and then
// there are two. Of every other request there is one turn: it is sent again as it was, under one correlation id.
func (s *someone) enqueue(n int) {
	for try := 0; s.p.ctx.Err() == nil; try++ {
		wanted := s.plan(n, fmt.Sprintf("t%d.%d", n, try))
		var fields []string
		if s.rand.IntN(3) == 0 {
			fields, wanted.Forgets = resultFields(), s.rand.IntN(3)
		}
		args, err := json.Marshal(wanted)
		if err != nil {
			s.w.judge.wrongf("a plan: %v", err)
			return
		}
		var a api.EnqueueAnswer
		q := api.EnqueueRequest{Agent: agent, Args: args, Request: "tidy up", Owner: person, Answer: 20 + s.rand.IntN(60), ResultFields: fields}
		if n%2 == 1 {
			q.Correlation = fmt.Sprint("request-", n)
		}
		for again := true; again; again = q.Correlation != "" && s.p.ctx.Err() == nil {
			if s.ask(api.OpEnqueue, q, &a) == nil {
				s.w.judge.turnBegan(a.Turn)
				s.began = append(s.began, a.Session)
				return
			}
			nap(s.p.ctx, 2*time.Second)
		}
	}
}

// plan is what a turn is to do.
func (s *someone) plan(n int, tag string) plan {
	if n == 0 && s.w.deep {
		return chain(tag)
	}
	p := drawn(s.rand, tag)
	if s.w.delegates {
		p.delegates(s.rand, 2)
		p.spawns(s.spawning, 2)
	}
	return p
}

// stops ends one of the turns that were begun, now and then: once the weather has cleared up, none.
func (s *someone) stops() {
	if !s.w.delegates || len(s.began) == 0 || s.w.weather.ceased.Load() || s.rand.IntN(30) > 0 {
		return
	}
	r := api.ReplyRequest{Session: s.began[s.rand.IntN(len(s.began))], By: person, Surface: "terminal", Reason: "enough"}
	if s.ask(api.OpStop, r, nil) == nil {
		s.w.did(stoppedByPerson)
		s.w.judge.stopped(r.Session)
	}
}

// poll reads what is open and says something to some of it.
func (s *someone) poll() {
	s.stops()
	var page api.QuestionsAnswer
	if s.ask(api.OpQuestions, api.QuestionsRequest{}, &page) != nil {
		return
	}
	for _, q := range page.Questions {
		if s.w.waitForPresence && q.Unseen {
			_ = s.ask(api.OpPresent, api.ReplyRequest{Token: q.Token, By: person, Surface: "page"}, nil)
		}
		s.mind(q)
	}
}

// mind does something about a question.
func (s *someone) mind(q api.QuestionRow) {
	mood := s.decided(q)
	r := api.ReplyRequest{Token: q.Token, By: person, Surface: "terminal"}
	op := api.OpAnswer
	switch mood {
	case silent:
		return
	case accept, reject:
		r.Decision = mood
	case undo:
		r.Decision = accept
	case longer:
		op = api.OpExtend
		s.minded[q.Number] = accept
	case halt:
		op, r = api.OpStop, api.ReplyRequest{Session: q.Session, By: person, Surface: "terminal", Reason: "enough"}
	default:
		r.Response = mood
	}
	switch {
	case op == api.OpAnswer && r.Decision == accept:
		s.w.judge.accepts(q.Call)
	case q.Tool == utp.AskPerson && op == api.OpAnswer:
		s.w.judge.responds(q.Call, mood, false)
	}
	a, err := s.says(q, op, r, mood)
	defer s.revokes(a.Permission)
	if err == nil && r.Decision == accept {
		s.w.judge.acceptedYes(q.Call)
		s.notices(q, a)
	}
	switch {
	case err != nil:
	case q.Tool == utp.AskPerson && op == api.OpAnswer:
		s.w.judge.responds(q.Call, mood, true)
	case op == api.OpStop:
		s.w.judge.stopped(q.Session)
	case mood == undo:
		s.reject(q, r)
	}
}

// notices says that the surface was told of a yes: after a while, sometimes twice, or not at all.
func (s *someone) notices(q api.QuestionRow, a api.ReplyAnswer) {
	times := 1
	switch n := s.rand.IntN(40); {
	case n == 0 && !s.w.weather.ceased.Load():
		return
	case n < 4:
		times = 2
	}
	nap(s.p.ctx, time.Duration(s.rand.Int64N(int64(2*time.Second))))
	s.w.judge.noticed(q.Call)
	for range times {
		_ = s.ask(api.OpNoticed, api.ReplyRequest{Question: a.Question, By: person, Surface: "terminal"}, nil)
	}
}

// reject says no after a yes.
func (s *someone) reject(q api.QuestionRow, r api.ReplyRequest) {
	nap(s.p.ctx, time.Duration(s.rand.Int64N(int64(4*time.Second))))
	r.Decision = reject
	if s.ask(api.OpAnswer, r, nil) == nil {
		s.w.judge.stopped(q.Session)
	}
}

// What a person may do about a question; of an unknown fate also what it offers.
const (
	silent = "silent"
	accept = "accept"
	reject = "reject"
	undo   = "undo"
	longer = "longer"
	halt   = "halt"
	leave  = "leave"
	again  = "ask again"
)

// decided is what is done about a question: once the weather has cleared up, nothing that
// puts an end off.
func (s *someone) decided(q api.QuestionRow) string {
	if s.minded[q.Number] == "" {
		s.minded[q.Number] = s.mood(q)
	}
	mood := s.minded[q.Number]
	if s.w.weather.ceased.Load() && (mood == longer || mood == halt || mood == undo) {
		mood = accept
	}
	if q.Tool == utp.AskPerson && mood == accept {
		return answers()[0]
	}
	if q.Kind == "clarification" && (mood == accept || mood == reject || mood == undo) {
		mood = leave
	}
	return mood
}

// mood decides what becomes of a question.
func (s *someone) mood(q api.QuestionRow) string {
	n := s.rand.IntN(100)
	if q.Tool == utp.AskPerson {
		switch {
		case n < 70:
			return answers()[n%2]
		case n < 90 || s.longer == 0:
			return silent
		case n < 97:
			s.longer--
			return longer
		}
		return halt
	}
	if q.Kind == "clarification" {
		switch {
		case n < 20 && s.again > 0:
			s.again--
			return again
		case n < 30:
			return silent
		}
		return leave
	}
	switch {
	case n < 68:
		return accept
	case n < 76:
		return reject
	case n < 83:
		return silent
	case n < 90 && s.longer > 0:
		s.longer--
		return longer
	case n < 95:
		return undo
	case n < 98:
		return halt
	}
	return accept
}
