package delegation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestRead (UTP, "Tools of the PMO"): what the arguments of each tool ask for.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, args, want string }{
		{"ask_expert", `{"expert_profile":"clerk","question":"who?"}`, "waits 15m0s [{clerk who?  false}]"},
		{"ask_expert", `{"expert_profile":"clerk","question":"who?","include_history":true,"deadline_seconds":60}`, "waits 1m0s [{clerk who?  true}]"},
		{"ask_expert", `{"expert_profile":"two words","question":"who?"}`, `task 0 names the agent "two words"; expected the name of an agent: A-Z a-z 0-9 _ -`},
		{"delegate_async", `{"target_strategy":"new","target_ref":"clerk","instruction":"file it","context_box_id":"box_1"}`, "0s [{clerk file it box_1 false}]"},
		{"launch_principal", `{"profile_name":"clerk","instruction":"file it"}`, "0s [{clerk file it  false}]"},
		{
			"fork_join", `{"tasks":[{"target_strategy":"new","target_ref":"clerk","instruction":"a"},{"target_strategy":"reuse","target_ref":"scout","instruction":"b"}],"fail_fast":true}`,
			"waits fast 15m0s [{clerk a  false} {scout b  false}]",
		},
		{"provision_agent", `{}`, "provision_agent is not a tool that has other agents do something"},
	} {
		p, err := delegation.Read(tt.tool, jsontext.Value(tt.args))
		got := ""
		if p.Waits {
			got = "waits "
		}
		if p.FailFast {
			got += "fast "
		}
		got += fmt.Sprint(p.Within.Truncate(time.Second), " ", p.Tasks)
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %s\n got %s\nwant %s", tt.tool, tt.args, got, tt.want)
		}
	}
}

// TestDefinitions: the tools have the names that are reserved for them, in order, and offer what they read.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	before := ""
	for _, d := range delegation.Definitions() {
		if d.Tool <= before {
			t.Errorf("%s stands after %s", d.Tool, before)
		}
		before = d.Tool
		if err := d.Validate(); err == nil {
			t.Errorf("a service could register %s", d.Tool)
		}
		d.Tool = "free"
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", before, err)
		}
	}
}

// TestResult: one answer of an expert, the id of what nobody waits for, and the results of several in their order.
func TestResult(t *testing.T) {
	t.Parallel()
	read := func(c turn.Child) (delegation.Output, error) {
		return delegation.Output{Text: "out of " + c.Turn}, nil
	}
	good := turn.Child{Agent: "clerk", Turn: "turn_a", Status: utp.StatusSuccess, Message: "done"}
	bad := turn.Child{Index: 1, Agent: "scout", Turn: "turn_b", Status: utp.StatusFailed, Code: utp.CodeInternalError, Message: "lost"}
	for _, tt := range []struct {
		tool  string
		batch turn.Batch
		want  string
	}{
		{
			"ask_expert",
			turn.Batch{Waits: true, Children: []turn.Child{good}},
			`{"task_index":0,"status":"success","agent_id":"clerk","agent_turn_id":"turn_a","summary":"done","output":"out of turn_a"}`,
		},
		{
			"fork_join",
			turn.Batch{Waits: true, Children: []turn.Child{good, bad}},
			`{"status":"partial","results":[{"task_index":0,"status":"success","agent_id":"clerk","agent_turn_id":"turn_a","summary":"done","output":"out of turn_a"},` +
				`{"task_index":1,"status":"failed","agent_id":"scout","agent_turn_id":"turn_b","output":"out of turn_b","error":{"code":"internal_error","message":"lost"}}]}`,
		},
		{
			"delegate_async",
			turn.Batch{Children: []turn.Child{{Agent: "clerk", Turn: "turn_a"}}},
			`{"status":"accepted","agent_id":"clerk","agent_turn_id":"turn_a","context_box_id":"box_1"}`,
		},
		{"delegate_async", turn.Batch{Children: []turn.Child{{Agent: "clerk", Status: utp.StatusFailed}}}, ``},
	} {
		c := turn.Call{Tool: tt.tool, Batch: &tt.batch, Outcome: &turn.Outcome{Status: utp.StatusPartial}}
		got, err := delegation.Result(tt.tool, delegation.Plan{Tasks: []delegation.Task{{ContextBox: "box_1"}}}, c, read)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\n got %s\nwant %s", tt.tool, err, got, tt.want)
		}
	}
}
