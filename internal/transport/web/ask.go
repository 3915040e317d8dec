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
	Version     string // changes when the question is asked again; says nothing of the token
	Shown       string // changes with all that is shown of it but the time to answer
	Title       string
	Language    string
	Direction   string
	Session     string
	Name        string // of its session
	Request     string // what that was asked for
	Values      []value
	Unread      string // what of the arguments is not among the values
	ReadFirst   bool   // it can be accepted where all of the arguments were read
	Consequence string
	Detail      string
	Summed      bool // the detail is the summary of a clarification
	Hint        string
	Effect      string // whether it can be undone
	Risk        string
	Until       string
	Deadline    time.Time
	Silence     string // what no answer means
	Accept      bool
	Reject      bool
	Choices     []aaep.Choice
	YesNo       bool
	Text        bool
	Numeric     bool
	Arguments   bool
	Answerable  bool
	Whose       string // why not, where it is not
	Parked      bool   // its turn is not under way here
	MoreTime    bool
	Form, Back  string // of the page that it stands on
}

// ask makes what is shown of a question for somebody who may answer, or not.
func (s *Server) ask(q api.OpenQuestion, who visitor) asked {
	a := shownQuestion(q, unanswerable(who.Principal, q), s.now(), who.zone)
	a.Form = who.form
	return a
}

// shownQuestion makes what is shown of a question. Whose is why its reader may not answer it, "" where they may; times are
// told in the zone.
func shownQuestion(q api.OpenQuestion, whose string, now time.Time, zone *time.Location) asked {
	a := described(q, whose)
	if a.Parked { // a no is all that it takes
		a.Accept, a.YesNo, a.Text, a.Numeric, a.Choices = false, false, false, false, nil
	}
	a.Shown = a.digest()
	a.Until = until(q, now, zone)
	return a
}

// digest names what is shown of a question, but for the time to answer it: anyone who is given more
// time has read all of it. The summary of a clarification says its time too, and nothing that its
// other members do not say.
func (a asked) digest() string {
	a.Token, a.Version, a.Deadline = "", "", time.Time{}
	if a.Summed {
		a.Detail = ""
	}
	raw, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		return "" // it is then as if all of it had changed
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// described is all that a question says and takes.
func described(q api.OpenQuestion, whose string) asked {
	sum := sha256.Sum256([]byte(q.Token))
	a := asked{
		Number: q.Number, Token: q.Token, Version: hex.EncodeToString(sum[:8]), Title: legible.Text(q.Title), Direction: "auto", Session: q.Session,
		Name: legible.Text(cmp.Or(q.Name, q.Agent)), Request: legible.Text(q.Request),
		Deadline: q.Deadline, Parked: q.Parked, MoreTime: !q.Parked, Arguments: q.Call != "", Answerable: whose == "" && q.Token != "",
		Whose:  whose,
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

// markedChoices are choices in the words of others, which say so to the page.
func markedChoices(choices []aaep.Choice) []aaep.Choice {
	marked := slices.Clone(choices)
	for i, c := range marked {
		if !strings.HasPrefix(c.Label, string(legible.FirstIsolate)) {
			marked[i].Label = string(legible.FirstIsolate) + c.Label + string(legible.PopIsolate)
		}
	}
	return marked
}

// answers tells whether somebody may answer this very question: an approver for its owner.
// Buttons are there for nobody else.
func answers(who Principal, q api.OpenQuestion) bool {
	return who.May(api.Answer) && who.Approves(q.Owner)
}

// unanswerable says why somebody may not answer a question, "" where they may.
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

// until says until when a question can be answered. How long that is would be wrong a
// moment later: the announcer says when the end is near.
func until(q api.OpenQuestion, now time.Time, zone *time.Location) string {
	if q.Deadline.IsZero() || q.Parked {
		return ""
	}
	asked := announce.Question{Deadline: q.Deadline}
	if e, err := aaep.DecodeEvent(q.Event); err == nil {
		if read, asks := announce.ReadQuestion(e); asks {
			asked.Waiting, asked.Unlimited = read.Waiting, read.Unlimited
		}
	}
	return asked.Until(now, zone)
}

// counted is a number of things.
func counted(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// askedNumber is the number of the question that an event asks, or 0.
func askedNumber(e aaep.Event) int {
	var members struct {
		Question int `json:"question"`
	}
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &members) != nil {
		return 0
	}
	return members.Question
}
