package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// maxComment is how many bytes of an agent's own text about a call are kept.
const maxComment = 2 << 10

// Request is a requested call, no matter who asks for it.
type Request struct {
	Key, Step, Tool, Comment string
	Lang                     string // of the comment
	Args                     jsontext.Value
	Missing                  bool    // the arguments are not in the ledger
	From, To                 float64 // the part of the step's text that it belongs to
	Replaces                 string  // the call that this one stands for
}

// Make makes a call: it names it, resolves and validates the arguments, asks the definition of the agent, the policy and
// standing permissions, and adds its card.
func (t *Tx) Make(r Request) (turn.Call, error) {
	c, err := t.unresolved(r)
	if err != nil {
		return c, err
	}
	if why, err := t.unusable(r.Tool); why != "" || err != nil {
		if err != nil {
			return c, err
		}
		return t.Invalid(c, r.Args, utp.CodeAuthFailed, why)
	}
	if own, is := KernelTool(r.Tool); is && !r.Missing {
		return t.delegates(c, own, r)
	}
	tool, err := store.ReadTool(t.tx, r.Tool)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return t.Invalid(c, r.Args, utp.CodeUnknownTool, delegation.Unknown(r.Tool))
	case err != nil:
		return c, err
	case t.gate.o.Lacks(tool):
		return t.Invalid(c, r.Args, utp.CodeUnknownTool, "its service does not have the tool "+r.Tool+" any more")
	}
	return t.judge(c, tool, r)
}

// Refuse makes a call that has failed before anything was looked up for it. It has a card without arguments.
func (t *Tx) Refuse(r Request, code utp.Code, message string) (turn.Call, error) {
	c, err := t.unresolved(r)
	if err != nil {
		return c, err
	}
	return t.Invalid(c, nil, code, message)
}

// MakePermission makes a call for what an outside agent does by itself, with a tool of its own: a person is asked, and
// nothing is started. What the agent does is not known here, so it counts as irreversible. Ask says that the agent wants to
// be asked for even what the policy allows.
func (t *Tx) MakePermission(r Request, ask bool) (turn.Call, error) {
	own := r.Tool
	r.Tool = t.of.Agent + "." + own
	c, err := t.unresolved(r)
	if err != nil {
		return c, err
	}
	c.Kind = turn.PermissionCall
	if r.Missing {
		return t.Invalid(c, nil, utp.CodeBadRequest, "the blob of the input has not been put, or not completely")
	}
	canonical, err := utp.Canonical(r.Args)
	if err != nil || r.Args.Kind() != '{' {
		return t.Invalid(c, nil, utp.CodeBadRequest, "the input is not one JSON object that everybody reads alike")
	}
	c.Arguments = sum(canonical)
	ruling, err := t.permissionRuling(c.Tool)
	if err != nil {
		return c, err
	}
	if ask && ruling.Decision == turn.Allow {
		ruling.Decision = turn.Ask
	}
	c.Policy, c.Decision, c.Limits.Answer = ruling.Rule, ruling.Decision, ruling.Answer
	definition, err := json.Marshal(struct {
		Agent string `json:"agent"`
		Tool  string `json:"tool"`
	}{t.of.Agent, own}, json.Deterministic(true))
	if err != nil {
		return c, store.Unexpected("a permission", err)
	}
	c.Definition = store.SHA256Hex(definition)
	if err := t.cards.AddCall(c, "", argument.Resolved{Args: r.Args}); err != nil {
		return c, err
	}
	c.Digest, err = t.digest(c, r.Args)
	return c, err
}

// unresolved makes a call from the request alone.
func (t *Tx) unresolved(r Request) (turn.Call, error) {
	id, err := t.gate.o.IDs.ID(t.now.Wall)
	return turn.Call{
		ID: "tc_" + id, Card: "card_" + id, Key: r.Key, Step: r.Step, Tool: r.Tool,
		Comment: store.Clip(r.Comment, maxComment), Lang: r.Lang, Range: [2]float64{r.From, r.To}, Replaces: r.Replaces, State: turn.Requested,
		Class: utp.Irreversible, Risk: utp.RiskHigh,
	}, err
}

// delegates makes a call that turns of other agents do.
func (t *Tx) delegates(c turn.Call, tool store.Tool, r Request) (turn.Call, error) {
	plan, err := delegation.Read(r.Tool, r.Args)
	if err != nil {
		return t.Invalid(c, r.Args, utp.CodeBadRequest, err.Error())
	}
	c, err = t.judge(c, tool, r)
	if err != nil || c.Outcome != nil {
		return c, err
	}
	c.Target, c.Batch = "", plan.Batch() // no service has it
	c.Limits.Result = plan.Within
	return c, nil
}

// judge fills in what the registry and the policy say about the call.
func (t *Tx) judge(c turn.Call, tool store.Tool, r Request) (turn.Call, error) {
	d := tool.Definition
	c.After = d.AfterExecution
	c.Definition, c.Class, c.Risk = tool.Digest, tool.EffectiveClass(), tool.EffectiveRisk()
	target, err := t.Target(d)
	if err != nil {
		return t.Invalid(c, r.Args, utp.CodeBadRequest, err.Error())
	}
	c.Target = target.Target
	if r.Missing {
		return t.Invalid(c, nil, utp.CodeBadRequest, "the blob of the arguments has not been put, or not completely")
	}
	resolved, err := t.gate.o.Values.Resolve(c.ID, tool, r.Args)
	if wrong, is := errors.AsType[*argument.InvalidError](err); is {
		return t.Invalid(c, nil, wrong.Code, wrong.Message)
	}
	if err != nil {
		return c, err
	}
	t.sealed = append(t.sealed, resolved.Sealed...)
	ruling := t.gate.o.Decide(t.of.Agent, tool)
	judged := rulebook.Terms(tool, ruling)
	c.Policy, c.Decision, c.Limits = ruling.Rule, judged.Decision, judged.Limits
	if c.Limits.PreferredUndo, err = t.PreferredUndo(t.of.Owner); err != nil {
		return c, err
	}
	if tool.Enforcement() != utp.Enforced && len(resolved.Args) > api.InlineLimit {
		return t.Invalid(c, nil, utp.CodeTooLarge, "the tool's service is a third-party one and takes arguments of at most 256 KiB")
	}
	c.Arguments = sum(resolved.Canonical)
	if err := t.permissions.allow(&c, tool, resolved.Canonical); err != nil {
		return c, err
	}
	if err := t.cards.AddCall(c, target.String(), resolved); err != nil {
		return c, err
	}
	c.Digest, err = t.digest(c, resolved.Args)
	return c, err
}

// Invalid ends a call that cannot be made. It still has a card, with its arguments if they can stand there.
func (t *Tx) Invalid(c turn.Call, args jsontext.Value, code utp.Code, message string) (turn.Call, error) {
	c.Outcome = &turn.Outcome{Status: utp.StatusFailed, Code: code, Message: message}
	if args.Kind() != '{' || !args.IsValid() || len(args) > api.InlineLimit {
		args = jsontext.Value("{}")
	}
	err := t.cards.AddCall(c, "", argument.Resolved{Args: args})
	if _, bad := errors.AsType[*utp.CardError](err); bad { // no card can hold such a name
		c.Tool = noTool
		err = t.cards.AddCall(c, "", argument.Resolved{Args: args})
	}
	return c, err
}

// noTool replaces a name that no tool can have; no tool can have this one either.
const noTool = "(no tool's name)"

// Target returns the subject of a tool's commands in this turn.
func (t *Tx) Target(d utp.Definition) (utp.Subject, error) {
	return utp.RenderTarget(d.Target, utp.TargetValues{Project: t.of.Project, Channel: t.of.Channel, Agent: t.of.Agent})
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
