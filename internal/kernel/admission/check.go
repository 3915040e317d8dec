package admission

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Check recomputes what would run now, and names what has changed since the call was made.
func (t *Tx) Check(c turn.Call) (turn.Check, error) {
	out := turn.Check{Call: c.ID}
	args, err := t.cards.Args(c)
	if errors.Is(err, store.ErrDamaged) {
		out.Reason = "arguments"
		return out, nil
	}
	if err != nil {
		return out, err
	}
	tool, err := t.Tool(c.Tool)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	secrets, err := t.gate.o.Values.SecretsChanged(args)
	if err != nil {
		return out, fmt.Errorf("kernel: arguments of call %s: %w", c.ID, err)
	}
	canonical, err := utp.Canonical(args)
	if err != nil {
		out.Reason = "arguments"
		return out, nil //nolint:nilerr // What cannot be made canonical is not what was consented to.
	}
	terms, err := t.Terms(c, tool)
	if err != nil {
		return out, err
	}
	switch {
	case c.Outlives(t.gate.o.Generation()):
		out.Reason = turn.StaleRestarted
	case sum(canonical) != c.Arguments:
		out.Reason = "arguments"
	case !JudgedAs(tool, c):
		out.Reason = "definition"
	case terms.Decision == turn.Deny: // also by the definition of the agent
		out.Reason = turn.ReasonDenied
	case terms.StricterThan(c.Terms()):
		out.Reason = c.Overruled()
	case secrets:
		out.Reason = "env"
	case t.of.Project != t.gate.o.Project:
		out.Reason = "project"
	case c.Consent != nil && !t.MayApprove(c.Consent.By, c.Consent.Credential):
		out.Reason = "approver"
	default:
		out.Reason = "call"
		out.Digest, err = t.digest(c, args)
	}
	return out, err
}

// Terms returns what applies to a call now, by the policy and the agent's definition; and if a standing permission has
// allowed the call and still holds, that it is allowed.
func (t *Tx) Terms(c turn.Call, tool store.Tool) (turn.Terms, error) {
	ruling, err := t.ruling(tool)
	terms := rulebook.Terms(tool, ruling)
	if err != nil || c.Permission == 0 || terms.Decision != turn.Ask || t.gate.o.NeedsPasskey(c) {
		return terms, err
	}
	p, err := t.permissions.Number(c.Permission)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return terms, nil
	}
	if err == nil && t.permissions.lapsed(p, t.callOf(tool, nil)) == "" {
		terms.Decision = turn.Allow
	}
	return terms, err
}

// Forbids reports whether the policy, or the agent's definition, forbids a tool of an outside agent's own now.
func (t *Tx) Forbids(c turn.Call) (bool, error) {
	ruling, err := t.permissionRuling(c.Tool)
	return ruling.Decision == turn.Deny, err
}

// permissionRuling returns what applies to a tool of an outside agent's own. The tool counts as reversible, so that a rule
// may leave it to the agent's own rules.
func (t *Tx) permissionRuling(tool string) (rulebook.Ruling, error) {
	return t.ruling(store.Tool{Definition: utp.Definition{Tool: tool}, Reviewed: true, Class: utp.Reversible, Risk: utp.RiskHigh})
}

// callOf is a call of this turn as a permission sees it, of the tool as it is registered now.
func (t *Tx) callOf(tool store.Tool, canonical jsontext.Value) standing.Call {
	return standing.Call{
		Owner: t.of.Owner, Project: t.of.Project, Agent: t.of.Agent, AgentName: t.of.DisplayName, Session: t.of.Session,
		Tool: tool.Definition.Tool, Definition: tool.Digest, Class: tool.EffectiveClass(), Risk: tool.EffectiveRisk(), Args: canonical,
	}
}

// Digest returns what a consent to this call is bound to.
func (t *Tx) Digest(c turn.Call) (string, error) {
	args, err := t.cards.Args(c)
	if err != nil {
		return "", err
	}
	return t.digest(c, args)
}

func (t *Tx) digest(c turn.Call, args jsontext.Value) (string, error) {
	d, err := api.Consented{
		Project: t.of.Project, Session: t.of.Session, Turn: t.of.Turn, Call: c.ID,
		Tool: c.Tool, Definition: c.Definition, Args: args, Policy: c.Policy, Question: c.Question,
	}.Digest()
	if err != nil {
		return "", fmt.Errorf("kernel: digest of call %s: %w", c.ID, err)
	}
	return hex.EncodeToString(d[:]), nil
}

// SameWork reports whether two calls ask for exactly the same: then what was read or recorded for a question about one is
// also true of the other.
func SameWork(a, b turn.Call) bool {
	return a.Arguments == b.Arguments && a.Definition == b.Definition && a.Class == b.Class && a.Risk == b.Risk
}

// JudgedAs reports whether the tool is the one that the call was judged with, in the same class and with the same risk.
func JudgedAs(t store.Tool, c turn.Call) bool {
	return t.Digest == c.Definition && t.EffectiveClass() == c.Class && t.EffectiveRisk() == c.Risk
}
