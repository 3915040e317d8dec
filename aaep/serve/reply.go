package serve

import (
	"errors"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Why a message is not taken.
var (
	errForbidden = errors.New("this token may not answer; send one that may")
	errUnknown   = errors.New("this is not a reply, a subscription.renegotiate or a subscription.close")
)

// message takes what a subscriber sends back. Only a renegotiation has an answer, a message. A reply that can be read has none, whatever
// becomes of it: what counts is told as an event (C-57).
func (p *Producer) message(token string, raw []byte) (answer []byte, err error) {
	kind, _ := aaep.Read(raw).Text("type")
	switch kind {
	case aaep.TypeSubscriptionRenegotiate:
		return p.change(token, raw)
	case aaep.TypeSubscriptionClose:
		m, err := aaep.DecodeSubscriptionClose(raw)
		if err == nil {
			if s := p.subscription(token, m.SubscriptionID); s != nil {
				s.Close()
			}
		}
		return nil, err
	case aaep.TypeConfirmationReply, aaep.TypeClarificationReply:
		if !p.o.Allow(token).Answers {
			return nil, errForbidden
		}
		return nil, p.reply(token, kind, raw)
	}
	return nil, errUnknown
}

// change renegotiates. The answer says what holds now, or why the subscription has ended.
func (p *Producer) change(token string, raw []byte) ([]byte, error) {
	m, err := aaep.DecodeSubscriptionRenegotiate(raw)
	if err != nil {
		return nil, err
	}
	s := p.subscription(token, m.SubscriptionID)
	if s == nil {
		return aaep.SubscriptionRejected{ReasonCode: aaep.ReasonUnknown, ReasonMessage: "There is no such subscription of yours."}.Encode()
	}
	accepted, rejected := s.renegotiate(m)
	if rejected != nil {
		return rejected.Encode()
	}
	return accepted.Encode()
}

// subscription returns the open subscription of this id that was made with this token.
func (p *Producer) subscription(token, id string) *subscription {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, open := p.subs[id]; open && s.token == token {
		return s
	}
	return nil
}

// reply is an answer, with what it names.
type reply struct {
	Answer

	token, subscription string
	decision            aaep.Decision // "" for a clarification
	at                  time.Time     // when the person decided
}

// reply hands an answer to the question that it names. The first that counts is taken; of any other, nobody learns what was wrong with
// it (CONF-56).
func (p *Producer) reply(token, kind string, raw []byte) error {
	read := clarified
	if kind == aaep.TypeConfirmationReply {
		read = decided
	}
	r, err := read(raw)
	if err != nil {
		return unread(err)
	}
	s := p.subscription(token, r.subscription)
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.questions[r.token]
	if s == nil || q == nil || !s.mayAnswer(q) || !q.takes(r.decision) || !q.inTime(r.at) || !q.inTime(p.o.Now()) {
		return nil
	}
	delete(p.questions, r.token)
	q.reply <- r.Answer // it has room for the one
	return nil
}

// decided reads the reply to a confirmation. One that would change the action is a reject (CONF-38).
func decided(raw []byte) (reply, error) {
	m, err := aaep.DecodeConfirmationReply(raw)
	if m.ModifiedAction != nil {
		m.Decision = aaep.DecisionReject
	}
	r := reply{
		Answer: Answer{Resolution: aaep.ResolutionRejected, By: m.DecidedBy, Reason: m.DecisionRationale},
		token:  m.ReplyToken, subscription: m.SubscriptionID, decision: m.Decision, at: m.Timestamp,
	}
	if m.Decision == aaep.DecisionAccept {
		r.Resolution = aaep.ResolutionAccepted
	}
	return r, err
}

// clarified reads the reply to a clarification.
func clarified(raw []byte) (reply, error) {
	m, err := aaep.DecodeClarificationReply(raw)
	return reply{
		Answer: Answer{Resolution: aaep.ResolutionAnswered, Response: m.Response, By: m.DecidedBy}, token: m.ReplyToken, subscription: m.SubscriptionID, at: m.Timestamp,
	}, err
}

// unread returns why a reply cannot be read; nil if only its decision is a word that AAEP does not have, which is neither a yes nor a
// no (C-25, C-57).
func unread(err error) error {
	wrong, is := errors.AsType[*aaep.Error](err)
	if is && len(wrong.Violations) > 0 && !slices.ContainsFunc(wrong.Violations, func(v aaep.Violation) bool { return !v.Names("CONF-32") }) {
		return nil
	}
	return err
}

// mayAnswer reports whether a subscription has agreed to answer such a question, of a session that it hears. The caller holds mu.
func (s *subscription) mayAnswer(q *question) bool {
	if q.confirmation {
		return s.terms.CanConfirm() && s.terms.Hears(q.session)
	}
	return s.terms.CanClarify() && s.terms.Hears(q.session)
}

// inTime reports whether a reply of this time may count: it was given before the deadline, and it has come before it (CONF-53).
func (q *question) inTime(at time.Time) bool { return at.Before(q.deadline) }

// takes reports whether a decision answers the question; "" is the answer to a clarification.
func (q *question) takes(d aaep.Decision) bool {
	switch {
	case q.confirmation != (d != ""):
		return false
	case !q.confirmation || q.allowed == nil:
		return true
	}
	return slices.Contains(q.allowed, d)
}
