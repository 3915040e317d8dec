package hub

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
)

// contents is what a question says of the arguments that it is about (extensions.earshot).
type contents struct {
	Question  int    `json:"question"`
	Class     string `json:"class"`
	Arguments *struct {
		Complete bool `json:"complete"`
		Told     bool `json:"told"`
	} `json:"arguments"`
}

// rejectOnly returns a question as a subscriber gets it who was not shown everything that it is about:
// what cannot be undone, or is of high risk, can be rejected there and not accepted (CONF-55), and the
// sentences say where it can be. A reply is never told why it did not count (C-57), so that a yes
// which cannot count must not be asked for. One who has negotiated our extension shows the values that it
// lists, and is told by the API which of them have to be read first.
func rejectOnly(raw []byte, terms pacing.Terms) []byte {
	e, err := aaep.DecodeEvent(raw)
	if err != nil {
		return raw
	}
	q, asks := e.Payload.(aaep.AwaitingConfirmation)
	if !asks || !q.Irreversible && q.RiskLevel != aaep.RiskHigh || terms.Extends(aaep.PrefixEarshot) {
		return raw
	}
	var ours contents
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) != nil || ours.Arguments == nil || ours.Arguments.Told {
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
