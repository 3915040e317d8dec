package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// bare is an event with nothing but what the order needs.
func bare(kind string, n int, sessionID, rest string) []byte {
	return fmt.Appendf(nil, `{"type":"aaep:agent.%s","event_id":"evt_%sx%d","session_id":%q%s}`, kind, sessionID, n, sessionID, rest)
}

// infos counts the infos among findings, and fails on errors.
func infos(t *testing.T, found []aaep.Violation, rule string) int {
	t.Helper()
	count := 0
	for _, v := range found {
		switch {
		case v.Severity == asInfo && v.Rule == rule:
			count++
		case v.Severity == asError:
			t.Fatalf("found %s", v)
		}
	}
	return count
}

// TestMemory shows that a checker's memory is bounded, and that it says so when it can
// no longer be exact: a repetition from before the limit is judged as a new event.
func TestMemory(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	reported := infos(t, c.Check(bare("session.started", 0, "sess_1", "")), "SEQ-45")
	for n := 1; n <= 65_535; n++ {
		reported += infos(t, c.Check(bare("progress.updated", n, "sess_1", "")), "SEQ-45")
	}
	if reported != 0 {
		t.Errorf("the limit is told within the limit")
	}
	if found := c.Check(bare("session.started", 0, "sess_1", "")); len(found) > 0 {
		t.Errorf("a repetition of the first of 65,536: found%s", list(found))
	}
	for n := 65_536; n <= 70_000; n++ {
		reported += infos(t, c.Check(bare("progress.updated", n, "sess_1", "")), "SEQ-45")
	}
	if reported != 1 {
		t.Errorf("the limit is told %d times, want once", reported)
	}
	if found := c.Check(bare("session.started", 0, "sess_1", "")); !names(found, asError, "SEQ-01") {
		t.Errorf("found%s", list(found))
	}
	if found := c.Check(bare("progress.updated", 65_537, "sess_1", "")); len(found) > 0 {
		t.Errorf("a late repetition within the limit: found%s", list(found))
	}
	if size := c.Size(); size.IDs > 65_536 || size.Open != 1 {
		t.Errorf("remembers %+v", size)
	}
}

// TestManySessions: of sessions that have ended it is known that they did, for the last
// 100,000, and their last events can be delivered again.
func TestManySessions(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	reported := infos(t, c.Check(bare("session.started", 0, "sess_open", "")), "SEQ-06")
	for n := range 100_000 {
		id := fmt.Sprintf("sess_%d", n)
		reported += infos(t, c.Check(bare("session.started", 0, id, "")), "SEQ-06") + infos(t, c.Check(bare("session.completed", 1, id, "")), "SEQ-06")
	}
	if reported != 0 {
		t.Errorf("the limit is told within the limit")
	}
	if found := c.Check(bare("session.errored", 9, "sess_0", "")); !names(found, asError, "SEQ-04") || !names(found, asError, "SEQ-05") {
		t.Errorf("the first of 100,000 is reopened: found%s", list(found))
	}
	for n := 100_000; n < 100_100; n++ {
		id := fmt.Sprintf("sess_%d", n)
		reported += infos(t, c.Check(bare("session.started", 0, id, "")), "SEQ-06") + infos(t, c.Check(bare("session.completed", 1, id, "")), "SEQ-06")
	}
	if reported != 1 {
		t.Errorf("told %d times, want once", reported)
	}
	if found := c.Check(bare("session.completed", 1, "sess_90000", "")); len(found) > 0 {
		t.Errorf("a late repetition: found%s", list(found))
	}
	if size := c.Size(); size.Open != 1 || size.Ended != 100_000 || size.IDs > 65_537 {
		t.Errorf("remembers %+v", size)
	}
	if left := c.CloseEach(); len(left) != 1 || left[0].SessionID != "sess_open" {
		t.Errorf("left %+v", left)
	}
}

// TestManyOpen: of open sessions the 10,000 are followed that were heard last. The
// others are judged no further, and nothing is held against them for it.
func TestManyOpen(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	reported := infos(t, c.Check(bare("session.started", 0, "sess_kept", "")), "SEQ-03")
	for n := range 12_000 {
		reported += infos(t, c.Check(bare("session.started", 0, fmt.Sprintf("sess_%d", n), "")), "SEQ-03")
		if n%1000 == 0 {
			reported += infos(t, c.Check(bare("progress.updated", n+1, "sess_kept", "")), "SEQ-03")
		}
	}
	if reported != 1 {
		t.Errorf("told %d times, want once", reported)
	}
	if found := c.Check(bare("tool.completed", 1, "sess_0", `,"tool":"scan"`)); len(found) > 0 {
		t.Errorf("a session that is not followed: found%s", list(found))
	}
	if found := c.Check(bare("tool.completed", 99_999, "sess_kept", `,"tool":"scan"`)); !names(found, asError, "SEQ-13") {
		t.Errorf("a session that is followed: found%s", list(found))
	}
	if size := c.Size(); size.Open != 10_000 {
		t.Errorf("remembers %+v", size)
	}
}

// TestManyOfEach: what one session keeps open is bounded, whatever it is.
func TestManyOfEach(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(n int) (kind, rest string){
		"SEQ-16": func(n int) (string, string) {
			return "tool.invoked", fmt.Sprintf(`,"tool":"scan","tool_call_id":"call_%d"`, n)
		},
		"SEQ-31": func(n int) (string, string) {
			return "output.streaming", fmt.Sprintf(`,"output_id":"out_%d","chunk":"x","position":0,"complete":false`, n)
		},
		"SEQ-30": func(n int) (string, string) {
			return "awaiting.clarification", fmt.Sprintf(`,"reply_token":"rpl_%d"`, n)
		},
		"SEQ-47": func(n int) (string, string) {
			return "state.changed", fmt.Sprintf(`,"producer":{"agent_id":"a%d"},"from_state":"idle","to_state":"thinking"`, n)
		},
	}
	for rule, event := range kinds {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			c := session.NewChecker()
			reported := infos(t, c.Check(bare("session.started", 0, "sess_1", "")), rule)
			for n := range 5000 {
				kind, rest := event(n)
				reported += infos(t, c.Check(bare(kind, n+1, "sess_1", rest)), rule)
			}
			if reported != 1 {
				t.Errorf("told %d times, want once", reported)
			}
			if size := c.Size(); size.Things > 4096+1 {
				t.Errorf("remembers %+v", size)
			}
		})
	}
}

// TestManyIDs: the ids of all open sessions together are bounded; the longest sessions
// forget their older half.
func TestManyIDs(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	reported := 0
	for s := range 18 {
		id := fmt.Sprintf("sess_%d", s)
		reported += infos(t, c.Check(bare("session.started", 0, id, "")), "SEQ-45")
		for n := 1; n < 60_000; n++ {
			reported += infos(t, c.Check(bare("progress.updated", n, id, "")), "SEQ-45")
		}
	}
	if size := c.Size(); size.IDs > 1_048_576 || size.IDs < 500_000 {
		t.Errorf("remembers %+v", size)
	}
	if reported != 1 {
		t.Errorf("told %d times, want once", reported)
	}
	if found := c.Check(bare("progress.updated", 59_999, "sess_17", "")); len(found) > 0 {
		t.Errorf("a late repetition: found%s", list(found))
	}
}

// TestManyDoubts: of questions that were acted on before an answer was seen, the last 4,096 are
// remembered behind the end of their sessions.
func TestManyDoubts(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	const most = 4096
	reported := 0
	for n := range most + 1 {
		if reported != 0 {
			t.Errorf("the limit is told within the limit")
		}
		id := fmt.Sprintf("sess_%d", n)
		infos(t, c.Check(bare("session.started", 0, id, "")), "SEQ-22")
		infos(t, c.Check(bare("awaiting.confirmation", 1, id, fmt.Sprintf(`,"reply_token":"rpl_%d"`, n))), "SEQ-22")
		infos(t, c.Check(bare("tool.invoked", 2, id, `,"tool":"delete","irreversible":true`)), "SEQ-22")
		infos(t, c.Check(bare("tool.completed", 3, id, `,"tool":"delete"`)), "SEQ-22")
		reported += infos(t, c.Check(bare("session.cancelled", 4, id, "")), "SEQ-22")
	}
	if reported != 1 {
		t.Errorf("told %d times, want once", reported)
	}
	reply := func(n int) []byte {
		return fmt.Appendf(nil, `{"type":"confirmation.reply","reply_token":"rpl_%d","decision":"reject"}`, n)
	}
	for n, want := range map[int]bool{0: false, 1: true, most: true} {
		if found := c.Check(reply(n)); names(found, asError, "SEQ-22") != want {
			t.Errorf("the answer to question %d: found%s, want SEQ-22: %t", n, list(found), want)
		}
	}
	if size := c.Size(); size.IDs > 6*(most+1)+most || size.Open != 0 { // five events and a token each, and the doubts
		t.Errorf("remembers %+v", size)
	}
}

// TestDoubtOutlivesItsQuestion: that something was done before an answer was seen is remembered, also when so
// many questions follow that the one it rests on is forgotten.
func TestDoubtOutlivesItsQuestion(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	n := 0
	check := func(kind, rest string) []aaep.Violation {
		n++
		return c.Check(bare(kind, n, "sess_1", rest))
	}
	reply := func(token int, decision string) []aaep.Violation {
		return c.Check(fmt.Appendf(nil, `{"type":"confirmation.reply","reply_token":"rpl_%d","decision":%q}`, token, decision))
	}
	asks := func(token int) []aaep.Violation {
		return check("awaiting.confirmation", fmt.Sprintf(`,"reply_token":"rpl_%d","extra_context":{"tool_call_id":"call_%d"}`, token, n))
	}
	check("session.started", "")
	asks(0)
	check("state.changed", `,"from_state":"awaiting_input","to_state":"calling_tool"`)
	check("tool.invoked", `,"tool":"delete","tool_call_id":"call_1","irreversible":true`)
	check("tool.completed", `,"tool":"delete","tool_call_id":"call_1"`)
	for token := 1; token < 4200; token++ {
		asks(token)
		reply(token, "reject")
	}
	if found := reply(0, "reject"); !names(found, asError, "SEQ-22") {
		t.Errorf("the answer to a question that was forgotten: found%s", list(found))
	}
}

// TestNoNewMemory: an ordinary event is judged without an allocation.
func TestNoNewMemory(t *testing.T) {
	c := session.NewChecker()
	validator := &aaep.Validator{}
	for _, raw := range messages(t, "started event_id=evt_a at=0\nstate event_id=evt_b at=0 from_state=idle to_state=thinking\nstate event_id=evt_c at=0 from_state=thinking to_state=calling_tool") {
		c.Check(raw)
	}
	const round = `invoked at=9 tool_call_id=call_N
done at=9 tool_call_id=call_N
state at=9 from_state=calling_tool to_state=writing_output
chunk at=9 output_id=out_N
chunk at=9 output_id=out_N position=5 complete=true
progress at=9
state at=9 from_state=writing_output to_state=calling_tool`
	const rounds = 3000
	var raws [][]byte
	for n := range rounds {
		for i, raw := range messages(t, round) {
			text := strings.NewReplacer("_N", fmt.Sprintf("_%d", n), fmt.Sprintf(`"evt_%d"`, i), fmt.Sprintf(`"evt_%dx%d"`, n, i)).Replace(string(raw))
			raws = append(raws, []byte(text))
		}
	}
	for _, raw := range raws[:len(raws)/2] { // room grows
		c.CheckDocument(validator.Read(raw))
	}
	next := len(raws) / 2
	allocs := testing.AllocsPerRun(len(raws)/2-1, func() {
		document := validator.Read(raws[next])
		if found := c.CheckDocument(document); len(found) > 0 {
			t.Fatalf("found%s\n%s", list(found), raws[next])
		}
		next++
	})
	if allocs >= 0.01 {
		t.Errorf("%.3f allocations for each event, want none", allocs)
	}
}
