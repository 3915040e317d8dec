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

// Question is an open question, read from its event. Its texts come from the event and may contain anything; what its
// methods return is safe to speak. [ReadQuestion] creates it.
type Question struct {
	Session, Token string
	Number         int // 0 if its producer gives it none
	// Consent reports that it takes accept or reject; otherwise it takes a text.
	Consent bool
	Text    string // the action, or what is asked
	// Consequence is what happens then, or why it is asked; ByClass reports that it only says whether the action can be
	// undone.
	Consequence string
	ByClass     bool
	// AgentTool reports that it is about a tool of the agent, whose consequence says that Earshot cannot undo it.
	AgentTool bool
	Earlier   string // for a repeated question: what happened to the previous one
	Detail    string
	// Name is the name of its session, Request the person's request.
	Name, Request string
	Hint          string

	Reversibility aaep.Reversibility
	Risk          aaep.Risk
	Acceptable    bool   // accept is among the allowed replies
	Passkey       bool   // a yes takes a passkey, which is used on the page
	Default       string // what no answer means; "" if nothing
	Kinds         []aaep.ResponseKind
	Choices       []aaep.Choice

	Tool, Call   string
	Items, Bytes int64 // -1 if unknown
	Arguments    Arguments

	Asked, Deadline time.Time
	Waiting         bool // nobody who can answer it has seen it
	Unlimited       bool // it has the longest time that a question can have
}

// Arguments are the values of its call that a question lists.
type Arguments struct {
	outline.Outline

	// Stated are the paths of those that the question's own sentence states in full.
	Stated []string `json:"said"`
}

// ReadQuestion reads the question that an event asks; it returns false if the event asks none.
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

// questionOf reads what both kinds of questions share, including our own extension data.
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
	if err != nil { // from another producer: the event contains everything (CONF-53)
		timeout = min(max(timeout, 0), int64(maxDeadline/time.Second))
		deadline = e.Time.Add(time.Duration(timeout) * time.Second)
	}
	return Question{
		Session: e.SessionID, Token: token, Number: number(ours), Earlier: text("earlier"), Detail: text("detail"), Name: text("session_name"),
		Request: text("request"), Hint: text("hint"), ByClass: flag("by_class"), AgentTool: flag("own_tool"), Passkey: flag("passkey"),
		Tool: text("tool"), Call: CallID(text("tool_call_id")),
		Items: whole("items"), Bytes: whole("bytes"), Arguments: argumentsOf(e), Asked: e.Time, Deadline: deadline,
		Waiting: flag("waiting"), Unlimited: flag("unlimited"),
	}
}

// argumentsOf reads the list of values in a question's event; events of other producers have none.
func argumentsOf(e aaep.Event) Arguments {
	var ours struct {
		Arguments Arguments `json:"arguments"`
	}
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) != nil {
		return Arguments{}
	}
	return ours.Arguments
}

// CallID returns the tool_call_id in events for one of our call numbers.
func CallID(ours string) string {
	if h, ok := strings.CutPrefix(ours, "tc_"); ok {
		return aaep.PrefixCall + h
	}
	return ours
}

// SameAs reports whether the other question is the same, with at most more time. The detail, and how long ago something
// was, may differ.
func (q Question) SameAs(other Question) bool {
	return reflect.DeepEqual(q.untimed(), other.untimed())
}

func (q Question) untimed() Question {
	q.Token, q.Detail, q.Earlier = "", "", ""
	q.Asked, q.Deadline, q.Waiting, q.Unlimited = time.Time{}, time.Time{}, false, false
	return q
}

// Presence says that a yes takes a passkey; "" if it does not.
func (q Question) Presence() string {
	switch {
	case !q.Passkey:
		return ""
	case q.Consent:
		return "Accepting takes your passkey, on the page."
	default:
		return "To be asked again takes your passkey, on the page."
	}
}

// Irreversible reports whether the action cannot be undone.
func (q Question) Irreversible() bool { return q.Reversibility == aaep.Irreversible }

// ReadFirst reports whether everything that it is about must be read before it can be accepted: the action cannot be
// undone or has a high risk, and the event does not list everything.
func (q Question) ReadFirst() bool {
	return q.Consent && (q.Irreversible() || q.Risk == aaep.RiskHigh) && !q.Arguments.Complete()
}

// StatesAll reports whether its own sentence states or summarises every value that it is about.
func (q Question) StatesAll() bool {
	return q.Arguments.Complete() && !slices.ContainsFunc(q.Arguments.Values, q.unsaid)
}

// unsaid reports whether the question's sentence neither states nor summarises a value.
func (q Question) unsaid(v outline.Value) bool {
	return v.Kind != outline.Covered && !slices.Contains(q.Arguments.Stated, v.Path)
}
