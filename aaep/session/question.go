package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// answer is how a question ended, as far as the stream shows.
type answer int

const (
	pending  answer = iota
	accepted        // the action may happen, once
	refused         // it must not
	closed          // withdrawn, extended, stopped, answered: this question is over
	unclear         // over, but the stream does not show how
)

// question is a confirmation or clarification as a checker sees it.
type question struct {
	token        string
	number       string // extensions.earshot.question
	confirmation bool
	tool, callID string // what the consent is for, where it says so
	deadline     time.Time
	timed        bool
	acceptsLate  bool // default_decision is accept
	explicit     bool // the producer tells how its questions end, so nothing is inferred

	answer    answer
	defaulted bool // accepted by silence
	told      bool // a state.changed has followed
	followed  bool // a tool.invoked has followed
	used      bool // an irreversible one
}

// asked takes a new question.
func (s *judged) asked(f facts, r *report) {
	q := &question{
		token: f.replyToken, number: f.questionNumber, confirmation: f.kind == aaep.TypeAwaitingConfirmation,
		tool: f.subjectTool, callID: f.subject, acceptsLate: f.defaultAccept, explicit: f.producerIsEarshot,
	}
	if f.timed && f.timeout > 0 {
		q.timed, q.deadline = true, f.when.Add(time.Duration(f.timeout)*time.Second)
	}
	if q.confirmation && s.chain(f.agentID).current != aaep.StateAwaitingInput {
		r.warn("/type", "A.4", fmt.Sprintf("found a confirmation in the state %q, expected a state.changed to awaiting_input before", s.chain(f.agentID).current), "SEQ-29")
	}
	s.questions = append(s.questions, q)
	s.fresh = append(s.fresh, q)
}

// answered takes what a state.changed says, or lets one infer, of open questions.
func (s *judged) answered(f facts) {
	if f.resolution != "" {
		if q := s.about(f); q != nil {
			q.resolve(f.resolution)
		}
		return
	}
	if f.from != aaep.StateAwaitingInput || f.to == aaep.StateAwaitingInput {
		return
	}
	var open []*question
	for _, q := range s.questions {
		if q.told {
			continue
		}
		if q.answer == pending {
			open = append(open, q)
			continue
		}
		q.told = true
	}
	for _, q := range open {
		q.infer(f.to, len(open) == 1)
	}
}

// about finds the question whose end a state.changed tells: by its token, by its
// number, or else the oldest that is open.
func (s *judged) about(f facts) *question {
	for _, q := range slices.Backward(s.questions) {
		if f.resolved != "" && q.token == f.resolved || f.resolved == "" && f.questionNumber != "" && q.number == f.questionNumber {
			return q
		}
	}
	if f.resolved != "" || f.questionNumber != "" {
		return nil
	}
	for _, q := range s.questions {
		if !q.told {
			return q
		}
	}
	for _, q := range slices.Backward(s.questions) { // a stop behind an accept
		if q.answer == accepted && !q.followed {
			return q
		}
	}
	return nil
}

// resolve takes the producer's word, except against a refusal, in the capture or told
// before, and against the end of the question: those are never overruled.
func (q *question) resolve(r aaep.Resolution) {
	q.told = true
	if q.answer == refused || q.answer == closed {
		return
	}
	switch r {
	case aaep.ResolutionAccepted:
		q.answer = accepted
	case aaep.ResolutionRejected:
		q.answer = refused
	case aaep.ResolutionExpired:
		q.answer, q.defaulted = refused, true
		if q.acceptsLate {
			q.answer = accepted
		}
	case aaep.ResolutionAnswered, aaep.ResolutionWithdrawn, aaep.ResolutionExtended, aaep.ResolutionStopped:
		q.answer = closed
	default:
		q.answer = unclear // a word of a later version never allows anything by itself
	}
}

// infer reads the answer from the state that awaiting_input was left for (C-45).
func (q *question) infer(to string, alone bool) {
	q.told = true
	switch {
	case !alone || !q.confirmation:
		q.answer = unclear
	case to == aaep.StateCallingTool:
		q.answer = accepted
	case to == aaep.StateThinking || to == aaep.StateDeciding:
		q.answer = refused
	default:
		q.answer = unclear
	}
}

// refusedBy answers whether the question counts as refused at an instant: by an
// answer, or because its time was over and silence means no.
func (q *question) refusedBy(now time.Time) bool {
	if q.answer == refused {
		return true
	}
	return q.answer == pending && !q.followed && q.timed && !q.acceptsLate && !now.Before(q.deadline)
}

// untold judges what session.completed leaves unsaid of its questions.
func (s *judged) untold(r *report) {
	for _, q := range s.questions {
		switch {
		case !q.confirmation || q.followed:
		case q.answer == accepted:
			r.error("/type", "§4.5.3", fmt.Sprintf("the question %s was accepted, expected a tool.invoked for its action", q.token), "SEQ-24")
		case q.told:
		case q.refusedBy(s.last):
			r.error("/type", "§4.5.3", fmt.Sprintf("the question %s was refused, expected a state.changed that says so", q.token), "SEQ-25", "SEQ-30")
		case q.answer == pending:
			r.error("/type", "§9.4.1", fmt.Sprintf("the question %s is still open, expected an event that says how it ended", q.token), "SEQ-30")
		}
	}
}
