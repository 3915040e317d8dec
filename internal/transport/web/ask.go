package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// asked is one open question as a page shows it.
type asked struct {
	Number      int
	Token       string
	Version     string // changes when the question is asked again; reveals nothing of the token
	Shown       string // changes with everything shown of it except the time to answer
	Title       string
	Language    string
	Direction   string
	Session     string
	Name        string // of its session
	Request     string // the request that started the session
	Values      []value
	Unread      string // the arguments that are not among the values
	ReadFirst   bool   // it can be accepted only once all arguments were read
	Consequence string
	Detail      string
	Summed      bool // the detail is the summary of a clarification
	Hint        string
	Effect      string // whether it can be undone
	Risk        string
	Until       string
	Deadline    time.Time
	Silence     string // what happens without an answer
	Accept      bool
	Reject      bool
	Choices     []aaep.Choice
	YesNo       bool
	Text        bool
	Numeric     bool
	Arguments   bool
	Answerable  bool
	Whose       string // why they may not answer
	Parked      bool   // its turn is suspended
	MoreTime    bool
	Form, Back  string // of the page that it is on
}

// ask returns the view of a question for a visitor, who may or may not answer it.
func (s *Server) ask(q api.OpenQuestion, who visitor) asked {
	a := s.described(q, who.Principal)
	if a.Parked { // only a reject is possible
		a.Accept, a.YesNo, a.Text, a.Numeric, a.Choices = false, false, false, false, nil
	}
	a.Shown = a.digest()
	a.Until, a.Form = s.until(q, who.zone), who.form
	return a
}

// digest identifies what is shown of a question, except the time to answer: whoever gets more time has already read the
// rest. The summary of a clarification is left out too: it states the time, and otherwise only what other members
// state.
func (a asked) digest() string {
	a.Token, a.Version, a.Deadline = "", "", time.Time{}
	if a.Summed {
		a.Detail = ""
	}
	raw, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		return "" // then it counts as changed
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// described returns everything that a question shows and accepts.
func (s *Server) described(q api.OpenQuestion, who Principal) asked {
	sum := sha256.Sum256([]byte(q.Token))
	a := asked{
		Number: q.Number, Token: q.Token, Version: hex.EncodeToString(sum[:8]), Title: legible.Text(q.Title), Direction: "auto", Session: q.Session,
		Name: legible.Text(cmp.Or(q.Name, q.Agent)), Request: legible.Text(q.Request),
		Deadline: q.Deadline, Parked: q.Parked, MoreTime: !q.Parked, Arguments: q.Call != "", Answerable: answers(who, q) && q.Token != "",
		Whose:  unanswerable(who, q),
		Accept: q.Kind == "confirmation", Reject: q.Kind == "confirmation",
	}
	e, err := aaep.DecodeEvent(q.Event)
	if err != nil {
		a.Text = !a.Accept
		return a
	}
	a.Language, a.Direction = language(e)
	a.Hint = legible.Text(e.Extension(aaep.PrefixEarshot, "hint"))
	a.Detail = legible.Text(e.Extension(aaep.PrefixEarshot, "detail"))
	if q, asks := announce.ReadQuestion(e); asks {
		a.Effect, a.Silence = q.Effect(), q.Silence()
	}
	switch p := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		a.confirmation(p)
		a.arguments(e)
	case aaep.AwaitingClarification:
		a.clarification(p)
		if e.Extension(aaep.PrefixEarshot, "tool") == "" { // the agent's own question
			a.Choices = markedChoices(p.Choices)
		}
	}
	return a
}

// markedChoices marks the labels of choices that others have written.
func markedChoices(choices []aaep.Choice) []aaep.Choice {
	marked := slices.Clone(choices)
	for i, c := range marked {
		if !strings.HasPrefix(c.Label, string(legible.FirstIsolate)) {
			marked[i].Label = string(legible.FirstIsolate) + c.Label + string(legible.PopIsolate)
		}
	}
	return marked
}

// answers reports whether somebody may answer this very question, as an approver for its owner. Only then does the page
// show buttons.
func answers(who Principal, q api.OpenQuestion) bool {
	return who.May(api.Answer) && who.Approves(q.Owner)
}

// unanswerable returns why somebody may not answer a question, or "" if they may.
func unanswerable(who Principal, q api.OpenQuestion) string {
	switch {
	case answers(who, q):
		return ""
	case !who.May(api.Answer):
		return "You may hear this question, and not answer it: that takes the role approver."
	default:
		return "You may hear this question, and not answer it: it is for " + legible.Text(q.Owner) + ", or an approver for that person."
	}
}

func (a *asked) confirmation(p aaep.AwaitingConfirmation) {
	a.Title = cmp.Or(legible.Text(p.Action), a.Title)
	a.Consequence = legible.Text(p.Consequence)
	a.Detail = cmp.Or(a.Detail, legible.Text(p.SummaryDetailed))
	a.Risk = string(p.RiskLevel)
	if len(p.AllowedReplies) > 0 {
		a.Accept = slices.Contains(p.AllowedReplies, aaep.DecisionAccept)
		a.Reject = slices.Contains(p.AllowedReplies, aaep.DecisionReject)
	}
}

func (a *asked) clarification(p aaep.AwaitingClarification) {
	a.Title = cmp.Or(legible.Text(p.Question), a.Title)
	a.Consequence = legible.Text(p.Context)
	a.Detail, a.Summed = legible.Text(p.SummaryDetailed), true
	kinds := p.AcceptedResponseKinds
	a.Choices = p.Choices
	a.YesNo = slices.Contains(kinds, aaep.ResponseYesNo)
	a.Numeric = slices.Contains(kinds, aaep.ResponseNumeric) && !slices.Contains(kinds, aaep.ResponseFreetext)
	a.Text = len(kinds) == 0 && len(p.Choices) == 0 || slices.Contains(kinds, aaep.ResponseFreetext)
}

// until returns the deadline of a question. A remaining time would be wrong a moment later: the announcer warns when
// the end is near.
func (s *Server) until(q api.OpenQuestion, zone *time.Location) string {
	if q.Deadline.IsZero() || q.Parked {
		return ""
	}
	asked := announce.Question{Deadline: q.Deadline}
	if e, err := aaep.DecodeEvent(q.Event); err == nil {
		if read, asks := announce.ReadQuestion(e); asks {
			asked.Waiting, asked.Unlimited = read.Waiting, read.Unlimited
		}
	}
	return asked.Until(s.now(), zone)
}

// counted formats a number of things.
func counted(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// askedNumber returns the number of the question that an event asks, or 0.
func askedNumber(e aaep.Event) int {
	var members struct {
		Question int `json:"question"`
	}
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &members) != nil {
		return 0
	}
	return members.Question
}
