package admission

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Definition returns the definition of the turn's agent, as it is in this transaction.
func (t *Tx) Definition() (api.AgentDefinition, error) {
	if t.agent == nil {
		a, err := t.siblings.agent(t.tx, t.of.Agent)
		if err != nil {
			return api.AgentDefinition{}, err
		}
		t.agent = &a
	}
	return t.agent.Definition, nil
}

// unusable returns why the turn's agent may not use a tool by its definition; "" if it may.
func (t *Tx) unusable(tool string) (string, error) {
	d, err := t.Definition()
	switch {
	case err != nil || roster.MayUse(d, tool):
		return "", err
	case !d.IsActive():
		return fmt.Sprintf("the agent %s is not active, so none of its calls is made; an operator sees why with `earshot agents show %s`", d.Name, d.Name), nil
	default:
		return fmt.Sprintf("the tool is not among those that the agent %s may use; an operator sees them with `earshot agents show %s`", d.Name, d.Name), nil
	}
}

// ruling returns what applies to a tool now: that it is denied if the definition of the turn's agent leaves it out, and
// otherwise what the policy decides.
func (t *Tx) ruling(tool store.Tool) (rulebook.Ruling, error) {
	d, err := t.Definition()
	if err != nil {
		return rulebook.Ruling{}, err
	}
	return Defined(d, tool.Definition.Tool, t.gate.o.Decide(t.of.Agent, tool)), nil
}

// Defined returns the ruling unless the definition of an agent denies the tool. Its rule is then the definition.
func Defined(d api.AgentDefinition, tool string, r rulebook.Ruling) rulebook.Ruling {
	if roster.MayUse(d, tool) {
		return r
	}
	return rulebook.Ruling{Rule: fmt.Sprintf(`{"definition":%q}`, d.Name), Decision: turn.Deny}
}

// KernelTool returns a tool that the kernel serves itself. Its definition is the kernel's own, so nobody has to review it.
func KernelTool(name string) (store.Tool, bool) {
	d, found := delegation.Definition(name)
	if !found {
		return store.Tool{}, false
	}
	digest, err := d.Digest()
	return store.Tool{Definition: d, Digest: digest, Reviewed: true, Class: d.Class, Risk: d.Risk}, err == nil
}

// Tool returns a tool of the kernel's own or of the registry. The error may be [store.ErrNotFound].
func (t *Tx) Tool(name string) (store.Tool, error) {
	if own, found := KernelTool(name); found {
		return own, nil
	}
	return store.ReadTool(t.tx, name)
}

// Unmet returns the end of a turn in place of a success, unless its last call is one that its agent has to end with and
// succeeded; the zero value if it is. Calls that were asked for together are all the last one. Submitted is whether the
// turn ends with an answer that has fields, which stands for a call of submit_result.
func (t *Tx) Unmet(submitted bool) (turn.End, error) {
	d, err := t.Definition()
	if err != nil || len(d.MustEndWith) == 0 || submitted && roster.Submits(d) {
		return turn.End{}, err
	}
	for _, c := range t.of.Latest() {
		if c.Outcome != nil && c.Outcome.Status == utp.StatusSuccess && roster.EndsWith(d, c.Tool) {
			return turn.End{}, nil
		}
	}
	return turn.End{
		Status: utp.StatusFailed, Code: utp.CodeMustEndWith,
		Message: fmt.Sprintf("a turn of the agent %s has to end with a successful call of %s", d.Name, strings.Join(d.MustEndWith, " or ")),
	}, nil
}
