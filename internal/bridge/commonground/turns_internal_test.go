package commonground

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// TestPMOTool: a tool of their PMO is offered under the bridge's name, and called under its own. One that only looks like it
// is a tool like any other.
func TestPMOTool(t *testing.T) {
	t.Parallel()
	fork := words
	fork.name, fork.target = "fork_join", pmoTarget+"fork_join"
	d, err := fork.definition("commonground")
	if err != nil || d.Tool != "commonground.fork_join" || d.Validate() != nil {
		t.Fatalf("%+v, %v, %v", d, err, d.Validate())
	}
	command, header, card := ours()
	command.ToolName, card.ToolName = d.Tool, d.Tool
	c, err := newCall(there, fork, command, header, card, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, has := range []string{c.subject, string(c.card.Content)} {
		if !strings.Contains(has, "cg.v1r4.proj_1.public.cmd.sys.pmo.internal.fork_join") || strings.Contains(has, d.Tool) {
			t.Errorf("theirs is %s", has)
		}
	}
	if want := `{"tool_name":"fork_join","after_execution":"suspend","tool_call_card_id":"card_1"}`; string(c.payload) != want {
		t.Errorf("the payload is %s; want %s", c.payload, want)
	}
	row := report{call: "tc_1", tool: "fork_join", subject: c.subject, metadata: jsontext.Value(`{}`)}
	made, err := utp.NewToolResult(utp.ResultCard{
		ID: "res_1", Project: "proj_1", AuthorID: "sys.pmo.batch_manager", CreatedAt: at, ToolCallID: "tc_1", FunctionName: "fork_join",
		Lineage: utp.Lineage{TurnID: "turn_1", StepID: "step_1"}, Status: utp.StatusPartial, Result: jsontext.Value(`{"n":1}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := result(identity{project: "default", name: "commonground"}, row, made, utp.Suspend)
	if err != nil || got.FunctionName != d.Tool {
		t.Errorf("the result is that of %s, %v", got.FunctionName, err)
	}
	for _, target := range []string{
		"cg.v1r4.{project_id}.{channel_id}.cmd.sys.pmo.internal.ask_expert", "cg.v1r4.other.{channel_id}.cmd.sys.pmo.internal.fork_join",
		"cg.v1r4.{project_id}.{channel_id}.cmd.sys.ui.action",
	} {
		fork.target = target
		if s, err := fork.subject("proj_1", "public", "earshot"); err == nil {
			t.Errorf("%s is taken as %s", target, s)
		}
	}
	if names := strings.Join(namesOf("commonground", "commonground.fork_join"), " "); names != "commonground.fork_join fork_join" {
		t.Errorf("their table is searched for %s", names)
	}
}

// TestQuestion: a question of theirs becomes one of ours, with their time; anything beside it is refused, as the agent would not
// be given it.
func TestQuestion(t *testing.T) {
	t.Parallel()
	got, err := question("scout", jsontext.Value(`{"question":"6 * 7"}`), 1500*time.Millisecond)
	if want := `{"expert_profile":"scout","question":"6 * 7","deadline_seconds":2}`; err != nil || string(got) != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	for _, args := range []string{`{}`, `{"question":" "}`, `{"question":1}`, `{"question":"a","context":"b"}`, `[]`, ``} {
		if got, err := question("scout", jsontext.Value(args), time.Minute); err == nil || codeOf(err) != utp.CodeBadRequest {
			t.Errorf("%s becomes %s, %v", args, got, err)
		}
	}
	if _, err := (Options{Ask: []string{"scout, tidy"}}).withDefaults(); err == nil {
		t.Error("an agent with a blank is taken")
	}
	p := &provider{o: Options{Ask: []string{"scout"}}}
	for theirs, want := range map[string]string{"ask_scout": "scout", "ask_tidy": "", "scout": "", "ask_": ""} {
		if got := p.asked(theirs); got != want {
			t.Errorf("%s asks %q; want %q", theirs, got, want)
		}
	}
}
