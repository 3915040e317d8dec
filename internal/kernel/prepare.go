package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// callRequest is a requested call, no matter who asks for it.
type callRequest struct {
	key, step, tool, comment string
	args                     jsontext.Value
	missing                  bool // the arguments are not in the ledger
	from, to                 float64
	replaces                 string
}

// prepare makes a call from a worker's request. A fault of the request becomes the call's own outcome; an
// error is the kernel's.
func (s *step) prepare(w api.ToolCall, stepID string) (turn.Call, error) {
	if w.Question != nil || w.Tool == utp.SubmitResult {
		return s.personCall(w, stepID)
	}
	args, err := store.ReadBody(s.tx, w.Args)
	missing := errors.Is(err, store.ErrNotFound)
	if err != nil && !missing {
		return turn.Call{}, err
	}
	if s.read += len(args); s.read > api.BlobLimit { // in one transaction, which others wait for
		return turn.Call{}, api.NewFault(utp.CodeTooLarge, "the arguments of a step may have 64 MiB together; ask for its calls in several steps")
	}
	return s.make(callRequest{
		key: w.Key, step: stepID, tool: w.Tool, comment: w.Comment, args: args, missing: missing, from: w.From, to: w.To,
	})
}

// make mints the id, resolves and validates the arguments, asks the policy, and keeps
// the tool.call card.
func (s *step) make(w callRequest) (turn.Call, error) {
	c, err := s.unresolved(w)
	if err != nil {
		return c, err
	}
	if why, err := s.unusable(w.tool); why != "" || err != nil {
		return s.leftOut(c, w.args, why, err)
	}
	if own, is := ownTool(w.tool); is && !w.missing {
		return s.delegates(c, own, w)
	}
	tool, err := store.ReadTool(s.tx, w.tool)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return s.invalid(c, w.args, utp.CodeUnknownTool, delegation.Unknown(w.tool))
	case err != nil:
		return c, err
	case s.k.registry.Lacks(tool):
		return s.invalid(c, w.args, utp.CodeUnknownTool, "its service does not have the tool "+w.tool+" any more")
	}
	return s.judge(c, tool, w)
}

// unresolved makes a call from the request alone.
func (s *step) unresolved(w callRequest) (turn.Call, error) {
	id, err := s.k.ids.ID(s.now.Wall)
	return turn.Call{
		ID: "tc_" + id, Card: "card_" + id, Key: w.key, Step: w.step, Tool: w.tool,
		Comment: store.Clip(w.comment, maxComment), Range: [2]float64{w.from, w.to}, Replaces: w.replaces, State: turn.Requested,
		Class: utp.Irreversible, Risk: utp.RiskHigh,
	}, err
}

// judge fills in what the registry and the policy say about the call.
func (s *step) judge(c turn.Call, tool store.Tool, w callRequest) (turn.Call, error) {
	d := tool.Definition
	c.After = d.AfterExecution
	c.Definition, c.Class, c.Risk = tool.Digest, tool.EffectiveClass(), tool.EffectiveRisk()
	target, err := s.target(d)
	if err != nil {
		return s.invalid(c, w.args, utp.CodeBadRequest, err.Error())
	}
	c.Target = target.Target
	if w.missing {
		return s.invalid(c, nil, utp.CodeBadRequest, "the blob of the arguments has not been put, or not completely")
	}
	resolved, err := s.k.values.Resolve(c.ID, tool, w.args)
	if wrong, is := errors.AsType[*argument.InvalidError](err); is {
		return s.invalid(c, nil, wrong.Code, wrong.Message)
	}
	if err != nil {
		return c, err
	}
	s.batch.Sealed = append(s.batch.Sealed, resolved.Sealed...)
	ruling := s.k.o.Policy.Decide(s.rec.State.Agent, tool)
	judged := rulebook.Terms(tool, ruling)
	c.Policy, c.Decision, c.Limits = ruling.Rule, judged.Decision, judged.Limits
	if c.Limits.PreferredUndo, err = s.preferredUndo(s.rec.State.Owner); err != nil {
		return c, err
	}
	if tool.Enforcement() != utp.Enforced && len(resolved.Args) > api.InlineLimit {
		return s.invalid(c, nil, utp.CodeTooLarge, "the tool's service is a third-party one and takes arguments of at most 256 KiB")
	}
	sum := sha256.Sum256(resolved.Canonical)
	c.Arguments = hex.EncodeToString(sum[:])
	if err := s.permit(&c, tool, resolved.Canonical); err != nil {
		return c, err
	}
	if err := s.cards.AddCall(c, target.String(), resolved); err != nil {
		return c, err
	}
	if c.Digest, err = s.digestOf(c, resolved.Args); err != nil {
		return c, err
	}
	return c, nil
}

// invalid ends a call that cannot be made. It still has a card.
func (s *step) invalid(c turn.Call, args jsontext.Value, code utp.Code, message string) (turn.Call, error) {
	c.Outcome = &turn.Outcome{Status: utp.StatusFailed, Code: code, Message: message}
	if args.Kind() != '{' || !args.IsValid() || len(args) > api.InlineLimit {
		args = jsontext.Value("{}")
	}
	err := s.cards.AddCall(c, "", argument.Resolved{Args: args})
	if _, bad := errors.AsType[*utp.CardError](err); bad { // no card can hold such a name
		c.Tool = noTool
		err = s.cards.AddCall(c, "", argument.Resolved{Args: args})
	}
	return c, err
}

// noTool replaces a name that no tool can have; no tool can have this one either.
const noTool = "(no tool's name)"

// target returns the subject of the tool's commands.
func (s *step) target(d utp.Definition) (utp.Subject, error) {
	return utp.RenderTarget(d.Target, utp.TargetValues{
		Project: s.rec.State.Project, Channel: s.rec.State.Channel, Agent: s.rec.State.Agent,
	})
}

// replace asks for the same work again, under a new id and as things stand now.
func (s *step) replace(id string) error {
	old, _ := s.rec.State.Find(id)
	args, err := s.cards.SuppliedArgs(old)
	missing := errors.Is(err, store.ErrDamaged)
	if err != nil && !missing {
		return err
	}
	c, err := s.make(callRequest{
		key: old.Key, step: old.Step, tool: old.Tool, comment: old.Comment, args: args, missing: missing,
		from: old.Range[0], to: old.Range[1], replaces: old.ID,
	})
	if err != nil {
		return err
	}
	if old.Outcome != nil && old.Outcome.Message == turn.StaleRestarted && sameWork(old, c) { // the question is the same as before
		c.Question = old.Question
	}
	if old.Decision == turn.Ask && c.Decision == turn.Allow { // a looser rule does not count once somebody was asked
		c.Decision = turn.Ask
	}
	return s.dispatch(turn.Adopt{Call: c})
}

// sameWork reports whether two calls ask for exactly the same: then what was read or recorded for a
// question about one is also true of the other.
func sameWork(a, b turn.Call) bool {
	return a.Arguments == b.Arguments && a.Definition == b.Definition && a.Class == b.Class && a.Risk == b.Risk
}

// check recomputes what would run now, and names what has changed.
func (s *step) check(c turn.Call) (turn.Check, error) {
	out := turn.Check{Call: c.ID}
	args, err := s.cards.Args(c)
	if errors.Is(err, store.ErrDamaged) {
		out.Reason = "arguments"
		return out, nil
	}
	if err != nil {
		return out, err
	}
	tool, err := s.tool(c.Tool)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return out, err
	}
	secrets, err := s.k.values.SecretsChanged(args)
	if err != nil {
		return out, fmt.Errorf("kernel: arguments of call %s: %w", c.ID, err)
	}
	canonical, err := utp.Canonical(args)
	if err != nil {
		out.Reason = "arguments"
		return out, nil //nolint:nilerr // What cannot be made canonical is not what was consented to.
	}
	sum := sha256.Sum256(canonical)
	ruled, err := s.ruled(c, tool)
	if err != nil {
		return out, err
	}
	switch {
	case c.Outlives(s.k.generation()):
		out.Reason = turn.StaleRestarted
	case hex.EncodeToString(sum[:]) != c.Arguments:
		out.Reason = "arguments"
	case !judgedAs(tool, c):
		out.Reason = "definition"
	case ruled.Decision == turn.Deny: // also by the definition of the agent
		out.Reason = turn.ReasonDenied
	case ruled.StricterThan(c.Terms()):
		out.Reason = c.Overruled()
	case secrets:
		out.Reason = "env"
	case s.rec.State.Project != s.k.o.Project:
		out.Reason = "project"
	case c.Consent != nil && !s.mayApprove(c.Consent.By, c.Consent.Credential):
		out.Reason = "approver"
	default:
		out.Reason = "call"
		out.Digest, err = s.digestOf(c, args)
	}
	return out, err
}

// judgedAs reports whether the tool is the one that the call was judged with, in the same class and with
// the same risk.
func judgedAs(t store.Tool, c turn.Call) bool {
	return t.Digest == c.Definition && t.EffectiveClass() == c.Class && t.EffectiveRisk() == c.Risk
}
