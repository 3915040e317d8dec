package agentcheck_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/agentcheck"
	"github.com/earshot-dev/earshot/utp"
)

// TestJudge: each label has its reason, and a hook that does not hold is a problem, never a label for it.
func TestJudge(t *testing.T) {
	t.Parallel()
	own := []string{"Bash", "Write"}
	held := agentcheck.Result{Asked: true, Shell: true, Denied: true, AgentTools: own, Quiet: []string{"Read"}}
	for name, tt := range map[string]struct {
		facts   agentcheck.Facts
		label   utp.Enforcement
		why     string
		problem bool
		not     string
	}{
		"nothing":                      {agentcheck.Facts{}, "", "Earshot is not in", false, ""},
		"a server":                     {agentcheck.Facts{MCP: true}, utp.BrokerOnly, "go through the gate", false, ""},
		"a server, run":                {agentcheck.Facts{MCP: true, Driven: true, Result: agentcheck.Result{Asked: true, Shell: true, Ran: true, AgentTools: own}}, utp.BrokerOnly, "go through the gate", false, "for Bash, Write"},
		"no tool of its own":           {agentcheck.Facts{MCP: true, Driven: true, Result: agentcheck.Result{Asked: true, Quiet: []string{"Read"}}}, utp.Enforced, "the only way", false, ""},
		"the same, unconnected":        {agentcheck.Facts{Driven: true, Result: agentcheck.Result{Asked: true}}, "", "Earshot is not in", false, ""},
		"a hook that holds":            {agentcheck.Facts{Hook: true, Blocks: true, Driven: true, Result: held}, utp.Advisory, "a no held", false, "for Read"},
		"a tool without a hook":        {agentcheck.Facts{Hook: true, Driven: true, Result: agentcheck.Result{Asked: true, Shell: true, Denied: true, Unhooked: []string{"write_stdin"}}}, utp.Advisory, "a no held", false, "no hook before write_stdin"},
		"one that fails open":          {agentcheck.Facts{Hook: true, Driven: true, Result: held}, utp.Advisory, "a no held", false, "goes on where the hook is killed"},
		"a hook not run":               {agentcheck.Facts{Hook: true, Driven: true, Result: agentcheck.Result{Asked: true, Shell: true, Ran: true, AgentTools: own}}, "", "did not run it", true, "for Bash, Write"},
		"the same with a server":       {agentcheck.Facts{MCP: true, Hook: true, Driven: true, Result: agentcheck.Result{Asked: true, Shell: true, Ran: true, AgentTools: own}}, utp.BrokerOnly, "did not run it", true, ""},
		"a no that is ignored":         {agentcheck.Facts{Hook: true, Driven: true, Result: agentcheck.Result{Asked: true, Shell: true, Denied: true, Ran: true}}, "", "did not keep to its no", true, ""},
		"a hook not tried":             {agentcheck.Facts{Hook: true}, utp.Advisory, "was not seen", false, ""},
		"a model that was not reached": {agentcheck.Facts{Hook: true, Driven: true, Result: agentcheck.Result{Trouble: "it ended"}}, utp.Advisory, "was not seen", false, ""},
	} {
		tt.facts.Title = "Claude Code"
		v := tt.facts.Judge()
		if v.Label != tt.label || !strings.Contains(v.Why, tt.why) || v.Problem != tt.problem || !strings.Contains(strings.Join(v.NotGated, " "), tt.not) {
			t.Errorf("%s: found %+v", name, v)
		}
	}
}
