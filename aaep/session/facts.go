package session

import (
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// facts is what a checker needs to know of one message. It is read as far as it can
// be read: what is absent or of a wrong type is empty.
type facts struct {
	kind      string // type in compact form
	eventID   string
	sessionID string
	agentID   string
	when      time.Time
	timed     bool // when is known

	from, to string

	tool, callID string
	irreversible bool
	highRisk     bool

	outputID, chunk string
	position        int64
	placed          bool // position is known
	complete        bool

	replyToken        string
	timeout           int64
	defaultAccept     bool
	subject           string // the tool_call_id that a confirmation is for
	subjectTool       string
	decision          string
	modified          bool
	resolution        aaep.Resolution // extensions.earshot
	resolved          string          // the token whose question it is about
	questionNumber    string
	producerIsEarshot bool // the question has a number of ours: its end will be told
}

func read(d aaep.Document) facts {
	text := func(path ...string) string {
		value, _ := d.Text(path...)
		return value
	}
	flag := func(name string) bool {
		value, _ := d.Flag(name)
		return value
	}
	f := facts{
		kind: aaep.CompactType(text("type")), eventID: text("event_id"), sessionID: text("session_id"), agentID: text("producer", "agent_id"),
		from: text("from_state"), to: text("to_state"), tool: text("tool"), callID: text("tool_call_id"),
		irreversible: flag("irreversible"), highRisk: text("risk_level") == string(aaep.RiskHigh),
		outputID: text("output_id"), chunk: text("chunk"), complete: flag("complete"),
		replyToken: text("reply_token"), defaultAccept: text("default_decision") == string(aaep.DecisionAccept),
		subject: text("extra_context", "tool_call_id"), subjectTool: text("extra_context", "tool"),
		decision: text("decision"), modified: d.Has("modified_action"),
		resolution: aaep.Resolution(text("extensions", aaep.PrefixEarshot, "resolution")),
		resolved:   text("extensions", aaep.PrefixEarshot, "reply_token"),
	}
	f.when, f.timed = aaep.ParseTime(text("timestamp"))
	f.position, f.placed = d.Whole("position")
	f.timeout, _ = d.Whole("timeout_seconds")
	if number, ok := d.Whole("extensions", aaep.PrefixEarshot, "question"); ok {
		f.questionNumber = strconv.FormatInt(number, 10)
		f.producerIsEarshot = true
	}
	return f
}

func (f facts) terminal() bool {
	return f.kind == aaep.TypeSessionCompleted || f.kind == aaep.TypeSessionErrored || f.kind == aaep.TypeSessionCancelled
}

// implied is the state word that an event shows its producer to be in (SEQ-10), or "".
func (f facts) implied() string {
	switch f.kind {
	case aaep.TypeToolInvoked, aaep.TypeToolCompleted:
		return aaep.StateCallingTool
	case aaep.TypeOutputStreaming:
		return aaep.StateWritingOutput
	case aaep.TypeAwaitingConfirmation, aaep.TypeAwaitingClarification:
		return aaep.StateAwaitingInput
	case aaep.TypeHandoffRequested:
		return aaep.StateHandingOff
	default:
		return ""
	}
}
