package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// TestSameMessage (SEQ-45, ENV-20): an event that comes again is the same message when it says the same,
// however it is written, and another one when it says anything else.
func TestSameMessage(t *testing.T) {
	t.Parallel()
	const first = `{"type":"aaep:agent.tool.invoked","event_id":"evt_2","session_id":"sess_1","timestamp":"2026-05-24T12:00:01.000Z",` +
		`"producer":{"agent_id":"tidy","agent_name":"Tidy é"},"tool":"scan","tool_call_id":"call_1","summary_normal":"Scanning \"A\".","expected_duration_ms":300}`
	reordered := `{"summary_normal":"Scanning \"A\".","producer":{"agent_name":"Tidy é","agent_id":"tidy"},"expected_duration_ms":300,"tool":"scan","tool_call_id":"call_1",` +
		`"timestamp":"2026-05-24T12:00:01.000Z","session_id":"sess_1","event_id":"evt_2","type":"aaep:agent.tool.invoked"}`
	for name, again := range map[string]string{
		"the same bytes":       first,
		"the order of members": reordered,
		"blanks":               strings.NewReplacer(`,"`, ",\n\t\"", `":`, `" : `).Replace(first),
		"escapes":              strings.NewReplacer("é", `\u00e9`, `\"A`, `\u0022\u0041`, `"tool":`, `"\u0074ool":`).Replace(first),
		"numbers":              strings.Replace(first, ":300}", ":3.00e2}", 1),
	} {
		checker := redelivered(t, first)
		if found := checker.Check([]byte(again)); len(found) > 0 {
			t.Errorf("%s: found%s\n%s", name, list(found), again)
		}
	}
	for name, again := range map[string]string{
		"a word":           strings.Replace(first, "Scanning", "Looking", 1),
		"a number":         strings.Replace(first, ":300}", ":301}", 1),
		"a type":           strings.Replace(first, ":300}", `:"300"}`, 1),
		"a member more":    strings.Replace(first, ":300}", `:300,"risk_level":"low"}`, 1),
		"a member less":    strings.Replace(first, `,"expected_duration_ms":300`, "", 1),
		"another place":    strings.Replace(first, `"agent_name":"Tidy é"}`, `"agent_name":"Tidy é","tool":"scan"}`, 1),
		"the order of two": strings.Replace(first, ":300}", `:300,"tool":"hash"}`, 1),
	} {
		checker := redelivered(t, first)
		if found := checker.Check([]byte(again)); !names(found, asError, "ENV-20") {
			t.Errorf("%s: found%s, want ENV-20\n%s", name, list(found), again)
		}
	}
}

func redelivered(t *testing.T, first string) *session.Checker {
	t.Helper()
	checker := session.NewChecker()
	for _, raw := range []string{`{"type":"aaep:agent.session.started","event_id":"evt_1","session_id":"sess_1","producer":{"agent_id":"tidy"}}`, first} {
		if found := aaep.Errors(checker.Check([]byte(raw))); len(found) > 0 {
			t.Fatalf("found%s", list(found))
		}
	}
	return checker
}

// TestModes: what is an error for anyone who sends is one for a listener only where acting on it is not
// safe; and of envelopes only the envelopes are judged.
func TestModes(t *testing.T) {
	t.Parallel()
	const utf16 = "started\nchunk chunk=añ👍\nchunk position=4 complete=true\ncompleted"
	const inBytes = "started\nchunk chunk=añ👍\nchunk position=7 complete=true\ncompleted"
	const none = aaep.Severity("")
	for _, c := range []struct {
		rule, stream                 string
		producer, consumer, envelope aaep.Severity
	}{
		{"SEQ-34", utf16, asError, asInfo, none},
		{"SEQ-34", inBytes, asError, asInfo, none},
		{"SEQ-34", "started\nchunk\nchunk position=3 complete=true\ncompleted", asError, asWarning, none},
		{"SEQ-01", "progress\ncompleted", asError, asWarning, asError},
		{"SEQ-03", "started", asError, asWarning, asError},
		{"SEQ-04", "started\ncompleted\nprogress", asError, asWarning, asError},
		{"SEQ-06", "started\ncompleted\nstarted", asError, asWarning, asError},
		{"SEQ-41", "started sequence_number=0\ncompleted sequence_number=2", asError, asWarning, asError},
		{"ENV-28", "started at=5\ncompleted at=4", asError, asWarning, asError},
		{"ENV-20", "started\nprogress event_id=evt_0\ncompleted", asError, asError, asError},
		{"SEQ-09", open + "state from_state=deciding to_state=thinking\n" + closing, asError, asWarning, none},
		{"SEQ-16", "started\ninvoked\ncompleted", asError, asWarning, none},
		{"SEQ-31", "started\nchunk\ncompleted", asError, asWarning, none},
		{"SEQ-30", open + question + closing, asError, asWarning, none},
		{"SEQ-48", "started\ncompleted tool_invocations_count=1", asWarning, asWarning, none},
		{"SEQ-22", open + "invoked irreversible=true\ndone\n" + closing, asError, asError, none},
		{"SEQ-22", ask + doing + "reject", asError, asError, none},
		{"SEQ-23", open + loose + "accept\ninvoked irreversible=true\ndone\ninvoked irreversible=true\ndone\n" + closing, asError, asError, none},
		{"CONF-06", open + question + no + "confirmation\nstate from_state=deciding to_state=thinking\n" + closing, asError, asError, none},
	} {
		for mode, want := range map[aaep.Mode]aaep.Severity{aaep.ModeProducer: c.producer, aaep.ModeConsumer: c.consumer, aaep.ModeEnvelope: c.envelope} {
			found := checkAs(t, session.Stream{Mode: mode}, c.stream)
			for _, severity := range []aaep.Severity{asError, asWarning, asInfo} {
				if got := names(found, severity, c.rule); got != (severity == want) {
					t.Errorf("mode %d: %s as %s: %t, want %q; found%s\n%s", mode, c.rule, severity, got, want, list(found), c.stream)
				}
			}
		}
	}
	terms := session.Stream{Mode: aaep.ModeEnvelope, Terms: &aaep.Capabilities{EventFilters: &aaep.EventFilters{Exclude: []string{"aaep:agent.tool.*"}}, CoalesceBoundaries: []aaep.CoalesceHint{aaep.BoundaryParagraph}}}
	found := checkAs(t, terms, "started extensions.earshot.span=[2,2]\ninvoked\nchunk coalesce_hint=word\ncompleted extensions.earshot.span=[1,1]")
	if !names(found, asError, "BP-11") || !names(found, asError, "TR-04") || names(found, asWarning, "BP-14") {
		t.Errorf("envelopes under terms: found%s", list(found))
	}
}

// TestPositionUnits: who counts in another unit is told in which one.
func TestPositionUnits(t *testing.T) {
	t.Parallel()
	for position, unit := range map[int]string{3: "UTF-16 units", 5: "bytes"} {
		for mode, says := range map[aaep.Mode]string{aaep.ModeProducer: ", which counts " + unit + "; expected 2", aaep.ModeConsumer: "count " + unit + ", expected code points"} {
			found := checkAs(t, session.Stream{Mode: mode}, fmt.Sprintf("started\nchunk chunk=👍a\nchunk position=%d complete=true\ncompleted", position))
			if !strings.Contains(list(found), says) {
				t.Errorf("position %d, mode %d: found%s, want %q", position, mode, list(found), says)
			}
		}
	}
	// A character that is cut in two is found also where the unit is wrong.
	if found := check(t, "started\nchunk chunk=👍\nchunk chunk=👩 position=2\nchunk chunk=\u200D👧 position=4 complete=true\ncompleted"); !names(found, asError, "I18N-29") {
		t.Errorf("found%s", list(found))
	}
}

// TestRecording: a recording of a subscription begins with its terms, which are those by which it is
// judged; and its end is not the end of its sessions.
func TestRecording(t *testing.T) {
	t.Parallel()
	const blind = "accepted honored_capabilities.supports_confirmation_reply=false\n"
	const watching = "accepted honored_capabilities.earshot.observe_questions=true\n"
	const tools = `accepted honored_capabilities.event_filters.exclude=["aaep:agent.tool.*"]` + "\n"
	for _, c := range []struct {
		name, stream string
		rule         string
		severity     aaep.Severity
	}{
		{"it stops in a session", blind + "started\ninvoked tool_call_id=call_1\nchunk", "", ""},
		{"it stops at a question", watching + open + question, "", ""},
		{"it stops behind a no", watching + open + question + "reject", "", ""},
		{"without terms that is an error", "started\ninvoked tool_call_id=call_1\nchunk", "SEQ-03", asError},
		{"nobody was asked, who might not have been told", blind + "started\ninvoked irreversible=true\ndone\ncompleted", "SEQ-22", asWarning},
		{"nobody was asked, who would have been told", watching + "started\ninvoked irreversible=true\ndone\ncompleted", "SEQ-22", asError},
		{"asked, and not to be told", blind + open + question + no + closing, "CONF-83", asError},
		{"asked, and to be told", watching + open + question + no + closing, "", ""},
		{"what is filtered is not missed", tools + open + "state from_state=calling_tool to_state=thinking\n" + closing, "", ""},
		{"what is filtered and comes", tools + "started\ninvoked\ndone\ncompleted", "BP-11", asError},
		{"new terms hold from there on", tools + "started\naccepted\ninvoked\ndone\ncompleted", "", ""},
		{"before its terms it is judged without", "started\ninvoked\ndone\n" + tools + "done\ncompleted", "BP-11", asError},
		{"terms that cannot be read", "accepted honored_capabilities=-\nstarted", "SEQ-03", asError},
		{"it is told where the session is", watching + "started\nstate from_state=awaiting_input to_state=awaiting_input\nstate from_state=awaiting_input to_state=thinking\ndone tool_call_id=call_1\n" + closing, "", ""},
	} {
		checker := session.NewChecker()
		var found []aaep.Violation
		for _, raw := range messages(t, c.stream) {
			found = append(found, checker.Check(raw)...)
		}
		found = append(found, checker.Close()...)
		if c.rule == "" && len(aaep.Errors(found)) > 0 || c.rule != "" && !names(found, c.severity, c.rule) {
			t.Errorf("%s: found%s, want %q\n%s", c.name, list(found), c.rule, c.stream)
		}
	}
	if found := checkAs(t, session.Stream{CutShort: true}, open+question+"invoked tool_call_id=call_9\nchunk"); len(aaep.Errors(found)) > 0 {
		t.Errorf("a stream that is cut short: found%s", list(found))
	}
	if found := checkAs(t, session.Stream{CutShort: true}, "started\ninvoked tool_call_id=call_9\ncompleted"); !names(found, asError, "SEQ-16") {
		t.Errorf("a session that ends in a stream that is cut short: found%s", list(found))
	}
}
