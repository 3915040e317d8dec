package session

import (
	"bytes"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// facts is what a checker needs to know of one message. It is read as far as it can
// be read: what is absent or of a wrong type is empty. Its texts belong to the
// document. What few events need is looked up in the document.
type facts struct {
	document aaep.Document
	kind     kind
	number   int64 // of the message in the stream, from 1

	written                     []byte // the type, as it is written
	eventID, sessionID, agentID []byte
	when                        time.Time
	timed                       bool // when is known
	sequence                    int64
	sequenced                   bool // sequence is known
	extended                    bool // there are extensions

	version      []byte // of the producer
	from, to     []byte // states
	tool, callID []byte
	risk         []byte
	irreversible bool

	token   []byte
	action  []byte
	silence []byte // default_decision
	timeout int64
	replies bool         // there are allowed_replies
	about   aaep.Members // extra_context

	outputID, chunk []byte
	hint            []byte
	position        int64
	positioned      bool // position is known
	complete        bool
}

// read takes what every event says, and what is said by the kind of this one.
func (f *facts) read(d aaep.Document) {
	f.document = d
	at := d.KnownMembers()
	f.written = at.Member(aaep.KnownType).Bytes()
	f.kind = kindOf(f.written)
	f.eventID = at.Member(aaep.KnownEventID).Bytes()
	f.sessionID = at.Member(aaep.KnownSessionID).Bytes()
	f.when, f.timed = at.Member(aaep.KnownTimestamp).Time()
	f.sequence, f.sequenced = at.Member(aaep.KnownSequenceNumber).Whole()
	f.extended = at.Member(aaep.KnownExtensions).Exists()
	producer := at.Member(aaep.KnownProducer)
	f.agentID = producer.Text("agent_id")
	f.hint = at.Member(aaep.KnownCoalesceHint).Bytes()
	f.complete = at.Member(aaep.KnownComplete).True()
	switch f.kind {
	case started:
		f.version = producer.Text("agent_version")
	case stateChanged:
		f.from, f.to = at.Member(aaep.KnownFromState).Bytes(), at.Member(aaep.KnownToState).Bytes()
	case toolInvoked, toolCompleted:
		f.call(at)
	case outputStreaming:
		f.output(at)
	case confirmation, clarification:
		f.asked(at)
	default: // of others the order needs no more
	}
}

func (f *facts) call(at aaep.KnownMembers) {
	f.tool = at.Member(aaep.KnownTool).Bytes()
	f.callID = at.Member(aaep.KnownToolCallID).Bytes()
	f.irreversible = at.Member(aaep.KnownIrreversible).True()
	f.risk = at.Member(aaep.KnownRiskLevel).Bytes()
}

func (f *facts) output(at aaep.KnownMembers) {
	f.outputID = at.Member(aaep.KnownOutputID).Bytes()
	f.chunk = at.Member(aaep.KnownChunk).Bytes()
	f.position, f.positioned = at.Member(aaep.KnownPosition).Whole()
}

func (f *facts) asked(at aaep.KnownMembers) {
	f.token = at.Member(aaep.KnownReplyToken).Bytes()
	f.action = at.Member(aaep.KnownAction).Bytes()
	f.silence = at.Member(aaep.KnownDefaultDecision).Bytes()
	f.timeout, _ = at.Member(aaep.KnownTimeoutSeconds).Whole()
	f.replies = at.Member(aaep.KnownAllowedReplies).Exists()
	f.about = at.Member(aaep.KnownExtraContext).Inside()
}

// text returns the string at path, or "".
func (f *facts) text(path ...string) string {
	text, _ := f.document.Text(path...)
	return text
}

// is reports whether the string at path is word.
func (f *facts) is(word string, path ...string) bool {
	text, ok := f.document.Bytes(path...)
	return ok && string(text) == word
}

// subject is what a confirmation is about, where it says so: the tool in extra_context.tool
// or .tool_name, or in a member of its own, and the call in extra_context.tool_call_id. Of
// a confirmation that names neither, the action may name the tool.
func (f *facts) subject() (tool, callID []byte) {
	var other []byte
	for m := f.about; m.Next(); {
		switch string(m.Name()) {
		case "tool":
			tool = m.Bytes()
		case "tool_name":
			other = m.Bytes()
		case "tool_call_id":
			callID = m.Bytes()
		}
	}
	if len(tool) == 0 {
		tool = other
	}
	if len(tool) == 0 {
		tool = f.document.KnownMembers().Member(aaep.KnownTool).Bytes()
	}
	if len(tool) == 0 && len(callID) == 0 {
		tool = toolIn(f.action)
	}
	return tool, callID
}

// toolIn is the tool that an action names, where it is nothing but a tool's name, such as
// send_mail or files.delete, or a call, such as delete("old"). No word of a sentence is
// taken for a tool.
func toolIn(action []byte) []byte {
	action = bytes.Trim(action, " `")
	name := action
	if i := bytes.IndexFunc(action, func(r rune) bool { return !inName(r) }); i >= 0 {
		name = action[:i]
	}
	switch called := action[len(name):]; {
	case len(name) == 0 || !isLetter(rune(name[0])):
		return nil
	case len(called) == 0 && bytes.ContainsAny(name[:len(name)-1], "_.:"):
		return name
	case len(called) > 1 && called[0] == '(' && called[len(called)-1] == ')':
		return name
	default:
		return nil
	}
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// inName reports whether names of tools hold a character.
func inName(r rune) bool {
	return isLetter(r) || r >= '0' && r <= '9' || r == '_' || r == '.' || r == ':' || r == '-' || r == '/'
}

// undoing is what a confirmation says of whether its action can be undone. What takes
// effort to undo may be called irreversible or not.
func (f *facts) undoing() undoing {
	value, said := f.document.Flag("irreversible")
	switch {
	case value, f.is(string(aaep.Irreversible), "reversibility"):
		return irreversible
	case said, f.is(string(aaep.Reversible), "reversibility"):
		return reversible
	default:
		return unsaid
	}
}

// ours returns a member of extensions.earshot that is a text.
func (f *facts) ours(name string) []byte {
	if !f.extended {
		return nil
	}
	text, _ := f.document.Bytes("extensions", aaep.PrefixEarshot, name)
	return text
}

// question is the number that a question of ours has among people, or "".
func (f *facts) question() string {
	if !f.extended {
		return ""
	}
	number, ok := f.document.Whole("extensions", aaep.PrefixEarshot, "question")
	if !ok {
		return ""
	}
	return strconv.FormatInt(number, 10)
}

// span is the range of the session's events that a delivery stands for
// (extensions.earshot.span).
func (f *facts) span() (first, last int64, ok bool) {
	if !f.extended {
		return 0, 0, false
	}
	raw, ok := f.document.Value("extensions", aaep.PrefixEarshot, "span")
	if !ok {
		return 0, 0, false
	}
	numbers := [2]int64{}
	at, digits := 0, 0
	for _, c := range raw {
		switch {
		case c >= '0' && c <= '9' && digits < 16:
			numbers[at] = numbers[at]*10 + int64(c-'0')
			digits++
		case c == ',' && at == 0 && digits > 0:
			at, digits = 1, 0
		case c == '[' || c == ']' || c == ' ':
		default:
			return 0, 0, false
		}
	}
	return numbers[0], numbers[1], at == 1 && digits > 0
}
