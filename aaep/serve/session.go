package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// Session is the agent's side of one session. Its methods are those of the [session.Emitter], except that a question waits for its
// answer. One goroutine uses a session.
type Session struct {
	*session.Emitter

	producer *Producer
	id       string
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.id }

// Answer is how a question ended.
type Answer struct {
	// Asked is the question. [session.Asked.Tool] invokes the call that was accepted, and refuses any other.
	*session.Asked

	// Resolution is accepted, rejected or answered; expired after the time to answer; withdrawn if the context or the producer ended.
	Resolution aaep.Resolution
	Response   aaep.Response // to a clarification
	By, Reason string        // what the reply says of both, if anything
}

// Accepted reports whether a person has said yes.
func (a Answer) Accepted() bool { return a.Resolution.Allows() }

// question is one that waits.
type question struct {
	token        string
	session      string
	confirmation bool
	allowed      []aaep.Decision
	deadline     time.Time
	reply        chan Answer // takes the first one that counts
}

// errSilence refuses a question that would take silence for a yes.
var errSilence = errors.New("the default_decision is accept: silence would be a yes; leave it out")

// Confirm asks for consent to one call of a tool, as [session.Emitter.Confirm] does, and waits for the answer, at most until the
// question's own time is over. Silence means no. With an error the answer is not an accept; after one of the context the question is
// withdrawn, and the session goes on.
func (s *Session) Confirm(ctx context.Context, tool string, p aaep.AwaitingConfirmation) (Answer, error) {
	if p.DefaultDecision == aaep.DecisionAccept {
		return Answer{}, errSilence
	}
	q, err := s.producer.expect(p.ReplyToken, question{session: s.id, confirmation: true, allowed: p.AllowedReplies})
	if err != nil {
		return Answer{}, err
	}
	p.ReplyToken = q.token
	asked, err := s.Emitter.Confirm(tool, p)
	return s.wait(ctx, q, asked, err)
}

// Clarify asks for information and waits for the answer, as [Session.Confirm] does.
func (s *Session) Clarify(ctx context.Context, p aaep.AwaitingClarification) (Answer, error) {
	q, err := s.producer.expect(p.ReplyToken, question{session: s.id})
	if err != nil {
		return Answer{}, err
	}
	p.ReplyToken = q.token
	asked, err := s.Emitter.Clarify(p)
	return s.wait(ctx, q, asked, err)
}

// expect takes a question in before it is asked: an answer may come at once. Without a token it gets one.
func (p *Producer) expect(token string, q question) (*question, error) {
	if token == "" {
		made, err := aaep.NewToken(p.o.Rand)
		if err != nil {
			return nil, fmt.Errorf("making a reply token: %w", err)
		}
		token = made
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q.token, q.reply, q.deadline = token, make(chan Answer, 1), p.o.Now().Add(day)
	p.questions[token] = &q
	return &q, nil
}

// day is the longest time to answer (§6.4.2).
const day = 24 * time.Hour

// wait returns how a question ended, and tells it.
func (s *Session) wait(ctx context.Context, q *question, asked *session.Asked, failed error) (Answer, error) {
	if failed != nil {
		s.producer.answered(q)
		return Answer{}, failed
	}
	timer := time.NewTimer(s.producer.until(q).Sub(s.producer.o.Now()))
	defer timer.Stop()
	answer, err := Answer{Resolution: aaep.ResolutionWithdrawn}, error(nil)
	select {
	case answer = <-q.reply:
	case <-timer.C:
		answer.Resolution = aaep.ResolutionExpired
	case <-ctx.Done():
		err = fmt.Errorf("nobody answered: %w", context.Cause(ctx))
	case <-s.producer.closed:
		err = fmt.Errorf("nobody answered: %w", ErrClosed)
	}
	s.producer.answered(q) // from here on no reply counts
	if answer.Resolution == aaep.ResolutionExpired {
		select {
		case answer = <-q.reply: // it came in time
		default:
		}
	}
	answer.Asked = asked
	if told := asked.Resolve(answer.Resolution, aaep.StateChanged{}); told != nil && err == nil {
		return Answer{Asked: asked, Resolution: aaep.ResolutionWithdrawn}, told
	}
	return answer, err
}

// until returns when the time to answer is over, and has replies judged by it.
func (p *Producer) until(q *question) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tracks {
		if t.id != q.session {
			continue
		}
		for _, item := range slices.Backward(t.asked) {
			if tokenOf(item.Event) == q.token {
				written := item.Event.Time.Truncate(time.Millisecond)
				q.deadline = written.Add(time.Duration(seconds(item.Event)) * time.Second)
			}
		}
	}
	return q.deadline
}

// seconds returns how long a question may be answered.
func seconds(e aaep.Event) int64 {
	switch asked := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		return asked.TimeoutSeconds
	case aaep.AwaitingClarification:
		return asked.TimeoutSeconds
	}
	return 0
}
