package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
	"github.com/earshot-dev/earshot/api"
)

// Question is one open question as a page shows it.
type Question struct {
	Number           int
	Token            string
	Version          string // changes when the question is asked again; says nothing of the token
	Shown            string // changes with all that is shown of it but the time to answer
	Title            string
	Language         string
	QuestionLanguage string // the language in which the agent asks, of the quotations in the title and the consequence and of the choices; "" if it is not known
	CommentLanguage  string // the language of what the agent says in the detail, of its quotations; "" if it is not known
	Direction        string
	Session          string
	Name             string // of its session
	Request          string // what that was asked for
	Values           []value
	Unread           string // what of the arguments is not among the values
	ReadFirst        bool   // it can be accepted where all of the arguments were read
	Consequence      string
	Detail           string
	Summed           bool // the detail is the summary of a clarification
	Hint             string
	Effect           string // whether it can be undone
	Irreversible     bool
	Risk             string
	Act              string // what an accept does, in two to six words of English; "" where nothing short says it
	Asked            string // since when it is open
	Until            string
	Deadline         time.Time
	Silence          string // what no answer means
	Presence         string // that a yes takes a passkey; "" if it does not
	PasskeyOnly      string // the one choice that takes it
	Accept           bool
	Reject           bool
	Choices          []aaep.Choice
	YesNo            bool
	Text             bool
	Numeric          bool
	Arguments        bool
	Answerable       bool
	WhyNot           string // why not, where it is not
	Parked           bool   // its turn is not under way here
	MoreTime         bool
	Form, Back       string // of the page that it stands on
}

// NewQuestion makes what is shown of a question. Whose is why its reader may not answer it, "" where they may; times are
// told in the zone.
func NewQuestion(q api.OpenQuestion, whose string, now time.Time, zone *time.Location) Question {
	a := described(q, whose)
	if a.Parked { // a no is all that it takes
		a.Accept, a.YesNo, a.Text, a.Numeric, a.Choices = false, false, false, false, nil
	}
	a.Shown = a.digest()
	a.Until = until(q, now, zone)
	if !q.Asked.IsZero() {
		a.Asked = clock(q.Asked, now, zone)
	}
	return a
}

// ShownIn is the language of the question, for the receipt of its answer; "" is English.
func (a Question) ShownIn() string {
	if a.Language == english {
		return ""
	}
	return a.Language
}

// againChoice is the choice, about an unknown outcome, that says yes to something.
const againChoice = "ask again"

// Together reports whether it can be answered with others in one act: a plain yes or no, by its reader, and without a
// passkey, which signs one at a time.
func (a Question) Together() bool {
	return a.Answerable && a.Reject && a.Presence == "" && (a.Accept || a.ReadFirst) && !a.Parked
}

// digest names what is shown of a question, but for the time to answer it: anyone who is given more
// time has read all of it. The summary of a clarification says its time too, and nothing that its
// other members do not say.
func (a Question) digest() string {
	a.Token, a.Version, a.Asked, a.Deadline = "", "", "", time.Time{}
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
func described(q api.OpenQuestion, whose string) Question {
	sum := sha256.Sum256([]byte(q.Token))
	a := Question{
		Number: q.Number, Token: q.Token, Version: hex.EncodeToString(sum[:8]), Title: legible.Text(q.Title), Direction: "auto", Session: q.Session,
		Name: legible.Text(cmp.Or(q.Name, q.Agent)), Request: legible.Text(q.Request),
		Deadline: q.Deadline, Parked: q.Parked, MoreTime: !q.Parked, Arguments: q.Call != "", Answerable: whose == "" && q.Token != "",
		WhyNot: whose,
		Accept: q.Kind == "confirmation", Reject: q.Kind == "confirmation",
	}
	e, err := aaep.DecodeEvent(q.Event)
	if err != nil {
		a.Text = !a.Accept
		return a
	}
	a.Language, a.Direction = language(e)
	if a.Hint = legible.Text(e.Extension(aaep.PrefixEarshot, "hint")); a.Hint != "" && a.ShownIn() != "" {
		a.Hint = string(isolate) + a.Hint + string(isolateEnd) // it is the tool's own, which nobody has translated
	}
	a.Detail = legible.Text(e.Extension(aaep.PrefixEarshot, "detail"))
	if q, asks := announce.ReadQuestion(e); asks {
		a.Effect, a.Silence, a.Presence, a.Irreversible = q.Effect(), q.Silence(), q.Presence(), q.Irreversible()
		if a.Presence != "" && !q.Consent {
			a.PasskeyOnly = againChoice
		}
	}
	switch p := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		if a.Detail != "" { // the summary, which stands for it otherwise, quotes others too
			a.CommentLanguage = e.Extension(aaep.PrefixEarshot, "agent_language")
		}
		a.confirmation(p, q.English)
		a.arguments(e)
	case aaep.AwaitingClarification:
		a.clarification(p)
		a.QuestionLanguage = e.Extension(aaep.PrefixEarshot, "agent_language")
		if a.QuestionLanguage == "" && e.Extension(aaep.PrefixEarshot, "tool") == "" { // the agent's own question, in no known language
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

// confirmation is what a question for consent says. English is what it asks in English, where it is in another language.
func (a *Question) confirmation(p aaep.AwaitingConfirmation, english string) {
	a.Title = cmp.Or(legible.Text(p.Action), a.Title)
	a.Act = act(english)
	if a.ShownIn() == "" {
		a.Act = act(p.Action)
	}
	a.Consequence = legible.Text(p.Consequence)
	a.Detail = cmp.Or(a.Detail, legible.Text(p.SummaryDetailed))
	a.Risk = string(p.RiskLevel)
	if len(p.AllowedReplies) > 0 {
		a.Accept = slices.Contains(p.AllowedReplies, aaep.DecisionAccept)
		a.Reject = slices.Contains(p.AllowedReplies, aaep.DecisionReject)
	}
}

func (a *Question) clarification(p aaep.AwaitingClarification) {
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

// arguments adds what a question's event lists of its arguments. What cannot be undone, or is of high
// risk, is accepted only where all of them were shown: in the list, or on the pages of the arguments.
func (a *Question) arguments(e aaep.Event) {
	var ours struct {
		Arguments outline.Outline `json:"arguments"`
		ByClass   bool            `json:"by_class"`
	}
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) != nil {
		return
	}
	if ours.ByClass && a.Effect != "" {
		a.Consequence = "" // it says no more than the effect
	}
	for _, v := range ours.Arguments.Values {
		if v.Kind != outline.Empty || v.Path != "" {
			a.Values = append(a.Values, shownValue(v))
		}
	}
	switch n := ours.Arguments.Unread(); n {
	case 0:
		return
	case 1:
		a.Unread = "1 value is not shown here in full."
	default:
		a.Unread = legible.Counted(n, "value") + " are not shown here in full."
	}
	if p, asks := e.Payload.(aaep.AwaitingConfirmation); asks && (p.Irreversible || p.RiskLevel == aaep.RiskHigh) {
		a.ReadFirst = slices.Contains(p.AllowedReplies, aaep.DecisionAccept) || len(p.AllowedReplies) == 0
		a.Accept = false
	}
}

// clock is a time of the day, with its date where that is not today's.
func clock(at, now time.Time, zone *time.Location) string {
	at, now = at.In(zone), now.In(zone)
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("15:04 on 2 January")
}
