package session

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Confirm builds agent.awaiting.confirmation. The session must be in awaiting_input
// (C-37). An empty ReplyToken is made; read it from the event's payload. Name the call
// that the consent is for with [aaep.AwaitingConfirmation.About]: without that, no
// accept can be recorded for it. Refused is a question in which silence would allow
// what cannot be undone, or risk is not said, or reject is not allowed.
func (s *Session) Confirm(now time.Time, rand io.Reader, p aaep.AwaitingConfirmation) (aaep.Event, error) {
	if err := s.canAsk(p.ReplyToken); err != nil {
		return aaep.Event{}, err
	}
	if err := safe(p); err != nil {
		return aaep.Event{}, err
	}
	tool, callID := p.Subject()
	if callID != "" && s.asked(callID) {
		return aaep.Event{}, refuse(CodeQuestionOpen, "SEQ-28", fmt.Sprintf("the call %s has been asked for; settle that question first", callID))
	}
	d := s.draft(now, rand)
	p.ReplyToken = d.token(p.ReplyToken)
	d.state.Questions = append(d.state.Questions, Question{Token: p.ReplyToken, Confirmation: true, CallID: callID, Tool: tool, Reversible: !forever(p)})
	d.build(p)
	return d.one()
}

// Clarify builds agent.awaiting.clarification under the same conditions as
// [Session.Confirm].
func (s *Session) Clarify(now time.Time, rand io.Reader, p aaep.AwaitingClarification) (aaep.Event, error) {
	if err := s.canAsk(p.ReplyToken); err != nil {
		return aaep.Event{}, err
	}
	d := s.draft(now, rand)
	p.ReplyToken = d.token(p.ReplyToken)
	d.state.Questions = append(d.state.Questions, Question{Token: p.ReplyToken})
	d.build(p)
	return d.one()
}

// Granted records that the open confirmation of a call was answered accept. It builds
// no event: the next [Session.Move] tells it. An irreversible call can be invoked
// after it, once.
func (s *Session) Granted(callID string) error {
	i := s.state.question(func(q Question) bool { return q.Confirmation && q.CallID == callID && callID != "" })
	if i < 0 {
		return refuse(CodeNoQuestion, "SEQ-22", fmt.Sprintf("no confirmation of the call %q is open", callID))
	}
	return s.Resolve(s.state.Questions[i].Token, aaep.ResolutionAccepted)
}

// Resolve records how the question with this token ended. It builds no event: the next
// [Session.Move] tells it, and until then no other question can be resolved. A call
// that was accepted and not yet invoked can be resolved once more, by anything but
// accepted: it loses its consent.
func (s *Session) Resolve(token string, r aaep.Resolution) error {
	if err := s.open(); err != nil {
		return err
	}
	grant := s.state.grant(func(g Grant) bool { return g.Token == token })
	if grant >= 0 && !r.Allows() {
		return s.revoke(grant, r)
	}
	if s.state.Resolved != nil {
		return refuse(CodeQuestionOpen, "SEQ-30", "the outcome of another question is not reported yet; call Move first")
	}
	i := s.state.question(func(q Question) bool { return q.Token == token })
	if i < 0 {
		return refuse(CodeNoQuestion, "", "no question with this token is open")
	}
	question := s.state.Questions[i]
	if question.Confirmation && r == aaep.ResolutionAnswered || !question.Confirmation && (r.Allows() || r == aaep.ResolutionRejected) {
		return refuse(CodeNoQuestion, "CONF-61", fmt.Sprintf("a question of this kind cannot end as %q", r))
	}
	next := s.state.clone()
	next.Questions = remove(next.Questions, i)
	next.UsedTokens = next.appendUsed(next.UsedTokens, token)
	next.Resolved = &ResolvedQuestion{Token: token, Resolution: r}
	if r.Allows() {
		next.grantTo(question)
	} else {
		next.bar(question.CallID)
	}
	s.state = next
	return nil
}

// revoke takes an accept back. An accept that was not told yet is never told.
func (s *Session) revoke(grant int, r aaep.Resolution) error {
	next := s.state.clone()
	token := next.Granted[grant].Token
	if next.Resolved != nil && next.Resolved.Token != token {
		return refuse(CodeQuestionOpen, "SEQ-30", "the outcome of another question is not reported yet; call Move first")
	}
	next.bar(next.Granted[grant].CallID)
	next.Granted = remove(next.Granted, grant)
	next.Resolved = &ResolvedQuestion{Token: token, Resolution: r}
	s.state = next
	return nil
}

// canAsk refuses a question in the wrong place, or with a token that was used.
func (s *Session) canAsk(token string) error {
	if err := s.open(); err != nil {
		return err
	}
	if s.state.Current != aaep.StateAwaitingInput {
		return refuse(CodeWrongState, "SEQ-29", fmt.Sprintf("found the state %q, expected awaiting_input; call Move first", s.state.Current))
	}
	if s.state.Resolved != nil {
		return refuse(CodeQuestionOpen, "SEQ-28", "the outcome of a question is not reported yet; call Move first")
	}
	open := s.state.question(func(q Question) bool { return q.Token == token }) >= 0
	if token != "" && (open || contains(s.state.UsedTokens, token)) {
		return refuse(CodeBadEvent, "CONF-07", "the reply token was used before; every question needs its own")
	}
	return nil
}

// asked reports whether a call has an open question, or an accept that waits.
func (s *Session) asked(callID string) bool {
	return s.state.question(func(q Question) bool { return q.CallID == callID }) >= 0 ||
		s.state.grant(func(g Grant) bool { return g.CallID == callID }) >= 0
}

// safe refuses what the library must not build (C-22, C-24, C-25).
func safe(p aaep.AwaitingConfirmation) error {
	switch {
	case forever(p) && p.DefaultDecision != aaep.DecisionReject:
		return refuse(CodeUnsafeQuestion, "CONF-20", "the action is irreversible; default_decision must be reject")
	case forever(p) && p.RiskLevel == "":
		return refuse(CodeUnsafeQuestion, "CONFM-10", "the action is irreversible; say its risk_level")
	case p.AllowedReplies != nil && !slices.Contains(p.AllowedReplies, aaep.DecisionReject):
		return refuse(CodeUnsafeQuestion, "CONFM-13", "allowed_replies must contain reject")
	default:
		return nil
	}
}

// forever reports whether a question says that its action cannot be undone (C-21).
func forever(p aaep.AwaitingConfirmation) bool {
	return p.Irreversible || p.Reversibility == aaep.Irreversible
}

// token makes a reply token unless there is one.
func (d *draft) token(given string) string {
	if given != "" {
		return given
	}
	token, err := aaep.NewToken(d.rand)
	if err != nil {
		d.err = wrap("cannot make a reply token", err)
	}
	return token
}
