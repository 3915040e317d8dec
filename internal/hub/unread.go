package hub

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// contents is what a question says of the arguments that it is about (extensions.earshot).
type contents struct {
	Question  int    `json:"question"`
	Class     string `json:"class"`
	Arguments *struct {
		Complete bool `json:"complete"`
		Shown    bool `json:"told"`
	} `json:"arguments"`
}

// maxPresented is of how many questions a subscription remembers how they were put to it.
const maxPresented = 256

// presented is how a question was put to a subscriber, as it was asked under a token.
type presented struct {
	token string
	lists bool // with the values that our extension lists
}

// offered is an event as a subscriber gets it. Of a question it is noted how it is put, before it is: the answer
// may come at once.
func (st *stream) offered(raw []byte) []byte {
	e, err := aaep.DecodeEvent(raw)
	if err != nil {
		return raw
	}
	q, asks := e.Payload.(aaep.AwaitingConfirmation)
	if !asks {
		return raw
	}
	lists := st.terms.Extends(aaep.PrefixEarshot)
	st.sub.remember(presented{q.ReplyToken, lists})
	if lists {
		return raw
	}
	return rejectOnly(raw, e, q)
}

// remember remembers how a question is put, the last time that it is.
func (s *Subscription) remember(p presented) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.presented = append(slices.DeleteFunc(s.presented, func(old presented) bool { return old.token == p.token }), p)
	s.presented = s.presented[max(0, len(s.presented)-maxPresented):]
}

// lists reports whether the subscriber shows the values that our extension lists of a question: as it was put, whatever
// was negotiated since; where that is not known, as before a restart, by the terms of now.
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

// rejectOnly returns a question as a subscriber gets it who was not shown everything that it is about:
// what cannot be undone, or is of high risk, can be rejected there and not accepted (CONF-55), and the
// sentences say where it can be. A reply is never told why it did not count (C-57), so that a yes
// which cannot count must not be asked for. One who has negotiated our extension shows the values that it
// lists, and is told by the API which of them have to be read first.
func rejectOnly(raw []byte, e aaep.Event, q aaep.AwaitingConfirmation) []byte {
	if !q.Irreversible && q.RiskLevel != aaep.RiskHigh {
		return raw
	}
	var ours contents
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) != nil || ours.Arguments == nil || ours.Arguments.Shown {
		return raw
	}
	q.AllowedReplies = []aaep.Decision{aaep.DecisionReject}
	where := fmt.Sprintf(" Here you can only reject this. To accept it, read all of it on Earshot's page, or with the command earshot pending %d.", ours.Question)
	for _, text := range []*string{&q.SummaryTerse, &q.SummaryNormal, &q.SummaryDetailed, &q.Consequence} {
		if *text != "" {
			*text += where
		}
	}
	e.Payload = q
	rewritten, err := e.Forward()
	if err != nil {
		return raw // a yes to it is refused all the same
	}
	return rewritten
}
