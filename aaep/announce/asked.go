package announce

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/outline"
)

// Question is an open question as its event puts it. Its texts are the event's own and may hold
// anything; what its methods return is fit to be said. [ReadQuestion] makes it.
type Question struct {
	Session, Token string
	Number         int // 0 where its producer gives it none
	// Consent says that it takes accept or reject; else it takes words.
	Consent bool
	Text    string // what is to be done, or what is asked
	// Consequence is what happens then, or why it is asked; ByClass says that it says no more than
	// whether it can be undone.
	Consequence string
	ByClass     bool
	// AgentTool says that it is about a tool of the agent's own, of which the consequence says that Earshot cannot undo it.
	AgentTool bool
	Earlier   string // of a question that is asked again: what became of the one before
	Detail    string
	// Name is that of its session, Request what that was asked for.
	Name, Request string
	Hint          string

	Reversibility aaep.Reversibility
	Risk          aaep.Risk
	Acceptable    bool   // accept is among the allowed replies
	Default       string // what no answer means; "" where that is nothing
	Kinds         []aaep.ResponseKind
	Choices       []aaep.Choice

	Tool, Call   string
	Items, Bytes int64 // -1 where they are not given
	Arguments    Arguments

	Asked, Deadline time.Time
	Waiting         bool // nobody who can answer it has been shown it
	Unlimited       bool // its time is as long as a question's can be
}

// Arguments are what a question lists of the values that its call is about.
type Arguments struct {
	outline.Outline

	// Stated are the paths of those that the question's own sentence says in full.
	Stated []string `json:"said"`
}

// ReadQuestion reads the question that an event asks; false where it asks none.
func ReadQuestion(e aaep.Event) (Question, bool) {
	switch p := e.Payload.(type) {
	case aaep.AwaitingConfirmation:
		return confirmationOf(e, p), true
	case aaep.AwaitingClarification:
		return clarificationOf(e, p), true
	default:
		return Question{}, false
	}
}

func confirmationOf(e aaep.Event, p aaep.AwaitingConfirmation) Question {
	q := questionOf(e, p.ReplyToken, p.TimeoutSeconds)
	tool, call := p.Subject()
	class, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Text("class")
	q.Consent = true
	q.Text, q.Consequence, q.Detail = p.Action, p.Consequence, first(q.Detail, p.SummaryDetailed)
	switch {
	case p.Irreversible:
		q.Reversibility = aaep.Irreversible
	case p.Reversibility != "":
		q.Reversibility = p.Reversibility
	case class == string(aaep.Reversible):
		q.Reversibility = aaep.Reversible
	}
	q.Risk, q.Default = p.RiskLevel, string(p.DefaultDecision)
	q.Acceptable = len(p.AllowedReplies) == 0 || slices.Contains(p.AllowedReplies, aaep.DecisionAccept)
	q.Tool, q.Call = first(q.Tool, tool), first(call, q.Call)
	return q
}

func clarificationOf(e aaep.Event, p aaep.AwaitingClarification) Question {
	q := questionOf(e, p.ReplyToken, p.TimeoutSeconds)
	q.Text, q.Consequence, q.Detail = p.Question, p.Context, p.SummaryDetailed
	q.Default = p.DefaultResponse
	q.Kinds, q.Choices = p.AcceptedResponseKinds, p.Choices
	return q
}

// questionOf reads what both kinds share, our own extension data among it.
func questionOf(e aaep.Event, token string, timeout int64) Question {
	ours := aaep.Read(e.Extensions[aaep.PrefixEarshot])
	text := func(name string) string {
		value, _ := ours.Text(name)
		return value
	}
	whole := func(name string) int64 {
		if value, ok := ours.Whole(name); ok && value >= 0 {
			return value
		}
		return -1
	}
	flag := func(name string) bool {
		value, _ := ours.Flag(name)
		return value
	}
	deadline, err := time.Parse(time.RFC3339, text("deadline"))
	if err != nil { // another producer's: the event says it all (CONF-53)
		timeout = min(max(timeout, 0), int64(maxDeadline/time.Second))
		deadline = e.Time.Add(time.Duration(timeout) * time.Second)
	}
	return Question{
		Session: e.SessionID, Token: token, Number: number(ours), Earlier: text("earlier"), Detail: text("detail"), Name: text("session_name"),
		Request: text("request"), Hint: text("hint"), ByClass: flag("by_class"), AgentTool: flag("own_tool"), Tool: text("tool"), Call: CallID(text("tool_call_id")),
		Items: whole("items"), Bytes: whole("bytes"), Arguments: argumentsOf(e), Asked: e.Time, Deadline: deadline,
		Waiting: flag("waiting"), Unlimited: flag("unlimited"),
	}
}

// argumentsOf reads the list of a question's event; one of another producer has none.
func argumentsOf(e aaep.Event) Arguments {
	var ours struct {
		Arguments Arguments `json:"arguments"`
	}
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) != nil {
		return Arguments{}
	}
	return ours.Arguments
}

// CallID is the tool_call_id that events carry for one of our own call numbers.
func CallID(ours string) string {
	if h, ok := strings.CutPrefix(ours, "tc_"); ok {
		return aaep.PrefixCall + h
	}
	return ours
}

// SameAs reports whether another one asks the same, with more time at most. Its detail may say so, and
// differ, as may how long ago something was.
func (q Question) SameAs(other Question) bool {
	return reflect.DeepEqual(q.untimed(), other.untimed())
}

func (q Question) untimed() Question {
	q.Token, q.Detail, q.Earlier = "", "", ""
	q.Asked, q.Deadline, q.Waiting, q.Unlimited = time.Time{}, time.Time{}, false, false
	return q
}

// Irreversible reports whether what it asks consent to cannot be undone.
func (q Question) Irreversible() bool { return q.Reversibility == aaep.Irreversible }

// ReadFirst reports whether all that it is about has to be read before it can be accepted: what it does
// cannot be undone, or is of high risk, and its event does not list everything.
func (q Question) ReadFirst() bool {
	return q.Consent && (q.Irreversible() || q.Risk == aaep.RiskHigh) && !q.Arguments.Complete()
}

// StatesAll reports whether its own sentence says every value that it is about, or stands for it.
func (q Question) StatesAll() bool {
	return q.Arguments.Complete() && !slices.ContainsFunc(q.Arguments.Values, q.unsaid)
}

// unsaid is true for a value that the question's sentence neither says nor stands for.
func (q Question) unsaid(v outline.Value) bool {
	return v.Kind != outline.Covered && !slices.Contains(q.Arguments.Stated, v.Path)
}
