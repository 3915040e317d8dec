package session_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// moving tells every transition, as a good producer does.
const (
	calling  = "state from_state=thinking to_state=calling_tool\n"
	writing  = "state from_state=thinking to_state=writing_output\n"
	thinking = "state from_state=calling_tool to_state=thinking\n"
)

// streamCases are rules of whole streams beside those of ruleCases: advice, sums, text,
// tokens, and what a stream shows that was filtered, merged, or joined late.
var streamCases = []struct {
	rule     string
	severity aaep.Severity
	told     session.Stream
	keeps    []string
	breaks   []string
}{
	{
		"ENV-19", asWarning,
		session.Stream{},
		nil,
		[]string{"started\nstarted session_id=sess_2 event_id=evt_0 producer.agent_id=b\ncompleted\ncompleted session_id=sess_2 producer.agent_id=b"},
	},
	{
		"ENV-22", asError,
		session.Stream{},
		[]string{"started\nstarted session_id=sess_2\ncompleted session_id=sess_2\ncompleted"},
		[]string{"started\nprogress session_id=sess_2\ncompleted\ncompleted session_id=sess_2"},
	},
	{
		"ENV-30", asWarning,
		session.Stream{},
		[]string{"started producer.agent_version=1.2.0\ncompleted", "started producer.agent_version=v1\ncompleted"},
		[]string{"started producer.agent_id=tidy-1.2.0 producer.agent_version=1.2.0\ncompleted"},
	},
	{"TINV-10", asError, session.Stream{}, []string{"started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"}, []string{"started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"}},
	{"TCOM-01", asError, session.Stream{}, []string{"started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"}, []string{"started\ninvoked tool_call_id=call_1\ndone tool=other tool_call_id=call_1\ncompleted"}},
	{"TCOM-06", asError, session.Stream{}, []string{"started\ninvoked tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"}, []string{"started\ninvoked\ndone tool_call_id=call_1\ncompleted", "started\ninvoked tool_call_id=call_1\ndone\ncompleted", "started\ndone tool_call_id=call_9\ncompleted"}},

	{
		"SEQ-11", asWarning,
		session.Stream{},
		[]string{open + calling + "invoked\ndone\n" + thinking + writing + "chunk complete=true\n" + closing},
		[]string{open + "invoked\ndone\n" + closing, open + "chunk complete=true\n" + closing},
	},
	{"SEQ-18", asError, session.Stream{}, []string{open + calling + "invoked\ndone status=timeout error_message=late\n" + closing}, []string{open + calling + "invoked\n" + closing}},
	{
		"SEQ-19", asError,
		session.Stream{},
		[]string{
			open + calling + "invoked\ndone\n" + thinking + closing,
			open + calling + "invoked\n" + thinking + "state from_state=thinking to_state=calling_tool\ndone\n" + closing,                                                                                 // a word in between
			open + calling + "invoked tool_call_id=call_1\ninvoked tool_call_id=call_2\ndone tool_call_id=call_1\n" + thinking + "done tool_call_id=call_2\n" + closing,                                   // of the first
			open + calling + "invoked\nstate from_state=calling_tool to_state=awaiting_input\nclarification\ndone\nclarify\nstate from_state=awaiting_input to_state=thinking\n" + closing,                // a question beside it
			open + calling + "invoked\nstate producer.agent_id=b from_state=idle to_state=calling_tool\nstate producer.agent_id=b from_state=calling_tool to_state=thinking\ndone\n" + thinking + closing, // another agent's
		},
		[]string{open + calling + "invoked\n" + thinking + "done\n" + closing, open + calling + "invoked\nstate from_state=calling_tool to_state=writing_output\ndone\n" + closing},
	},
	{
		"SEQ-20", asWarning,
		session.Stream{},
		[]string{open + calling + "invoked tool_call_id=call_1\ndone tool_call_id=call_1\n" + closing},
		[]string{open + calling + "invoked\ninvoked\ndone\ndone\n" + closing},
	},
	{
		"SEQ-21", asWarning,
		session.Stream{},
		[]string{
			open + calling + "invoked\ndone\n" + thinking + closing, open + calling + "invoked\n" + thinking + "state from_state=thinking to_state=calling_tool\ndone\n" + closing,
			open + question + "invoked tool_call_id=call_9\ndone tool_call_id=call_9\n" + no + closing, // work beside a question (CONF-10)
		},
		[]string{open + "invoked\ndone\n" + closing, open + calling + "invoked\n" + thinking + "progress\nstate from_state=thinking to_state=calling_tool\ndone\n" + closing},
	},
	{
		"SEQ-28", asError,
		session.Stream{},
		[]string{open + question + no + "state from_state=deciding to_state=awaiting_input\nconfirmation reply_token=rpl_2 extra_context.tool=delete extra_context.tool_call_id=call_1\nstate from_state=awaiting_input to_state=deciding extensions.earshot.resolution=rejected\n" + closing},
		[]string{open + question + "confirmation reply_token=rpl_2 extra_context.tool=delete extra_context.tool_call_id=call_1\nstate from_state=awaiting_input to_state=thinking\n" + closing},
	},
	{"SEQ-28", asWarning, session.Stream{}, nil, []string{open + loose + "confirmation reply_token=rpl_2\nstate from_state=awaiting_input to_state=thinking\n" + closing}},
	{"SEQ-30", asError, session.Stream{}, []string{open + "clarification\nstate from_state=awaiting_input to_state=thinking\n" + closing, open + "clarification\nclarify\ninvoked\ndone\n" + closing}, []string{open + "clarification\n" + closing, open + "clarification\nclarify\n" + closing}},
	{"CLA-14", asError, session.Stream{}, []string{open + "clarification\nstate from_state=awaiting_input to_state=thinking\n" + closing, open + "clarification\ncancelled"}, []string{open + "clarification\n" + closing}},
	{"SEQ-37", asError, session.Stream{}, []string{open + "state from_state=thinking to_state=handing_off\nhandoff\ncompleted", open + "handoff\ncancelled"}, nil},
	{
		"SEQ-39", asWarning,
		session.Stream{},
		[]string{open + "state from_state=thinking to_state=handing_off\nhandoff\ncompleted", open + "state from_state=thinking to_state=handing_off\nhandoff\nstate from_state=handing_off to_state=idle\ncancelled"},
		[]string{open + "state from_state=thinking to_state=handing_off\nhandoff\nstate from_state=handing_off to_state=thinking\ncompleted"},
	},
	{"SEQ-40", asError, session.Stream{}, []string{"started sequence_number=0\ncompleted sequence_number=1"}, []string{"started sequence_number=1\ncompleted sequence_number=2"}},
	{
		"SEQ-41", asError,
		session.Stream{},
		[]string{"started sequence_number=0\nrepeat\nprogress sequence_number=1\ncompleted sequence_number=2", "started sequence_number=0\nstarted session_id=sess_2 sequence_number=0\ncompleted sequence_number=1\ncompleted session_id=sess_2 sequence_number=1"},
		[]string{"started sequence_number=0\nprogress sequence_number=2\ncompleted sequence_number=3", "started sequence_number=0\nprogress sequence_number=0\ncompleted sequence_number=1"},
	},
	{"SEQ-42", asError, session.Stream{}, []string{"started sequence_number=0\ncompleted sequence_number=1", "started\ncompleted"}, []string{"started sequence_number=0\nprogress\ncompleted sequence_number=1", "started\nprogress sequence_number=1\ncompleted"}},
	{"SEQ-43", asError, session.Stream{Reordering: true}, []string{"started sequence_number=0\ncompleted sequence_number=1"}, []string{"started\ncompleted", "started sequence_number=0\ncompleted"}},
	{"SEQ-43", asError, session.Stream{}, []string{"started\ncompleted"}, nil},
	{"SEQ-46", asError, session.Stream{}, []string{"started\nstate producer.agent_id=b from_state=idle to_state=thinking\ncompleted", "started\nstarted session_id=sess_2 extensions.earshot.parent_session_id=sess_1\ncompleted session_id=sess_2\ncompleted"}, nil},
	{
		"SEQ-48", asWarning,
		session.Stream{},
		[]string{"started\ninvoked\ndone\ncompleted tool_invocations_count=1 duration_ms=3000", "started at=0\ncompleted at=100 duration_ms=95000", "started at=0\ncompleted at=1 duration_ms=300"},
		[]string{"started\ninvoked\ndone\ncompleted tool_invocations_count=2", "started\ncompleted tool_invocations_count=1", "started at=0\ncompleted at=100 duration_ms=80000"},
	},
	{"CONF-01", asError, session.Stream{}, []string{open + question + yes + call + closing}, []string{open + "invoked irreversible=true\ndone\n" + closing}},
	{
		"CONF-55", asError,
		session.Stream{}, // an answer that was not allowed is none
		[]string{open + strings.ReplaceAll(question, "confirmation", `confirmation allowed_replies=["accept","reject"]`) + "accept\nstate from_state=awaiting_input to_state=deciding\n" + call + closing},
		nil,
	},
	{
		"SEQ-22", asError,
		session.Stream{},
		nil,
		[]string{open + strings.ReplaceAll(question, "confirmation", `confirmation allowed_replies=["reject"]`) + "accept\nstate from_state=awaiting_input to_state=deciding\n" + call + closing},
	},
	{
		"SEQ-25", asError,
		session.Stream{},
		[]string{open + strings.ReplaceAll(question, "confirmation", `confirmation allowed_replies=["accept"]`) + "reject\nstate from_state=awaiting_input to_state=calling_tool\ninvoked tool=delete tool_call_id=call_1 irreversible=true\ndone tool=delete tool_call_id=call_1\n" + closing},
		nil,
	},
	{"CONF-06", asError, session.Stream{}, []string{open + question + no + closing}, []string{open + question + no + "state from_state=deciding to_state=awaiting_input\nconfirmation\nstate from_state=awaiting_input to_state=thinking\n" + closing}},
	{"CONF-07", asError, session.Stream{}, nil, []string{open + question + no + closing + "started session_id=sess_2\nclarification session_id=sess_2\ncancelled session_id=sess_2"}},
	{"GD-03", asError, session.Stream{}, nil, []string{open + question + no + "confirmation\nstate from_state=deciding to_state=thinking\n" + closing}},
	{"GD-04", asError, session.Stream{}, []string{"started\nchunk\nchunk chunk= position=5 complete=true\nerrored"}, []string{"started\nchunk\nerrored", "started\nchunk\ncancelled"}},
	{"GD-05", asError, session.Stream{}, []string{"started\nerrored"}, []string{"started\ninvoked"}},

	{
		"BP-13", asWarning,
		session.Stream{},
		[]string{
			"started\nchunk chunk=One.~ coalesce_hint=sentence\nchunk chunk=Two. position=5 complete=true\ncompleted", "started\nchunk chunk=One. coalesce_hint=sentence\nchunk chunk=~Two. position=4 complete=true\ncompleted",
			"started\nchunk chunk=完了。 coalesce_hint=sentence\nchunk chunk=次 position=3 complete=true\ncompleted", "started\nchunk chunk=“Yes!”~ coalesce_hint=sentence\nchunk chunk= position=7 complete=true\ncompleted",
			"started\nchunk chunk=One~ coalesce_hint=word\nchunk chunk=two position=4 complete=true coalesce_hint=sentence\ncompleted",
		},
		[]string{"started\nchunk chunk=One~ coalesce_hint=sentence\nchunk chunk=two. position=4 complete=true\ncompleted", "started\nchunk chunk=3. coalesce_hint=sentence\nchunk chunk=14x position=2 complete=true\ncompleted"},
	},
	{
		"I18N-29", asError,
		session.Stream{},
		[]string{"started\nchunk chunk=👩 \nchunk chunk=👧 position=1 complete=true\ncompleted", "started\nchunk chunk=👩 output_id=out_1\nchunk chunk=\u200D output_id=out_2\nchunk chunk= output_id=out_1 position=1 complete=true\nchunk chunk= output_id=out_2 position=1 complete=true\ncompleted"},
		[]string{"started\nchunk chunk=e\nchunk chunk=\u0301 position=1 complete=true\ncompleted", "started\nchunk chunk=👩\u200D\nchunk chunk=💻 position=2 complete=true\ncompleted", "started\nchunk chunk=🇩\nchunk chunk=🇪 position=1 complete=true\ncompleted"},
	},

	// Joined late (C-36, C-91).
	{
		"SEQ-01", asError,
		session.Stream{JoinedLate: true},
		[]string{
			"progress\ncompleted", "state from_state=deciding to_state=thinking\ncompleted", "done tool_call_id=call_1\ncompleted", "done\ncompleted", "chunk position=40\nchunk position=45 complete=true\ncompleted", "progress sequence_number=7\ncompleted sequence_number=8",
			"invoked irreversible=true\ndone\ncompleted tool_invocations_count=4 duration_ms=999999", "started\nstate from_state=thinking to_state=thinking\ndone tool_call_id=call_1\ncompleted tool_invocations_count=9",
		},
		[]string{"started\nstarted\ncompleted"},
	},
	{"SEQ-08", asError, session.Stream{JoinedLate: true}, []string{"started\nstate from_state=thinking to_state=thinking\ncompleted"}, []string{"started\nstate from_state=thinking to_state=deciding\ncompleted"}},
	{"SEQ-16", asError, session.Stream{JoinedLate: true}, nil, []string{"done tool_call_id=call_1\ndone tool_call_id=call_1\ncompleted"}},
	{"SEQ-34", asError, session.Stream{JoinedLate: true}, nil, []string{"chunk position=40\nchunk position=44 complete=true\ncompleted"}},

	// Filtered and merged (SEQ-50, C-34, C-46).
	{
		"SEQ-50", asError,
		session.Stream{Terms: terms("aaep:agent.tool.*")},
		[]string{open + "state from_state=calling_tool to_state=thinking\n" + question + yes + "completed tool_invocations_count=3"},
		nil,
	},
	{"SEQ-50", asError, session.Stream{Terms: terms("aaep:agent.state.*")}, []string{"started\nconfirmation extensions.earshot.question=1\ninvoked irreversible=true\ndone\ncompleted", "started\nconfirmation\nclarification reply_token=rpl_2\ncompleted"}, nil},
	{"SEQ-50", asError, session.Stream{Terms: terms("aaep:agent.session.*")}, []string{"progress\ninvoked\ndone", "state from_state=thinking to_state=deciding\nerrored"}, []string{"errored\nprogress"}},
	{"SEQ-50", asError, session.Stream{Terms: terms("aaep:agent.tool.completed")}, []string{"started\ninvoked tool_call_id=call_1\ncompleted"}, nil},
	{"SEQ-22", asWarning, session.Stream{Terms: &aaep.Capabilities{}}, nil, []string{"started\ninvoked irreversible=true\ndone\ncompleted"}},
	{"SEQ-22", asError, session.Stream{Terms: terms()}, nil, []string{"started\ninvoked irreversible=true\ndone\ncompleted"}},
	{"SEQ-34", asWarning, session.Stream{Terms: terms()}, nil, []string{"started\nchunk\nchunk position=9 complete=true\ncompleted"}},
	{"SEQ-34", asError, session.Stream{Terms: terms()}, nil, []string{"started\nchunk\nchunk position=3 complete=true\ncompleted"}},
	{"BP-11", asError, session.Stream{Terms: terms("aaep:agent.tool.*")}, []string{"started\ninvoked urgency=critical\ncompleted"}, []string{"started\ninvoked\ndone\ncompleted"}},
	{"BP-12", asError, session.Stream{Terms: including("aaep:agent.session.*")}, []string{"started\nerrored"}, []string{"started\nprogress\ncompleted"}},
	{"BP-14", asWarning, session.Stream{Terms: &aaep.Capabilities{CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundaryParagraph}}}, []string{"started\nchunk coalesce_hint=completion complete=true\ncompleted"}, []string{"started\nchunk coalesce_hint=word\nchunk chunk= position=5 complete=true\ncompleted"}},
	{"BP-15", asError, session.Stream{Terms: terms()}, []string{"started\nchunk extensions.earshot.span=[2,4]\nchunk position=5 complete=true extensions.earshot.span=[5,5]\ncompleted"}, []string{"started\nchunk extensions.earshot.span=[2,4]\nchunk position=3 complete=true extensions.earshot.span=[5,6]\ncompleted", "started extensions.earshot.span=[2,1]\ncompleted"}},
	{
		"BP-16", asError,
		session.Stream{Terms: terms()},
		[]string{open + "state from_state=thinking to_state=writing_output extensions.earshot.span=[3,5]\ncompleted", "started extensions.earshot.span=[1,1]\nchunk extensions.earshot.span=[2,4]\nchunk position=5 complete=true extensions.earshot.span=[4,6]\ncompleted extensions.earshot.span=[7,7]"},
		[]string{open + "state from_state=deciding to_state=writing_output extensions.earshot.span=[3,5]\ncompleted", "started extensions.earshot.span=[3,3]\nprogress extensions.earshot.span=[2,2]\ncompleted"},
	},
	{"TR-05", asError, session.Stream{Terms: terms()}, []string{"started extensions.earshot.span=[1,1]\ncompleted extensions.earshot.span=[2,2]"}, []string{"started extensions.earshot.span=[1,1]\ncompleted extensions.earshot.span=[3,3]"}},
	{"TR-05", asError, session.Stream{Terms: terms("aaep:agent.tool.*")}, []string{"started extensions.earshot.span=[1,1]\ncompleted extensions.earshot.span=[3,3]"}, nil},
	{"CONF-83", asError, session.Stream{Terms: &aaep.Capabilities{}}, []string{"started\ncompleted"}, []string{open + question + no + closing}},
	{
		"CONF-83", asError,
		session.Stream{Terms: &aaep.Capabilities{Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"observe_questions": true}`)}}},
		[]string{open + question + no + closing},
		nil, // who watches may be shown what others are asked (C-46)
	},
	{"CLA-12", asError, session.Stream{Terms: &aaep.Capabilities{}}, []string{"started\ncompleted"}, []string{open + "clarification\nstate from_state=awaiting_input to_state=thinking\n" + closing}},
	{"I18N-17", asWarning, session.Stream{Terms: &aaep.Capabilities{Languages: []string{"en-US", "de"}}}, []string{"started\ncompleted", "started localization_hints.primary_language=de-AT\ncompleted"}, []string{"started localization_hints.primary_language=fr\ncompleted"}},
}

// terms are of a subscriber that can answer and wants everything but these types.
func terms(exclude ...string) *aaep.Capabilities {
	c := &aaep.Capabilities{SupportsConfirmationReply: new(true), SupportsClarificationReply: new(true)}
	if len(exclude) > 0 {
		c.EventFilters = &aaep.EventFilters{Exclude: exclude}
	}
	return c
}

func including(include ...string) *aaep.Capabilities {
	c := terms()
	c.EventFilters = &aaep.EventFilters{Include: include}
	return c
}

func TestStreams(t *testing.T) {
	t.Parallel()
	for _, c := range streamCases {
		for i, stream := range c.keeps {
			t.Run(c.rule+"/keeps", func(t *testing.T) {
				t.Parallel()
				found := checkAs(t, c.told, stream)
				if names(found, c.severity, c.rule) || len(aaep.Errors(found)) > 0 {
					t.Errorf("stream %d keeps %s, found%s\n%s", i, c.rule, list(found), stream)
				}
			})
		}
		for i, stream := range c.breaks {
			t.Run(c.rule+"/breaks", func(t *testing.T) {
				t.Parallel()
				rule := c.rule
				if rule == "SEQ-50" {
					rule = "SEQ-04" // what is not filtered is judged as ever
				}
				if found := checkAs(t, c.told, stream); !names(found, c.severity, rule) {
					t.Errorf("stream %d breaks %s (%s), found%s\n%s", i, c.rule, c.severity, list(found), stream)
				}
			})
		}
	}
}
