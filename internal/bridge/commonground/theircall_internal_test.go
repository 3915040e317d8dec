package commonground

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

func theirs() (theirCall, tool) {
	command, header, card := ours()
	header.ProjectID, header.ChannelID, header.AgentID = there.project, there.channel, "researcher"
	command.ToolName, card.ToolName = "desk_say", "desk_say"
	t := tool{name: "desk_say", target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.earshot.call", after: "suspend", options: jsontext.Value(`{}`)}
	return theirCall{
		context: header, command: command, card: card, tool: "desk.say",
		anchor: anchor{target: "worker", channel: "public", depth: 3, epoch: 2, trace: card.Lineage.TraceID, headers: map[string]string{"CG-Step-Id": "step_1"}},
	}, t
}

// TestTheirCall: what is wrong with a call of theirs has a code; what is right has none.
func TestTheirCall(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*theirCall, *tool)
		code   utp.Code
	}{
		"nothing":           {func(*theirCall, *tool) {}, ""},
		"another subject":   {func(_ *theirCall, t *tool) { t.target = "cg.v1r4.{project_id}.{channel_id}.cmd.tool.other.call" }, utp.CodeBadRequest},
		"not served":        {func(c *theirCall, _ *tool) { c.tool = "" }, utp.CodeAuthFailed},
		"another call":      {func(c *theirCall, _ *tool) { c.card.ToolCallID = "tc_2" }, utp.CodeToolCallIDMismatch},
		"another tool":      {func(c *theirCall, _ *tool) { c.card.ToolName = "desk_burn" }, utp.CodeBadRequest},
		"their environment": {func(c *theirCall, _ *tool) { c.card.Envs = map[string]string{"key": "KEY"} }, utp.CodeBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, of := theirs()
			tt.change(&c, &of)
			err := c.check(there, of, "cg.v1r4.proj_1.public.cmd.tool.earshot.call")
			if (err == nil) != (tt.code == "") || err != nil && codeOf(err) != tt.code {
				t.Errorf("%v; want %q", err, tt.code)
			}
		})
	}
}

// TestTheirResult: the card and the row of a result agree with the call, whatever Earshot says, and nothing but a success
// reads as one. The ids follow from the call's and its project.
func TestTheirResult(t *testing.T) {
	t.Parallel()
	c, _ := theirs()
	for name, tt := range map[string]struct {
		call  api.AgentCall
		wants string
	}{
		"a success":             {api.AgentCall{Status: utp.StatusSuccess, Result: jsontext.Value(`{"n":1}`)}, `"status":"success","after_execution":"suspend","result":{"n":1},"error":null`},
		"a refusal":             {api.AgentCall{Status: utp.StatusFailed, Code: utp.CodeDeniedByPolicy, Message: "no"}, `"code":"denied_by_policy","message":"no"`},
		"a failure without why": {api.AgentCall{Status: utp.StatusFailed}, `"code":"internal_error"`},
		"no status":             {api.AgentCall{}, `"status":"failed"`},
	} {
		r := c.result(there, tt.call, at)
		a, err := c.rows(r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(string(a.card.Content), tt.wants) {
			t.Errorf("%s: %s; want %s", name, a.card.Content, tt.wants)
		}
		if want := `{"CG-Recursion-Depth":"3","CG-Step-Id":"step_1","CG-Tool-Call-Id":"tc_1"}`; string(a.headers) != want {
			t.Errorf("%s: the row has %s; want %s", name, a.headers, want)
		}
		if !strings.Contains(string(a.payload), `"`+a.card.ID+`"`) || r.AuthorID != "tool.earshot" {
			t.Errorf("%s: the report is %s of %s", name, a.payload, a.card.ID)
		}
	}
	other := c
	other.context.ProjectID = "proj_2"
	if c.short() == other.short() || len(c.short()) != 32 {
		t.Errorf("the ids are %s and %s", c.short(), other.short())
	}
}

// TestPatience: how long their worker waits for a tool.
func TestPatience(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]time.Duration{
		`{}`: 5 * time.Minute, `{"timeout_seconds":9}`: 9 * time.Second, `{"timeout_seconds":9,"suspend_timeout_seconds":1.5}`: 1500 * time.Millisecond,
		`{"suspend_timeout_seconds":0}`: 5 * time.Minute, `{"suspend_timeout_seconds":1e9}`: 24 * time.Hour, `[]`: 5 * time.Minute,
	} {
		if got := (tool{options: jsontext.Value(options)}).patience(); got != want {
			t.Errorf("%s: %v; want %v", options, got, want)
		}
	}
}

// TestNamed: they name a tool as we do, or as models can.
func TestNamed(t *testing.T) {
	t.Parallel()
	p := &provider{o: Options{Serve: []string{"desk.say", "desk.burn"}}}
	for theirs, want := range map[string]string{"desk_say": "desk.say", "desk.burn": "desk.burn", "desk_move": "", "": ""} {
		if got := p.named(theirs); got != want {
			t.Errorf("%q is %q; want %q", theirs, got, want)
		}
	}
}
