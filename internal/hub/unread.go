package hub

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// contents describes how much of its arguments a question shows (extensions.earshot).
type contents struct {
	Question  int    `json:"question"`
	Class     string `json:"class"`
	Passkey   bool   `json:"passkey"`
	Arguments *struct {
		Complete bool `json:"complete"`
		Shown    bool `json:"told"`
	} `json:"arguments"`
}

// maxPresented is for how many questions a subscription remembers how they were shown.
const maxPresented = 256

// presented is how a question was shown to a subscriber, by its token.
type presented struct {
	token    string
	lists    bool   // with the values that our extension lists
	language string // of the event that was delivered; "" if that does not say it
}

// offered returns an event as the subscriber gets it. How a question is shown is recorded beforehand, because the
// answer may come at once.
func (st *stream) offered(raw []byte) []byte {
	e, err := aaep.DecodeEvent(raw)
	if err != nil {
		return raw
	}
	lists := st.terms.Extends(aaep.PrefixEarshot)
	shown := presented{lists: lists}
	if e.Hints != nil {
		shown.language = e.Hints.PrimaryLanguage
	}
	if c, asks := e.Payload.(aaep.AwaitingClarification); asks {
		shown.token = c.ReplyToken
		st.sub.remember(shown)
	}
	q, asks := e.Payload.(aaep.AwaitingConfirmation)
	if !asks {
		return raw
	}
	shown.token = q.ReplyToken
	st.sub.remember(shown)
	var ours contents
	_ = json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) // what cannot be read offers nothing more
	switch {
	case ours.Passkey && lists:
		return rejectOnly(raw, e, q, "") // the extension says where it is accepted
	case ours.Passkey:
		return rejectOnly(raw, e, q, " Here you can only reject this. To accept it takes your passkey, on Earshot's page.")
	case lists || !ours.unread(q):
		return raw
	}
	return rejectOnly(raw, e, q, fmt.Sprintf(
		" Here you can only reject this. To accept it, read all of it on Earshot's page, or with the command earshot pending %d.", ours.Question))
}

// unread reports whether a question does not show everything that it is about, and has to.
func (c contents) unread(q aaep.AwaitingConfirmation) bool {
	return (q.Irreversible || q.RiskLevel == aaep.RiskHigh) && c.Arguments != nil && !c.Arguments.Shown
}

// remember records how a question is shown; the last time counts.
func (s *Subscription) remember(p presented) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.presented = append(slices.DeleteFunc(s.presented, func(old presented) bool { return old.token == p.token }), p)
	s.presented = s.presented[max(0, len(s.presented)-maxPresented):]
}

// language returns the language in which a question was shown, by its token; "" if that is not known.
func (s *Subscription) language(token string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.presented {
		if p.token == token {
			return p.language
		}
	}
	return ""
}

// lists reports whether the subscriber shows the values that our extension lists for a question. It answers by the
// terms under which the question was shown; if these are not known, as after a restart, by the current ones.
func (s *Subscription) lists(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.presented {
		if p.token == token {
			return p.lists
		}
	}
	return s.terms.Extends(aaep.PrefixEarshot)
}

// rejectOnly returns a question for a subscriber who cannot accept it: who was not shown everything that it is about,
// where the action is irreversible or of high risk, or where it takes a passkey. It can be rejected there but not accepted
// (CONF-55), and the text says where it can be accepted. A reply never learns why it did not count (C-57), so an accept
// that cannot count must not be offered. A subscriber that has negotiated our extension shows the listed values, and the
// API reports which of them must be read first.
func rejectOnly(raw []byte, e aaep.Event, q aaep.AwaitingConfirmation, where string) []byte {
	q.AllowedReplies = []aaep.Decision{aaep.DecisionReject}
	for _, text := range []*string{&q.SummaryTerse, &q.SummaryNormal, &q.SummaryDetailed, &q.Consequence} {
		if *text != "" {
			*text += where
		}
	}
	e.Payload = q
	rewritten, err := e.Forward()
	if err != nil {
		return raw // an accept of it is refused anyway
	}
	return rewritten
}
