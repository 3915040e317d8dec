package session_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

const (
	asError   = aaep.SeverityError
	asWarning = aaep.SeverityWarning
	asInfo    = aaep.SeverityInfo
)

// question is a linked confirmation in the right place; call is an invocation on it.
const (
	open      = "started\nstate from_state=idle to_state=thinking\n"
	question  = "state from_state=thinking to_state=awaiting_input\nconfirmation extra_context.tool=delete extra_context.tool_call_id=call_1\n"
	yes       = "state from_state=awaiting_input to_state=deciding extensions.earshot.resolution=accepted\n"
	no        = "state from_state=awaiting_input to_state=deciding extensions.earshot.resolution=rejected\n"
	call      = "state from_state=deciding to_state=calling_tool\ninvoked tool=delete tool_call_id=call_1 irreversible=true risk_level=high\ndone tool=delete tool_call_id=call_1\n"
	loose     = "state from_state=thinking to_state=awaiting_input\nconfirmation\n" // names no call
	looseMild = "state from_state=thinking to_state=awaiting_input\nconfirmation irreversible=false\nconfirmation action=Other. reply_token=rpl_2 irreversible=false\n"
	early     = open + "invoked tool=delete tool_call_id=call_1\n" // before anybody is asked, as some producers do
	failing   = "done tool=delete tool_call_id=call_1 status=error error_message=No.\n"
	closing   = "completed\n"
)

// ruleCases holds for each sequence rule streams that keep it and streams that break
// it. A stream that keeps a rule has no error at all.
var ruleCases = []struct {
	rule     string
	severity aaep.Severity
	keeps    []string
	breaks   []string
}{
	{"ENV-19", asError, []string{"started\ncompleted"}, []string{"started\nstate from_state=idle to_state=thinking event_id=evt_0\ncompleted", "started\nstarted session_id=sess_2 event_id=evt_0\ncompleted\ncompleted session_id=sess_2"}},
	{"ENV-20", asError, []string{"started\nrepeat\ncompleted\nrepeat"}, []string{"started\nprogress event_id=evt_0\ncompleted"}},
	{"ENV-23", asError, []string{"started\ncompleted\nstarted session_id=sess_2\ncompleted session_id=sess_2"}, []string{"started\ncompleted\nstarted"}},
	{"ENV-28", asError, []string{"started at=5\nprogress at=5\ncompleted at=6", "started at=5\nstarted at=1 session_id=sess_2\ncompleted at=6\ncompleted at=2 session_id=sess_2"}, []string{"started at=5\nprogress at=4\ncompleted at=6"}},
	{"SEQ-01", asError, []string{"started\ncompleted"}, []string{"started\nstarted\ncompleted", "state from_state=idle to_state=thinking\ncompleted"}},
	{"SEQ-02", asError, []string{"started\nprogress\ncompleted"}, []string{"progress\nstarted\ncompleted"}},
	{"SEQ-03", asError, []string{"started\ncompleted", "started\nerrored", "started\ncancelled"}, []string{"started", "started\ncompleted\ncompleted", "started\nerrored\ncompleted"}},
	{"SEQ-04", asError, []string{"started\ncompleted\nrepeat"}, []string{"started\ncompleted\nprogress", "started\ncompleted\nstate from_state=idle to_state=thinking"}},
	{"SEQ-05", asError, []string{"started\nerrored"}, []string{"started\nerrored\ncompleted", "started\ncancelled\ncompleted", "started\ncompleted\nerrored"}},
	{"SEQ-06", asError, []string{"started\ncompleted"}, []string{"started\ncancelled\nstarted"}},
	{"SEQ-08", asError, []string{open + closing}, []string{"started\nstate from_state=thinking to_state=deciding\ncompleted"}},
	{"SEQ-09", asError, []string{
		open + "state from_state=thinking to_state=deciding\n" + closing,
		open + "state producer.agent_id=other from_state=idle to_state=deciding\n" + closing, // SEQ-47
	}, []string{open + "state from_state=deciding to_state=thinking\n" + closing}},
	{"SEQ-10", asError, []string{
		open + "invoked\ndone\nstate from_state=calling_tool to_state=deciding\n" + closing,
		open + "invoked\ndone\nstate from_state=thinking to_state=deciding\n" + closing,
		open + "chunk complete=true\nstate from_state=writing_output to_state=deciding\n" + closing,
		open + "handoff\nstate from_state=handing_off to_state=idle\n" + closing,
		open + "clarification\nstate from_state=awaiting_input to_state=thinking\n" + closing,
	}, []string{
		open + "invoked\ndone\nstate from_state=calling_tool to_state=deciding\nstate from_state=calling_tool to_state=idle\n" + closing, // implied before, not since
		open + "invoked\ndone\nstate from_state=writing_output to_state=deciding\n" + closing,
	}},
	{"SEQ-11", asWarning, []string{open + "state from_state=thinking to_state=calling_tool\ninvoked\ndone\nstate from_state=calling_tool to_state=thinking\n" + closing}, []string{open + "invoked\ndone\nstate from_state=calling_tool to_state=thinking\n" + closing}},
	{"SEQ-13", asError, []string{"started\ninvoked\ndone\ncompleted", "started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"}, []string{"started\ndone\ncompleted", "started\ndone tool_call_id=call_9\ncompleted"}},
	{"SEQ-14", asError, []string{"started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"}, []string{"started\ninvoked tool_call_id=call_1\ndone tool=other tool_call_id=call_1\ncompleted"}},
	{"SEQ-15", asError, []string{"started\ninvoked tool_call_id=call_1\ninvoked tool_call_id=call_2\ndone tool_call_id=call_2\ndone tool_call_id=call_1\ncompleted"}, []string{
		"started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted",
		"started\ninvoked tool_call_id=call_1\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted",
		"started\ninvoked tool_call_id=call_1\ndone\ncompleted",
		"started\ninvoked\ndone tool_call_id=call_1\ncompleted",
	}},
	{"SEQ-16", asError, []string{"started\ninvoked\ninvoked\ndone\ndone\ncompleted"}, []string{
		"started\ninvoked tool_call_id=call_1\ncompleted", "started\ninvoked\ninvoked\ndone\nerrored", "started\ninvoked",
		"started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted",
	}},
	{"SEQ-17", asError, []string{"started\ninvoked\ndone\ninvoked\ndone\ncompleted"}, []string{"started\ninvoked\ndone\ndone\ncompleted"}},
	{"SEQ-22", asError, []string{
		open + question + yes + call + closing,
		open + question + "accept\n" + "state from_state=awaiting_input to_state=deciding\n" + call + closing,
		open + question + "state from_state=awaiting_input to_state=calling_tool\ninvoked tool=delete tool_call_id=call_1 irreversible=true\ndone tool=delete tool_call_id=call_1\n" + closing,
		open + loose + "state from_state=awaiting_input to_state=calling_tool\ninvoked tool=delete irreversible=true\ndone tool=delete\n" + closing,
		open + loose + "invoked irreversible=true\ndone\n" + closing,                                                                                    // the example of §4.6
		open + loose + "confirmation reply_token=rpl_2\nstate from_state=awaiting_input to_state=deciding\ninvoked irreversible=true\ndone\n" + closing, // which of the two was refused does not show
	}, []string{
		open + "invoked irreversible=true\ndone\n" + closing,
		open + question + no + call + closing,
		open + question + "state from_state=awaiting_input to_state=deciding extensions.earshot.resolution=withdrawn\nstate from_state=deciding to_state=deciding extensions.earshot.resolution=accepted extensions.earshot.reply_token=rpl_1\n" + call + closing,
		open + question + no + "state from_state=deciding to_state=deciding extensions.earshot.resolution=accepted extensions.earshot.reply_token=rpl_1\n" + call + closing,
		open + question + "reject\naccept\nstate from_state=awaiting_input to_state=deciding\n" + call + closing,                                                                                       // the first reply counts
		open + question + "accept at=900\nstate at=901 from_state=awaiting_input to_state=deciding\n" + strings.ReplaceAll(call, "irreversible=true", "irreversible=true at=902") + "completed at=903", // too late
		open + question + "reject\n" + yes + call + closing, // the reply is believed, not the producer
		open + question + "state from_state=awaiting_input to_state=deciding\n" + call + closing,
		open + question + "state from_state=awaiting_input to_state=deciding extensions.earshot.resolution=expired\n" + call + closing,
		open + question + "state from_state=awaiting_input to_state=deciding extensions.earshot.resolution=withdrawn\n" + call + closing,
		open + question + "state from_state=awaiting_input to_state=deciding extensions.earshot.resolution=extended\n" + call + closing,
		open + question + yes + "state from_state=deciding to_state=deciding extensions.earshot.resolution=stopped extensions.earshot.reply_token=rpl_1\n" + call + closing,
		open + question + yes + "state from_state=deciding to_state=calling_tool\ninvoked tool=delete tool_call_id=call_2 irreversible=true\ndone tool=delete tool_call_id=call_2\n" + closing, // another call
		open + "state from_state=thinking to_state=awaiting_input\nconfirmation extensions.earshot.question=1\ninvoked irreversible=true\ndone\n" + closing,                                    // ours tells how it ends
		open + "invoked irreversible=true\ndone\n" + loose + "state from_state=awaiting_input to_state=calling_tool\n" + closing,                                                               // asked afterwards
	}},
	{"SEQ-22", asWarning, nil, []string{ // C-24: silence allowed it
		open + "state from_state=thinking to_state=awaiting_input\nconfirmation default_decision=accept risk_level=low extra_context.tool_call_id=call_1\nstate from_state=awaiting_input to_state=deciding extensions.earshot.resolution=expired\n" + call + closing,
	}},
	{"SEQ-23", asError, []string{
		open + loose + "confirmation reply_token=rpl_2\naccept\naccept reply_token=rpl_2\ninvoked irreversible=true\ndone\ninvoked irreversible=true\ndone\n" + closing,
		open + loose + "accept\ninvoked irreversible=true\ndone\nstate from_state=calling_tool to_state=awaiting_input\nconfirmation reply_token=rpl_2\naccept reply_token=rpl_2\ninvoked irreversible=true\ndone\n" + closing,
	}, []string{
		open + loose + "accept\ninvoked irreversible=true\ndone\ninvoked irreversible=true\ndone\n" + closing,
		open + loose + "invoked irreversible=true\ndone\ninvoked irreversible=true at=900\ndone at=901\ncompleted at=902",
	}},
	{"SEQ-24", asError, []string{
		open + question + yes + call + closing,
		open + question + yes + "cancelled",
		open + question + "accept modified_action.x=1\nstate from_state=awaiting_input to_state=deciding extensions.earshot.resolution=rejected\n" + closing, // CONF-38
		open + question + "accept modified_action.x=1\nstate from_state=awaiting_input to_state=deciding\n" + closing,
		open + question + yes + "state from_state=deciding to_state=thinking extensions.earshot.resolution=stopped\n" + closing,
		open + strings.Replace(question, "confirmation ", "confirmation extensions.earshot.enforcement=advisory ", 1) + yes + closing, // who asks does it itself
		open + looseMild + "accept\naccept reply_token=rpl_2\ninvoked\ndone\ninvoked\ndone\n" + closing,                               // each its own
		open + strings.Replace(looseMild, "irreversible=false", "irreversible=true", 1) + "accept\naccept reply_token=rpl_2\ninvoked\ndone\ninvoked irreversible=true\ndone\n" + closing,
		open + strings.Replace(looseMild, "reply_token=rpl_2 irreversible=false", "reply_token=rpl_2 irreversible=true", 1) + "accept\naccept reply_token=rpl_2\ninvoked\ndone\ninvoked irreversible=true\ndone\n" + closing,
	}, []string{
		open + question + yes + closing,
		open + strings.Replace(question, "confirmation ", "confirmation extensions.earshot.enforcement=broker-only ", 1) + yes + closing,
		open + looseMild + "accept\naccept reply_token=rpl_2\ninvoked\ndone\n" + closing,
		open + question + "state from_state=awaiting_input to_state=calling_tool\n" + closing,
		open + question + "accept\nstate from_state=awaiting_input to_state=deciding\n" + closing,
	}},
	{"SEQ-25", asError, []string{
		open + question + no + closing,
		open + question + "reject\nstate from_state=awaiting_input to_state=thinking\n" + closing,
		open + question + "reject\ncancelled",
		open + question + "state from_state=awaiting_input to_state=deciding extensions.earshot.resolution=expired\n" + closing,
	}, []string{
		open + question + "reject\n" + closing,
		open + question + "reject\nprogress",
		open + question + "completed at=900",
	}},
	{"SEQ-26", asWarning, nil, []string{open + "state from_state=thinking to_state=awaiting_input\nconfirmation irreversible=false extra_context.tool_call_id=call_1\n" + no + "invoked tool_call_id=call_1\ndone tool_call_id=call_1\n" + closing}},
	{"SEQ-29", asWarning, []string{open + question + no + closing}, []string{open + "confirmation\nstate from_state=awaiting_input to_state=thinking\n" + closing}},
	{"SEQ-30", asError, []string{
		open + question + no + closing,
		early + question + "reject\n" + failing + closing, // a tool that failed behind it tells it after a fashion
		early + loose + "reject\n" + failing + closing,
		early + loose + "reject\n" + strings.ReplaceAll(failing, "error ", "timeout ") + closing,
		early + "clarification\nclarify\n" + failing + closing,
		early + question + "progress at=900\n" + strings.ReplaceAll(failing, "done", "done at=901") + "completed at=902",
	}, []string{
		open + question + closing,
		early + question + "reject\n" + strings.ReplaceAll(failing, "status=error", "status=success") + closing,
		early + strings.ReplaceAll(question, "call_1", "call_2") + "reject\n" + failing + closing, // another call
		early + question + failing + "reject\n" + closing,                                         // before the reply
		early + question + failing + closing,                                                      // no reply at all
		early + "clarification\n" + failing + closing,
		open + question + "accept modified_action.x=1\n" + closing,
	}},
	{"SEQ-30", asWarning, []string{early + question + no + failing + closing}, []string{
		early + question + "reject\n" + failing + closing,
		early + question + "reject\n" + failing,
		early + question + "accept modified_action.x=1\n" + failing + closing,
		early + "clarification\nclarify\n" + failing + closing,
	}},
	{"SEQ-31", asError, []string{"started\nchunk output_id=out_1\nchunk output_id=out_1 position=5 complete=true\ncompleted"}, []string{
		"started\nchunk output_id=out_1\ncompleted", "started\nchunk output_id=out_1",
		"started\nchunk output_id=out_1 complete=true\nchunk output_id=out_1 position=5 complete=true\ncompleted",
	}},
	{"SEQ-32", asError, []string{"started\nchunk output_id=out_1 complete=true\nchunk output_id=out_2 complete=true\ncompleted"}, []string{"started\nchunk output_id=out_1 complete=true\nchunk output_id=out_1 position=5\ncompleted"}},
	{"SEQ-33", asError, []string{"started\nchunk\nchunk position=5 complete=true\ncompleted"}, []string{"started\nchunk\ncompleted", "started\nchunk complete=true\nchunk position=5\ncompleted"}},
	{"SEQ-34", asError, []string{
		"started\nchunk chunk=añ👍\nchunk position=3\nchunk chunk= position=8 complete=true\ncompleted",
		"started\nchunk output_id=out_1\nchunk output_id=out_2\nchunk output_id=out_1 position=5 complete=true\nchunk output_id=out_2 position=5 complete=true\ncompleted",
	}, []string{
		"started\nchunk chunk=añ👍\nchunk position=4\nchunk chunk= position=9 complete=true\ncompleted", // UTF-16 throughout (C-33)
		"started\nchunk chunk=añ👍\nchunk position=7\nchunk chunk= position=12 complete=true\ncompleted",
		"started\nchunk position=1 complete=true\ncompleted",
		"started\nchunk\nchunk position=4 complete=true\ncompleted",
		"started\nchunk\nchunk position=6 complete=true\ncompleted",
		"started\nchunk chunk=añ👍\nchunk position=4\nchunk chunk= position=8 complete=true\ncompleted", // first one unit, then another
	}},
	{"SEQ-35", asError, []string{"started\nchunk\nchunk chunk= position=5 complete=true\ncompleted"}, []string{"started\nchunk\nchunk position=5\nchunk position=3 complete=true\ncompleted"}},
	{"SEQ-36", asError, []string{"started\ninvoked\nchunk\ndone status=timeout error_message=late\nchunk chunk= position=5 complete=true\nerrored"}, []string{"started\ninvoked\nerrored", "started\nchunk\ncancelled"}},
	{"SEQ-38", asError, []string{open + question + "cancelled"}, nil},
	{"SEQ-45", asError, []string{"started\nrepeat\ninvoked tool_call_id=call_1\nrepeat\ndone tool_call_id=call_1\nrepeat\nchunk complete=true\nrepeat\ncompleted\nrepeat"}, nil},
	{"SEQ-47", asError, []string{"started\nstate from_state=idle to_state=thinking\nstate producer.agent_id=b from_state=idle to_state=deciding\nstate from_state=thinking to_state=deciding\ncompleted"}, nil},
	{"CONF-02", asWarning, []string{open + question + yes + "invoked tool=delete tool_call_id=call_1 risk_level=high\ndone tool=delete tool_call_id=call_1\n" + closing}, []string{open + "invoked risk_level=high\ndone\n" + closing}},
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, c := range ruleCases {
		for i, stream := range c.keeps {
			t.Run(c.rule+"/keeps", func(t *testing.T) {
				t.Parallel()
				found := check(t, stream)
				if names(found, c.severity, c.rule) || len(aaep.Errors(found)) > 0 {
					t.Errorf("stream %d keeps %s, found%s\n%s", i, c.rule, list(found), stream)
				}
			})
		}
		for i, stream := range c.breaks {
			t.Run(c.rule+"/breaks", func(t *testing.T) {
				t.Parallel()
				if found := check(t, stream); !names(found, c.severity, c.rule) {
					t.Errorf("stream %d breaks %s (%s), found%s\n%s", i, c.rule, c.severity, list(found), stream)
				}
			})
		}
	}
}

// check judges a whole stream. Its messages are valid by themselves, so that what is
// found is about their order.
func check(t *testing.T, stream string) []aaep.Violation {
	t.Helper()
	return checkAs(t, session.Stream{}, stream)
}

// checkAs is check for a checker that was told about the stream.
func checkAs(t *testing.T, reported session.Stream, stream string) []aaep.Violation {
	t.Helper()
	checker := session.NewStreamChecker(reported)
	var found []aaep.Violation
	for _, raw := range messages(t, stream) {
		if errors := aaep.Errors(aaep.Validate(raw, aaep.ModeProducer)); len(errors) > 0 {
			t.Fatalf("the message is wrong by itself:%s\n%s", list(errors), raw)
		}
		found = append(found, checker.Check(raw)...)
	}
	return append(found, checker.Close()...)
}

// TestSaidOnce: a stream that was joined late is told so once, not at every event.
func TestSaidOnce(t *testing.T) {
	t.Parallel()
	found := check(t, "progress\nprogress\nprogress\ncompleted")
	if len(found) != 1 || found[0].Rule != "SEQ-01" {
		t.Errorf("found%s", list(found))
	}
}

// TestUnreadable: bytes that are not an event are told, and what cannot be placed in a
// session is not judged.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	for raw, rule := range map[string]string{`{`: "ENV-02", `[]`: "ENV-01", ``: "ENV-02"} {
		if found := c.Check([]byte(raw)); !names(found, asError, rule) {
			t.Errorf("%q: found%s, want %s", raw, list(found), rule)
		}
	}
	for _, raw := range []string{`{}`, `{"session_id":5}`, `{"type":"subscription.request"}`, `{"type":"earshot:question.extend"}`, `{"type":"confirmation.reply"}`} {
		if found := c.Check([]byte(raw)); len(found) > 0 {
			t.Errorf("%s: found%s", raw, list(found))
		}
	}
	if found := c.Close(); len(found) > 0 {
		t.Errorf("found%s", list(found))
	}
}

// TestCloseEach names the sessions that a stream left unfinished, in their order.
func TestCloseEach(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	for _, raw := range messages(t, "started session_id=sess_b\nstarted session_id=sess_a\nstarted\ncompleted\ninvoked session_id=sess_a") {
		if found := aaep.Errors(c.Check(raw)); len(found) > 0 {
			t.Errorf("found%s", list(found))
		}
	}
	left := c.CloseEach()
	if len(left) != 2 || left[0].SessionID != "sess_b" || left[1].SessionID != "sess_a" || !names(left[1].Violations, asError, "SEQ-16") || names(left[0].Violations, asError, "SEQ-16") {
		t.Errorf("left %+v", left)
	}
}
