package kernel_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

func policyTool(name string, class utp.Class) store.Tool {
	return store.Tool{Definition: utp.Definition{Tool: name, Class: class, Risk: utp.RiskLow}, Reviewed: true, Class: class, Risk: utp.RiskLow}
}

// TestRulesByAgent: a rule that names an agent holds for that one only, the first match decides,
// and an agent can be left with a list of tools and nothing else.
func TestRulesByAgent(t *testing.T) {
	t.Parallel()
	rules, err := rulebook.NewRules([]rulebook.Rule{
		{Agent: "scout", Tool: "files.scan", Decide: turn.Allow},
		{Agent: "scout*", Tool: "*", Decide: turn.Deny},
		{Tool: "files.scan", Decide: turn.Ask},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		agent, tool string
		want        turn.Decision
	}{
		{"scout", "files.scan", turn.Allow},
		{"scout", "files.hash", turn.Deny},
		{"scout2", "files.scan", turn.Deny},
		{"tidy", "files.scan", turn.Ask},
		{"tidy", "files.hash", turn.Allow}, // no rule: it only reads
		{"", "files.scan", turn.Ask},
	} {
		if got := rules.Decide(tt.agent, policyTool(tt.tool, utp.Read)).Decision; got != tt.want {
			t.Errorf("%q with %s: %s, want %s", tt.agent, tt.tool, got, tt.want)
		}
	}
	if _, err := rulebook.NewRules([]rulebook.Rule{{Agent: "a b", Tool: "*", Decide: turn.Ask}}); err == nil {
		t.Error("an agent that can have no such name was taken")
	}
}

// TestNoAgentMayDoWhatCannotBeUndone: a rule that allows an irreversible tool to one agent is
// refused like any other, unless an earlier one decides for every agent.
func TestNoAgentMayDoWhatCannotBeUndone(t *testing.T) {
	t.Parallel()
	burns := []store.Tool{policyTool("burn", utp.Irreversible)}
	ask, one := rulebook.Rule{Tool: "burn", Decide: turn.Ask}, rulebook.Rule{Agent: "tidy", Tool: "b*", Decide: turn.Allow}
	for _, tt := range []struct {
		name  string
		rules []rulebook.Rule
		good  bool
	}{
		{"for one agent", []rulebook.Rule{one}, false},
		{"behind a rule for another agent", []rulebook.Rule{{Agent: "scout", Tool: "burn", Decide: turn.Ask}, one}, false},
		{"behind a rule for all", []rulebook.Rule{ask, one}, true},
		{"before it", []rulebook.Rule{one, ask}, false},
	} {
		rules, err := rulebook.NewRules(tt.rules)
		if err != nil {
			t.Fatal(err)
		}
		if err := rules.CheckTools(burns); (err == nil) != tt.good {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
