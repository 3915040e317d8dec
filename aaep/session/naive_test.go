package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// plainEvent is an event as the naive judge reads it.
type plainEvent struct {
	Type      string    `json:"type"`
	EventID   string    `json:"event_id"`
	SessionID string    `json:"session_id"`
	Timestamp time.Time `json:"timestamp"`
	Producer  struct {
		AgentID string `json:"agent_id"`
	} `json:"producer"`
	Sequence *int64 `json:"sequence_number"`
	From     string `json:"from_state"`
	To       string `json:"to_state"`
	Tool     string `json:"tool"`
	Call     string `json:"tool_call_id"`
	Output   string `json:"output_id"`
	Chunk    string `json:"chunk"`
	Position int64  `json:"position"`
	Complete bool   `json:"complete"`
	Status   string `json:"status"`

	Action        string         `json:"action"`
	Token         string         `json:"reply_token"`
	Timeout       int64          `json:"timeout_seconds"`
	Default       string         `json:"default_decision"`
	Irreversible  *bool          `json:"irreversible"`
	Reversibility string         `json:"reversibility"`
	Decision      string         `json:"decision"`
	Modified      map[string]any `json:"modified_action"`
	About         struct {
		Tool string `json:"tool"`
		Name string `json:"tool_name"`
		Call string `json:"tool_call_id"`
	} `json:"extra_context"`
	Extensions struct {
		Earshot struct {
			Question   *int   `json:"question"`
			Resolution string `json:"resolution"`
			Token      string `json:"reply_token"`
		} `json:"earshot"`
	} `json:"extensions"`
}

// reading is an event, typed and as a plain value.
type reading struct {
	value any
	event plainEvent
}

func (e plainEvent) terminal() bool {
	return slices.Contains([]string{aaep.TypeSessionCompleted, aaep.TypeSessionErrored, aaep.TypeSessionCancelled}, e.Type)
}

// coreRules are those that the naive judge knows.
var coreRules = []string{
	"ENV-20", "ENV-28", "SEQ-01", "SEQ-02", "SEQ-03", "SEQ-04", "SEQ-05", "SEQ-06", "SEQ-08", "SEQ-09", "SEQ-13", "SEQ-14", "SEQ-15", "SEQ-16", "SEQ-17",
	"SEQ-22", "SEQ-22 warning", "SEQ-23", "SEQ-24", "SEQ-25", "SEQ-25 warning", "SEQ-26", "SEQ-26 warning", "SEQ-30", "SEQ-30 warning",
	"SEQ-31", "SEQ-32", "SEQ-33", "SEQ-34", "SEQ-36", "SEQ-40", "SEQ-41", "SEQ-42",
}

// naive judges a stream by looking back over all of it for every event, and remembers
// nothing in between. Its findings are sets of rules by the number of the message; what
// the end shows stands behind the last.
func naive(stream [][]byte) []map[string]bool {
	found := make([]map[string]bool, len(stream)+1)
	history := map[string][]plainEvent{}
	order := []string{}
	seen := map[string]reading{}
	for i, raw := range stream {
		found[i] = map[string]bool{}
		e, value := naiveRead(raw)
		if e.reply() {
			naiveReplied(order, history, e, found[i])
			continue
		}
		first, again := seen[e.EventID]
		if again && reflect.DeepEqual(first.value, value) {
			continue
		}
		if !again {
			seen[e.EventID] = reading{value, e}
		}
		found[i]["ENV-20"] = again && (first.event.SessionID == e.SessionID || first.event.Producer == e.Producer)
		before, known := history[e.SessionID]
		if !known {
			order = append(order, e.SessionID)
		}
		naiveEvent(before, e, found[i])
		if !slices.ContainsFunc(before, plainEvent.terminal) {
			history[e.SessionID] = append(before, e)
		}
	}
	end := map[string]bool{}
	for _, id := range order {
		if h := history[id]; !slices.ContainsFunc(h, plainEvent.terminal) {
			end["SEQ-03"] = true
			naiveOpen(h, end)
			naiveUnfinished(h, end)
		}
	}
	found[len(stream)] = end
	return found
}

func naiveRead(raw []byte) (e plainEvent, value any) {
	if err := errors.Join(json.Unmarshal(raw, &e), json.Unmarshal(raw, &value)); err != nil {
		panic(err)
	}
	return e, value
}

// naiveReplied takes a reply into the session that has asked.
func naiveReplied(order []string, history map[string][]plainEvent, e plainEvent, found map[string]bool) {
	for _, id := range order {
		if slices.ContainsFunc(history[id], func(b plainEvent) bool { return b.Token == e.Token && !b.reply() }) {
			naiveAsked(history[id], e, found)
			history[id] = append(history[id], e)
		}
	}
}

func naiveEvent(before []plainEvent, e plainEvent, found map[string]bool) {
	if i := slices.IndexFunc(before, plainEvent.terminal); i >= 0 {
		found["SEQ-04"] = true
		found["SEQ-03"] = e.terminal()
		found["SEQ-05"] = e.terminal() && e.Type != before[i].Type
		found["SEQ-01"] = e.Type == aaep.TypeSessionStarted
		found["SEQ-06"] = e.Type == aaep.TypeSessionStarted
		return
	}
	naiveAsked(before, e, found)
	if isStart := e.Type == aaep.TypeSessionStarted; isStart != (len(before) == 0) {
		found["SEQ-01"] = true
		found["SEQ-02"] = !isStart
	}
	before = slices.DeleteFunc(slices.Clone(before), plainEvent.reply)
	for _, earlier := range before {
		found["ENV-28"] = found["ENV-28"] || e.Timestamp.Before(earlier.Timestamp)
	}
	switch e.Type {
	case aaep.TypeStateChanged:
		naiveState(before, e, found)
	case aaep.TypeToolInvoked:
		found["SEQ-15"] = e.Call != "" && slices.ContainsFunc(before, func(b plainEvent) bool { return b.Type == e.Type && b.Call == e.Call })
	case aaep.TypeToolCompleted:
		naiveCompleted(before, e, found)
	case aaep.TypeOutputStreaming:
		naiveChunk(before, e, found)
	}
	naiveNumber(before, e, found)
	if e.terminal() {
		naiveOpen(before, found)
		found["SEQ-36"] = found["SEQ-16"] || found["SEQ-31"]
	}
}

func naiveState(before []plainEvent, e plainEvent, found map[string]bool) {
	shows := map[string]string{
		aaep.TypeToolInvoked: "calling_tool", aaep.TypeToolCompleted: "calling_tool", aaep.TypeOutputStreaming: "writing_output", aaep.TypeHandoffRequested: "handing_off",
		aaep.TypeAwaitingConfirmation: "awaiting_input", aaep.TypeAwaitingClarification: "awaiting_input",
	}
	implied := map[string]bool{}
	for _, b := range slices.Backward(before) {
		if b.Producer != e.Producer {
			continue
		}
		if b.Type == aaep.TypeStateChanged {
			found["SEQ-09"] = e.From != b.To && !implied[e.From]
			return
		}
		implied[shows[b.Type]] = shows[b.Type] != ""
	}
	found["SEQ-08"] = e.From != "idle"
}

// naivePairs replays the calls: those that are open, in their order.
func naivePairs(before []plainEvent) (open []plainEvent, done map[string]bool) {
	done = map[string]bool{}
	for _, b := range before {
		switch b.Type {
		case aaep.TypeToolInvoked:
			open = append(open, b)
		case aaep.TypeToolCompleted:
			if i := naivePair(open, b); i >= 0 {
				done[open[i].Call] = true
				open = slices.Delete(slices.Clone(open), i, i+1)
			}
		}
	}
	return open, done
}

// naivePair is the open call that a completion closes: by its id, or else one of its
// tool, first of all one without an id where the completion has none.
func naivePair(open []plainEvent, e plainEvent) int {
	byID := slices.IndexFunc(open, func(o plainEvent) bool { return e.Call != "" && o.Call == e.Call })
	bare := slices.IndexFunc(open, func(o plainEvent) bool { return o.Call == "" && o.Tool == e.Tool })
	other := slices.IndexFunc(open, func(o plainEvent) bool { return e.Call == "" && o.Tool == e.Tool })
	for _, i := range []int{byID, bare, other} {
		if i >= 0 {
			return i
		}
	}
	return -1
}

func naiveCompleted(before []plainEvent, e plainEvent, found map[string]bool) {
	open, done := naivePairs(before)
	i := naivePair(open, e)
	switch {
	case i >= 0:
		found["SEQ-14"] = open[i].Tool != e.Tool
		found["SEQ-15"] = open[i].Call != e.Call
	case e.Call == "":
		found["SEQ-13"], found["SEQ-17"] = true, true
	default:
		found["SEQ-16"] = done[e.Call]
		found["SEQ-13"] = !done[e.Call]
	}
}

// naiveText replays one text: where its next chunk should begin, and whether it is
// complete.
func naiveText(before []plainEvent, output string) (next int64, begun, complete bool) {
	for _, b := range before {
		if b.Type == aaep.TypeOutputStreaming && b.Output == output && !complete {
			next = b.Position + int64(utf8.RuneCountInString(b.Chunk))
			begun, complete = true, b.Complete
		}
	}
	return next, begun, complete
}

func naiveChunk(before []plainEvent, e plainEvent, found map[string]bool) {
	next, _, complete := naiveText(before, e.Output)
	if complete {
		found["SEQ-32"] = true
		found["SEQ-31"] = e.Complete
		found["SEQ-33"] = e.Output == ""
		return
	}
	found["SEQ-34"] = e.Position != next
}

func naiveNumber(before []plainEvent, e plainEvent, found map[string]bool) {
	if len(before) == 0 {
		found["SEQ-40"] = e.Type == aaep.TypeSessionStarted && e.Sequence != nil && *e.Sequence != 0
		return
	}
	used := before[0].Sequence != nil
	mixed := func(b plainEvent) bool { return (b.Sequence != nil) != used }
	found["SEQ-42"] = mixed(e) && !slices.ContainsFunc(before, mixed)
	if e.Sequence == nil || !used {
		return
	}
	for _, b := range slices.Backward(before) {
		if b.Sequence != nil {
			found["SEQ-41"] = *e.Sequence != *b.Sequence+1 && (!mixed(e) || !found["SEQ-42"])
			return
		}
	}
}

func naiveOpen(before []plainEvent, found map[string]bool) {
	if open, _ := naivePairs(before); len(open) > 0 {
		found["SEQ-16"] = true
	}
	for _, b := range before {
		if b.Type != aaep.TypeOutputStreaming {
			continue
		}
		if _, begun, complete := naiveText(before, b.Output); begun && !complete {
			found["SEQ-31"] = true
			found["SEQ-33"] = found["SEQ-33"] || b.Output == ""
		}
	}
}

// wild draws an event, mostly a wrong one: ids, states and times come from small sets.
func wild(rt *rapid.T, n int) []byte {
	pick := func(name string, of ...any) any { return rapid.SampledFrom(of).Draw(rt, name) }
	types := []any{"state.changed", "tool.invoked", "tool.completed", "output.streaming", "progress.updated", "session.started", "handoff.requested"}
	if n%7 == 6 {
		types = []any{"session.completed", "session.errored", "session.cancelled"}
	}
	m := map[string]any{
		"type": "aaep:agent." + pick("type", types...).(string), "event_id": fmt.Sprintf("evt_%d", n), "session_id": pick("session", "sess_1", "sess_1", "sess_2"),
		"timestamp": aaep.FormatTime(day.Add(time.Duration(n+rapid.IntRange(-1, 1).Draw(rt, "at")) * time.Second)),
		"producer":  map[string]any{"agent_id": pick("agent", "a", "a", "a", "b")},
	}
	if rapid.IntRange(0, 15).Draw(rt, "again") == 0 {
		m["event_id"] = fmt.Sprintf("evt_%d", n/2)
	}
	if sequence := rapid.IntRange(-6, 4).Draw(rt, "sequence"); sequence >= 0 {
		m["sequence_number"] = sequence
	}
	states := []any{"idle", "thinking", "calling_tool", "writing_output"}
	fields := map[string]any{}
	switch m["type"] {
	case aaep.TypeStateChanged:
		fields = map[string]any{"from_state": pick("from", states...), "to_state": pick("to", states...)}
	case aaep.TypeToolInvoked, aaep.TypeToolCompleted:
		fields["tool"] = pick("tool", "scan", "hash")
		if call := pick("call", "", "", "call_1", "call_2").(string); call != "" {
			fields["tool_call_id"] = call
		}
	case aaep.TypeOutputStreaming:
		fields = map[string]any{"chunk": pick("chunk", "", "ab", "c", "👍"), "position": pick("position", 0, 0, 1, 2, 4), "complete": rapid.IntRange(0, 3).Draw(rt, "complete") == 0}
		if output := pick("output", "", "out_1").(string); output != "" {
			fields["output_id"] = output
		}
	}
	maps.Copy(m, fields)
	raw, err := json.Marshal(m)
	if err != nil {
		rt.Fatal(err)
	}
	return raw
}

// TestLikeTheNaiveJudge: on streams that are mostly wrong, the checker finds what a
// second, slow implementation finds, message by message.
func TestLikeTheNaiveJudge(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var stream [][]byte
		for n := range rapid.IntRange(1, 24).Draw(rt, "events") {
			if n > 0 && rapid.IntRange(0, 9).Draw(rt, "redelivered") == 0 {
				stream = append(stream, otherwise(rt, stream[rapid.IntRange(0, n-1).Draw(rt, "which")]))
				continue
			}
			stream = append(stream, wild(rt, n))
		}
		likeNaive(rt, stream, session.NewChecker())
	})
}

// otherwise is a message, sometimes written in another way.
func otherwise(rt *rapid.T, raw []byte) []byte {
	var out bytes.Buffer
	if rapid.Bool().Draw(rt, "same bytes") {
		return raw
	}
	if err := json.Indent(&out, raw, " ", "\t"); err != nil {
		rt.Fatal(err)
	}
	return bytes.ReplaceAll(out.Bytes(), []byte("aaep:agent"), []byte(`\u0061aep:agent`))
}

// likeNaive holds a checker against the naive judge.
func likeNaive(rt *rapid.T, stream [][]byte, checker *session.Checker) {
	rt.Helper()
	want := naive(stream)
	for i, raw := range stream {
		compare(rt, i, raw, checker.Check(raw), want[i])
	}
	compare(rt, len(stream), nil, checker.Close(), want[len(stream)])
}

func compare(rt *rapid.T, i int, raw []byte, found []aaep.Violation, want map[string]bool) {
	for _, rule := range coreRules {
		id, weak := strings.CutSuffix(rule, " warning")
		severity := asError
		if weak {
			severity = asWarning
		}
		if got := names(found, severity, id); got != want[rule] {
			rt.Fatalf("message %d: %s found %t, the naive judge %t\n%s%s", i, rule, got, want[rule], raw, list(found))
		}
	}
}
