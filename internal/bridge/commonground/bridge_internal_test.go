package commonground

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/earshot-dev/earshot/utp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	at    = time.Date(2026, 11, 20, 15, 17, 37, 523_565_000, time.UTC)
	there = place{project: "proj_1", channel: "public", agent: "earshot"}
	words = tool{
		name: "word_count", target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.word_count.call", after: "suspend",
		parameters: jsontext.Value(`{"type":"object"}`), options: jsontext.Value(`{"timeout_seconds":9}`),
	}
)

func ours() (utp.Command, utp.Context, utp.CallCard) {
	lineage := utp.Lineage{TurnID: "turn_1", StepID: "step_1", TraceID: strings.Repeat("a", 32)}
	return utp.Command{ToolName: "word_count", AfterExecution: utp.Suspend, ToolCallCardID: "card_1"},
		utp.Context{
			ProjectID: "default", ChannelID: "main", AgentID: "tidy", TurnID: "turn_1", TurnEpoch: 2, StepID: "step_1", ToolCallID: "tc_1", RecursionDepth: 3,
			ParentTurnID: "turn_0", Traceparent: "00-" + strings.Repeat("a", 32) + "-" + strings.Repeat("b", 16) + "-01",
		},
		utp.CallCard{
			ID: "card_1", Project: "default", AuthorID: "tidy", CreatedAt: at, ToolCallID: "tc_1", ToolName: "word_count",
			Arguments: jsontext.Value(`{"text":"a b","n":12345678901234567890}`), Lineage: lineage,
		}
}

// TestCall: project, channel and agent are theirs, ids and arguments stay, and nothing says which of our agents it was.
func TestCall(t *testing.T) {
	t.Parallel()
	command, header, card := ours()
	c, err := newCall(there, words, command, header, card, at)
	if err != nil {
		t.Fatal(err)
	}
	const subject = "cg.v1r4.proj_1.public.cmd.tool.word_count.call"
	for what, pair := range map[string][2]string{
		"subject":   {c.subject, subject},
		"payload":   {string(c.payload), `{"tool_name":"word_count","after_execution":"suspend","tool_call_card_id":"card_1"}`},
		"content":   {string(c.card.Content), `{"__type__":"ToolCallContent","tool_name":"word_count","arguments":{"text":"a b","n":12345678901234567890},"status":"called","target_subject":"` + subject + `"}`},
		"anchor":    {string(c.anchor), `{"correlation_id":"tc_1","kind":"command_anchor","subject":"` + subject + `"}`},
		"headers":   {string(c.headers), `{"CG-Agent-Id":"earshot","CG-Channel-Id":"public","CG-Project-Id":"proj_1","CG-Recursion-Depth":"3","CG-Step-Id":"step_1","CG-Tool-Call-Id":"tc_1","CG-Turn-Epoch":"2","CG-Turn-Id":"turn_1","traceparent":"` + header.Traceparent + `"}`},
		"author":    {c.card.AuthorID + c.card.Project, "earshotproj_1"},
		"of header": {strings.Join(c.header[utp.HeaderAgentID], ""), "earshot"},
		"ids":       {c.inbox + " " + c.edge, "inbox_cmd_anchor_1 edge_1"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s\n got %s\nwant %s", what, pair[0], pair[1])
		}
	}
	wrong := words
	wrong.target = "cg.v1r4.other.{channel_id}.cmd.tool.word_count.call"
	if _, err := newCall(there, wrong, command, header, card, at); err == nil {
		t.Error("a subject of another project is taken")
	}
	header.Traceparent = ""
	if _, err := newCall(there, words, command, header, card, at); err == nil {
		t.Error("a command without a trace is taken")
	}
}

// TestDefinition: the digest of what is registered covers where the command really goes.
func TestDefinition(t *testing.T) {
	t.Parallel()
	d, err := words.definition("commonground")
	if err != nil {
		t.Fatal(err)
	}
	other := words
	other.target = strings.Replace(words.target, "word_count", "others", 1)
	moved, err := other.definition("commonground")
	if err != nil {
		t.Fatal(err)
	}
	one, _ := d.Digest()
	two, _ := moved.Digest()
	if d.Target != "cg.v1r4.{project_id}.{channel_id}.cmd.tool.commonground.call" || one == two || words.equal(other) || !words.equal(words) {
		t.Errorf("%s: %s and %s", d.Target, one, two)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}

// TestResult: their result becomes ours under our names; one that is of another call or tool does not.
func TestResult(t *testing.T) {
	t.Parallel()
	_, _, card := ours()
	theirs := utp.ResultCard{
		ID: "res_1", Project: "proj_1", AuthorID: "tool.word_count", CreatedAt: at, ToolCallID: "tc_1", FunctionName: "word_count",
		Lineage: utp.Lineage{TurnID: "turn_other", StepID: "step_other"}, Status: utp.StatusPartial, Result: jsontext.Value(`{"n":1}`),
	}
	row := report{
		inbox: "inbox_1", call: "tc_1", tool: "word_count", payload: jsontext.Value(`{"after_execution":"terminate","status":"partial","tool_result_card_id":"res_1"}`),
		metadata: jsontext.Value(`{"agent_turn_id":"turn_1","step_id":"step_1","more":1}`),
	}
	id, after, err := row.resultCard()
	if err != nil || id != "res_1" || after != utp.Terminate {
		t.Fatalf("the row names %s, %s, %v", id, after, err)
	}
	to := identity{project: "default", name: "commonground"}
	made, err := utp.NewToolResult(theirs)
	if err != nil {
		t.Fatal(err)
	}
	got, err := result(to, row, made, after)
	if err != nil || got.Project != "default" || got.AuthorID != "tool.commonground" || got.Lineage.TurnID != card.Lineage.TurnID || got.Status != utp.StatusPartial || string(got.Result) != string(theirs.Normalize().Result) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, change := range map[string]func(*report){
		"another call": func(r *report) { r.call = "tc_2" },
		"another tool": func(r *report) { r.tool = "letter_count" },
	} {
		other := row
		change(&other)
		if _, err := result(to, other, made, after); err == nil || passing(err) {
			t.Errorf("the result of %s is taken, or tried again: %v", name, err)
		}
	}
	for _, payload := range []string{`{}`, `[]`, `{"tool_result_card_id":" "}`} {
		row.payload = jsontext.Value(payload)
		if _, _, err := row.resultCard(); err == nil || passing(err) {
			t.Errorf("%s names a card, or is tried again: %v", payload, err)
		}
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pattern, subject string
		want             bool
	}{
		{"cg.*.b", "cg.a.b", true},
		{"cg.*.b", "cg.a.c", false},
		{"cg.*", "cg.a.b", false},
		{"cg.>", "cg.a.b", true},
		{"cg.a.b.>", "cg.a.b", false},
		{"", "cg.a", false},
	} {
		if got := matches(row.pattern, row.subject); got != row.want {
			t.Errorf("%s and %s: %v", row.pattern, row.subject, got)
		}
	}
}
