package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// Pieces of streams of a producer that does not tell how its questions end. The question is message
// 3; it names its call, and its time is over at second 303.
const (
	ask     = open + question
	askAny  = open + loose
	entered = "state from_state=awaiting_input to_state=calling_tool\n"
	left    = "state from_state=awaiting_input to_state=thinking\n"
	doing   = "invoked tool=delete tool_call_id=call_1 irreversible=true\ndone tool=delete tool_call_id=call_1\n"
	later   = "invoked at=401 tool=delete tool_call_id=call_1 irreversible=true\ndone at=402 tool=delete tool_call_id=call_1\n"
	two     = ask + "confirmation reply_token=rpl_2 extra_context.tool=delete extra_context.tool_call_id=call_2\n"
	doing2  = "invoked tool=delete tool_call_id=call_2 irreversible=true\ndone tool=delete tool_call_id=call_2\n"
	looses  = askAny + "confirmation reply_token=rpl_2 action=Other.\n"
	granted = "accept\n" + entered + doing
	unsaid  = "invoked tool=delete tool_call_id=call_1\ndone tool=delete tool_call_id=call_1\n" // a call that does not say that it is irreversible
	idless  = "invoked tool=delete irreversible=true\ndone tool=delete\n"                       // a call without an id
)

// words is a state.changed that says how the question rpl_1 ended.
func words(resolution string) string {
	return "state from_state=awaiting_input to_state=deciding extensions.earshot.reply_token=rpl_1 extensions.earshot.resolution=" + resolution + "\n"
}

// with changes the question of a stream.
func with(stream, change string) string {
	return strings.ReplaceAll(stream, "confirmation ", "confirmation "+change+" ")
}

// asks is a stream up to a question that names no call.
func asks(members string) string {
	return strings.Replace(askAny, "confirmation", "confirmation "+members, 1)
}

// consentCases hold of each stream the messages with an error SEQ-22, and those with a warning of it.
var consentCases = []struct {
	name   string
	stream string
	errors []int
	warns  []int
	told   session.Stream
}{
	{name: "a yes, then the call", stream: ask + "accept\n" + entered + doing},
	{name: "a yes, and the call at once", stream: ask + "accept\n" + doing + left},
	{name: "nothing is shown", stream: ask + doing + left},
	{name: "a move that tells of a yes", stream: ask + entered + doing},
	{name: "a yes of which no move tells", stream: ask + "accept\n" + left + doing},

	{name: "the call, then a no", stream: ask + doing + "reject\n" + left, errors: []int{6}},
	{name: "the call, then a yes", stream: ask + doing + "accept\n" + left, errors: []int{6}},
	{name: "the call, then a yes to something else", stream: ask + doing + "accept modified_action.to=B\n" + left, errors: []int{6}},
	{name: "the call, then a yes that is late", stream: ask + doing + "accept at=900\n" + left, errors: []int{6}},
	{name: "the call, then a no twice", stream: ask + doing + "reject\nreject\n" + left, errors: []int{6}},
	{name: "the call, then a no behind the deadline", stream: ask + doing + "progress at=400\nreject at=9\nstate at=401 from_state=awaiting_input to_state=thinking", errors: []int{7}},
	{name: "a move that tells of a yes, the call, a no", stream: ask + entered + doing + "reject", errors: []int{7}},
	{name: "a move that tells of a yes, a no, the call", stream: ask + entered + "reject\n" + doing, errors: []int{6}},
	{name: "a move that tells of a yes, the yes, the call", stream: ask + entered + "accept\n" + doing},
	{name: "the call, the end, a no", stream: ask + doing + left + "completed\nreject", errors: []int{8}},
	{name: "the call, the end, a yes twice", stream: ask + doing + "cancelled\naccept\naccept", errors: []int{7}},
	{name: "a yes, the call, the end, a no", stream: ask + "accept\n" + doing + left + "completed\nreject"},
	{name: "the call, the end, another's answer", stream: ask + doing + left + "completed\nreject reply_token=rpl_2\nclarify"},
	{name: "the call, the end, an answer that the question does not take", stream: with(ask, `allowed_replies=["accept"]`) + doing + left + "completed\nreject"},

	{name: "a no, then the call", stream: ask + "reject\n" + entered + doing, errors: []int{6}},
	{name: "a no, a yes, the call", stream: ask + "reject\naccept\n" + entered + doing, errors: []int{7}},
	{name: "a yes, the call, the no of another", stream: ask + "accept\n" + entered + doing + "reject"},
	{name: "a yes, the no of another, the call", stream: ask + "accept\nreject\n" + entered + doing},
	{name: "an answer of another kind", stream: ask + doing + "clarify\n" + left},
	{name: "an answer that the question does not take", stream: with(ask, `allowed_replies=["accept"]`) + doing + "reject\n" + left},
	{name: "an answer that is none", stream: ask + doing + "reject decision=perhaps\n" + left},
	{name: "an answer before the question", stream: open + "reject\n" + question + entered + doing},

	{name: "thinking tells of a no", stream: ask + left + "state from_state=thinking to_state=calling_tool\n" + doing, errors: []int{6}},
	{name: "deciding tells of a no", stream: ask + "state from_state=awaiting_input to_state=deciding\n" + doing, errors: []int{5}},
	{name: "thinking tells of a no, and nothing is named", stream: askAny + left + "state from_state=thinking to_state=calling_tool\n" + doing, errors: []int{6}},
	{name: "thinking tells of a no, then a yes", stream: ask + left + "accept\n" + doing, errors: []int{6}},
	{name: "other work beside it, thinking tells of a no", stream: askAny + "invoked tool_call_id=call_9\ndone tool_call_id=call_9\n" + left + doing, errors: []int{7}},
	{name: "another state tells nothing", stream: ask + "state from_state=awaiting_input to_state=writing_output\n" + doing},
	{name: "thinking behind the call tells nothing", stream: ask + doing + left + "state from_state=thinking to_state=deciding"},

	{name: "the deadline", stream: ask + later, errors: []int{4}},
	{name: "just before it", stream: ask + strings.ReplaceAll(later, "at=401", "at=302")},
	{name: "at it", stream: ask + strings.ReplaceAll(later, "at=401", "at=303"), errors: []int{4}},
	{name: "a yes in time, the call behind it", stream: ask + "accept\n" + later},
	{name: "a move that tells of a yes in time, the call behind it", stream: ask + entered + later},
	{name: "a move that tells of a yes behind it", stream: ask + "state at=303 from_state=awaiting_input to_state=calling_tool\n" + later, errors: []int{5}},
	{name: "a move that tells of two questions behind it", stream: two + "state at=303 from_state=awaiting_input to_state=calling_tool\n" + later, errors: []int{6}},
	{name: "a yes dated in time that comes behind it", stream: ask + "progress at=303\naccept at=9\n" + later, errors: []int{6}},
	{name: "the deadline, and nothing is named", stream: askAny + later, errors: []int{4}},
	{name: "the deadline, other work before it", stream: askAny + "invoked tool_call_id=call_9\ndone tool_call_id=call_9\n" + later, errors: []int{6}},
	{name: "silence means yes", stream: with(ask, "default_decision=accept risk_level=low") + later, warns: []int{4}},
	{name: "silence means yes, and a move tells it", stream: with(ask, "default_decision=accept risk_level=low") + "state at=400 from_state=awaiting_input to_state=calling_tool\n" + later, warns: []int{5}},
	{name: "silence means yes, and a yes comes late", stream: with(ask, "default_decision=accept risk_level=low") + "accept at=400\n" + later, warns: []int{5}},
	{name: "silence means yes, the call, a no", stream: with(ask, "default_decision=accept risk_level=low") + later + "reject at=403", warns: []int{4}},
	{name: "a question without a time", stream: with(ask, "timeout_seconds=-") + later},
	{name: "moves are filtered out", stream: "started\n" + strings.SplitN(question, "\n", 2)[1] + later, told: session.Stream{Terms: terms("aaep:agent.state.*")}},
	{name: "moves may come late", stream: ask + "state at=303 from_state=awaiting_input to_state=calling_tool\n" + later, told: session.Stream{Terms: &aaep.Capabilities{MaxEventsPerSecond: 1, SupportsConfirmationReply: new(true)}}},

	{name: "a late yes", stream: ask + "accept at=400\n" + "state at=400 from_state=awaiting_input to_state=calling_tool\n" + later, errors: []int{6}},
	{name: "a yes at the deadline", stream: ask + "accept at=303\n" + doing, errors: []int{5}},
	{name: "a late yes behind a move that told of one", stream: ask + entered + "accept at=400\n" + later, errors: []int{6}},
	{name: "a late yes, and the producer's word", stream: ask + "accept at=400\n" + strings.ReplaceAll(words("accepted"), "state ", "state at=400 ") + later, errors: []int{6}},
	{name: "the producer's word alone", stream: ask + strings.ReplaceAll(words("accepted"), "state ", "state at=400 ") + later},

	{name: "a yes to something else", stream: ask + "accept modified_action.to=B\n" + entered + doing, errors: []int{6}},
	{name: "a yes to something else, and the producer's word", stream: ask + "accept modified_action.to=B\n" + words("accepted") + doing, errors: []int{6}},
	{name: "a no to something else", stream: ask + "reject modified_action.to=B\n" + entered + doing, errors: []int{6}},

	{name: "a yes to what can be undone", stream: with(ask, "irreversible=false") + "accept\n" + entered + doing, errors: []int{6}},
	{name: "it is called reversible", stream: with(ask, "irreversible=- reversibility=reversible") + "accept\n" + entered + doing, errors: []int{6}},
	{name: "it is called both", stream: with(ask, "irreversible=false reversibility=irreversible") + "accept\n" + entered + doing},
	{name: "nothing is said of undoing", stream: with(ask, "irreversible=-") + "accept\n" + entered + doing, warns: []int{6}},
	{name: "undoing takes effort", stream: with(ask, "irreversible=- reversibility=reversible_with_effort") + "accept\n" + entered + doing, warns: []int{6}},
	{name: "undoing takes effort, and it is irreversible", stream: with(ask, "reversibility=reversible_with_effort") + "accept\n" + entered + doing},
	{name: "what can be undone is done", stream: with(ask, "irreversible=false") + "accept\n" + entered + strings.ReplaceAll(doing, "irreversible=true", "irreversible=false")},

	{name: "a yes to this tool", stream: asks("extra_context.tool=delete") + granted},
	{name: "a yes to another tool", stream: asks("extra_context.tool=scan") + granted, errors: []int{6}},
	{name: "a yes to another tool, and the call has no id", stream: asks("extra_context.tool=scan") + "accept\n" + entered + idless, errors: []int{6}},
	{name: "another tool, and nothing else is shown", stream: asks("extra_context.tool=scan") + doing + left, errors: []int{4}},
	{name: "another tool, and a move that tells of a yes", stream: asks("extra_context.tool=scan") + entered + doing, errors: []int{5}},
	{name: "another tool, and the call's id", stream: strings.Replace(ask, "tool=delete", "tool=scan", 1) + granted, errors: []int{6}},
	{name: "no tool, and the call's id", stream: strings.Replace(ask, "extra_context.tool=delete ", "", 1) + granted},
	{name: "another tool, by its other name", stream: asks("extra_context.tool_name=scan") + granted, errors: []int{6}},
	{name: "this tool, by its other name", stream: asks("extra_context.tool_name=delete") + granted},
	{name: "another tool, named beside the action", stream: asks("tool=scan") + granted, errors: []int{6}},
	{name: "a tool that is not a name", stream: asks(`extra_context.tool=["scan"]`) + granted},
	{name: "the action is another tool", stream: asks("action=files.trash") + granted, errors: []int{6}},
	{name: "the action is a call of another tool", stream: asks("action=scan(old)") + granted, errors: []int{6}},
	{name: "the action is a call of this tool", stream: asks("action=delete(old)") + granted},
	{name: "the action is a sentence", stream: asks("action=Send~the~list~of~files.trash~to~a_friend.") + granted},
	{name: "the action is a word", stream: asks("action=trash") + granted},
	{name: "the action is another tool, and the call's id", stream: with(ask, "action=files.trash") + granted},
	{name: "the action is another tool, and this one is named", stream: asks("action=files.trash extra_context.tool=delete") + granted},
	{name: "a yes to another tool, and one that names nothing", stream: asks("extra_context.tool=scan") + "confirmation reply_token=rpl_2 action=Other.\naccept\naccept reply_token=rpl_2\n" + doing},
	{name: "a yes to another tool, a no to this one", stream: asks("extra_context.tool=scan") + "confirmation reply_token=rpl_2 extra_context.tool=delete\naccept\nreject reply_token=rpl_2\n" + doing, errors: []int{7}},
	{name: "a no to another tool, a yes to this one", stream: asks("extra_context.tool=scan") + "confirmation reply_token=rpl_2 extra_context.tool=delete\nreject\naccept reply_token=rpl_2\n" + doing},
	{name: "two calls of two tools, one yes to each", stream: asks("extra_context.tool=delete") + "confirmation reply_token=rpl_2 action=Other. extra_context.tool=scan\naccept\naccept reply_token=rpl_2\ninvoked tool_call_id=call_7 irreversible=true\ndone tool_call_id=call_7\n" + doing},
	{name: "another tool, and anyone who listens came late", stream: asks("extra_context.tool=scan")[len("started\n"):] + granted, told: session.Stream{JoinedLate: true}},

	{name: "a no, then the call, which does not say that it is irreversible", stream: ask + "reject\n" + entered + unsaid, errors: []int{6}},
	{name: "a no, then the call, which says that it is not irreversible", stream: ask + "reject\n" + entered + strings.Replace(unsaid, "call_1", "call_1 irreversible=false", 1), errors: []int{6}},
	{name: "the call, which does not say that it is irreversible, then a no", stream: ask + unsaid + "reject\n" + left, errors: []int{6}},
	{name: "a yes, then the call, which does not say that it is irreversible", stream: ask + "accept\n" + entered + unsaid},
	{name: "a no to what can be undone, then the call", stream: with(ask, "irreversible=false") + "reject\n" + entered + unsaid},
	{name: "a no to what may be irreversible, then the call", stream: with(ask, "irreversible=-") + "reject\n" + entered + unsaid},
	{name: "a no that names no call, then a call that does not say that it is irreversible", stream: askAny + "reject\n" + entered + unsaid},

	{name: "the call, then the word rejected", stream: ask + doing + words("rejected"), errors: []int{6}},
	{name: "the call, then the word withdrawn", stream: ask + doing + words("withdrawn"), errors: []int{6}},
	{name: "the call, then the word extended", stream: ask + doing + words("extended"), errors: []int{6}},
	{name: "the call, then the word expired", stream: ask + doing + words("expired"), errors: []int{6}},
	{name: "the call, then the word expired, where silence means yes", stream: with(ask, "default_decision=accept risk_level=low") + doing + words("expired")},
	{name: "the call, then the word accepted", stream: ask + doing + words("accepted")},
	{name: "the call, then the word stopped", stream: ask + doing + words("stopped")},
	{name: "the word accepted, the call, the no of another", stream: ask + words("accepted") + doing + "reject"},
	{name: "a numbered question is told of once", stream: with(ask, "extensions.earshot.question=1") + doing + "reject\n" + left, errors: []int{4}},

	{name: "two questions, a no and a yes", stream: two + "reject\n" + left + "state from_state=thinking to_state=awaiting_input\naccept reply_token=rpl_2\n" + entered + doing2},
	{name: "two questions, a no and a yes, and the wrong call", stream: two + "reject\n" + left + "state from_state=thinking to_state=awaiting_input\naccept reply_token=rpl_2\n" + entered + doing + doing2, errors: []int{10}},
	{name: "two questions, one move", stream: two + left + doing},
	{name: "two questions, one move, the call, a no", stream: two + left + doing + "reject", errors: []int{8}},
	{name: "two questions, one move, a no, the call", stream: two + left + "reject\n" + doing, errors: []int{7}},
	{name: "one question behind another's call", stream: ask + "accept\n" + doing + "confirmation reply_token=rpl_2 extra_context.tool=delete extra_context.tool_call_id=call_2\n" + left + doing2, errors: []int{9}},
	{name: "one question behind another's call that can be undone", stream: with(ask, "irreversible=false") + "accept\ninvoked tool=delete tool_call_id=call_1\ndone tool=delete tool_call_id=call_1\nconfirmation reply_token=rpl_2 extra_context.tool=delete extra_context.tool_call_id=call_2\n" + left + doing2, errors: []int{9}},
	{name: "a clarification beside it", stream: ask + "clarification reply_token=rpl_2\n" + left + doing},
	{name: "two that name nothing, one yes", stream: looses + "accept\n" + doing},
	{name: "two that name nothing, the other yes", stream: looses + "accept reply_token=rpl_2\nreject\n" + doing},
	{name: "two that name nothing, one of which can be undone", stream: strings.ReplaceAll(looses, "action=Other.", "action=Other. irreversible=false") + "accept\naccept reply_token=rpl_2\n" + doing},
	{name: "two that name nothing, one of which says nothing", stream: strings.ReplaceAll(looses, "action=Other.", "action=Other. irreversible=-") + doing + "accept reply_token=rpl_2"},

	{name: "more time, a yes", stream: ask + words("extended") + "confirmation reply_token=rpl_2 extra_context.tool_call_id=call_1\naccept reply_token=rpl_2\n" + doing},
	{name: "more time, a yes with the old token", stream: ask + "extend\n" + words("extended") + "confirmation reply_token=rpl_2 extra_context.tool_call_id=call_1\naccept\n" + doing + "reject reply_token=rpl_2", errors: []int{10}},
	{name: "taken back, asked again, a yes", stream: ask + left + "state from_state=thinking to_state=awaiting_input\nconfirmation reply_token=rpl_2 extra_context.tool_call_id=call_1\naccept reply_token=rpl_2\n" + entered + doing},
	{name: "taken back, asked again, a yes with the old token", stream: ask + left + "state from_state=thinking to_state=awaiting_input\nconfirmation reply_token=rpl_2 extra_context.tool_call_id=call_1\naccept\nreject reply_token=rpl_2\n" + entered + doing, errors: []int{10}},
	{name: "more time is asked for", stream: ask + "extend\n" + later, errors: []int{5}},
}

// TestConsent: an irreversible call rests on a yes to what was asked, and what the stream shows against
// it, before or behind the call, is an error. Where it shows nothing, there is none.
func TestConsent(t *testing.T) {
	t.Parallel()
	for _, c := range consentCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checker := session.NewStreamChecker(c.told)
			var broken, weak []int
			for i, raw := range messages(t, c.stream) {
				found := checker.Check(raw)
				if names(found, asError, "SEQ-22") {
					broken = append(broken, i)
				}
				if names(found, asWarning, "SEQ-22") {
					weak = append(weak, i)
				}
				for _, v := range aaep.Errors(found) {
					if v.Rule != "SEQ-22" {
						t.Errorf("message %d: found %s %v", i, v, v.Also)
					}
				}
			}
			if !slices.Equal(broken, c.errors) || !slices.Equal(weak, c.warns) {
				t.Errorf("SEQ-22: errors at %v and warnings at %v, want %v and %v\n%s", broken, weak, c.errors, c.warns, c.stream)
			}
		})
	}
}
