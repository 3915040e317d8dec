package admission_test

import (
	"crypto/rand"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/argument"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/ids"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
	"github.com/earshot-dev/earshot/utp"
)

const (
	add  = "box.add"
	line = `{"line":"one"}`
)

var began = turn.Timestamp{Wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}

// rules are what decides in a test; a test changes them between two transactions.
type rules struct {
	decision   turn.Decision
	rule       string
	generation string
	lacks      bool
	passkey    bool
	approvers  []string
	project    string
	places     int // of an agent's turns under way; 0 is any number
}

type world struct {
	*testing.T
	ledger store.Ledger
	rules  rules
	of     turn.State
	now    turn.Timestamp
	names  *ids.Source
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ledger := ledgertest.Open(t)
	w := &world{
		T: t, ledger: ledger, now: began, names: ids.New(rand.Reader),
		rules: rules{decision: turn.Ask, rule: `{"line":1}`, generation: "run 1", approvers: []string{"ada"}, project: "default"},
		of: turn.State{
			Turn: "turn_00000000000000000000000000000001", Session: "sess_00000000000000000000000000000001",
			Project: "default", Channel: "public", Agent: "tidy", Owner: "ada", Status: turn.Running,
		},
	}
	w.save(store.Batch{Turn: &store.Record{State: w.of}})
	w.register("adds a line")
	return w
}

// register saves the tool, reviewed. Another description of its argument is another definition.
func (w *world) register(description string) {
	w.Helper()
	d := utp.Definition{
		Tool: add, Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.box.add", Class: utp.Reversible, Risk: utp.RiskLow,
		AfterExecution: utp.Suspend, Parameters: jsontext.Value(`{"type":"object","properties":{"line":{"type":"string","description":"` + description + `"}},"required":["line"]}`),
	}
	digest, err := d.Digest()
	if err != nil {
		w.Fatal(err)
	}
	w.save(store.Batch{Tools: []store.Tool{{Definition: d, Digest: digest, Reviewed: true, Class: d.Class, Risk: d.Risk}}})
}

func (w *world) save(b store.Batch) {
	w.Helper()
	if err := w.ledger.Update(w.Context(), func(tx store.Tx) error { return tx.Save(b) }); err != nil {
		w.Fatal(err)
	}
}

// gate returns the gate with the rules of the test.
func (w *world) gate() *admission.Gate {
	return admission.New(admission.Options{
		Decide: func(string, store.Tool) rulebook.Ruling {
			return rulebook.Ruling{Rule: w.rules.rule, Decision: w.rules.decision}
		},
		MayApprove:   func(person, _, _ string) bool { return slices.Contains(w.rules.approvers, person) },
		NeedsPasskey: func(turn.Call) bool { return w.rules.passkey },
		MayStart:     func(string, string) bool { return false },
		Parameters:   func(string) jsontext.Value { return nil },
		MaxActive:    func(string) int { return w.rules.places },
		Lacks:        func(store.Tool) bool { return w.rules.lacks },
		Generation:   func() string { return w.rules.generation },
		Latest:       func(now turn.Timestamp) time.Time { return now.Wall },
		Values:       argument.New(argument.Options{Rand: rand.Reader}), IDs: w.names, Project: w.rules.project,
	})
}

// in does something with the gate in one transaction, and saves what was added.
func (w *world) in(do func(*admission.Tx) error) {
	w.Helper()
	gate := w.gate()
	err := w.ledger.Update(w.Context(), func(tx store.Tx) error {
		c := cards.In(tx, w.of, w.now.Wall, w.names)
		t := gate.In(tx, w.now, &w.of, c)
		if err := do(t); err != nil {
			return err
		}
		b := store.Batch{Cards: c.Added(), Sealed: t.Sealed(), Permissions: t.Permissions().Changed()}
		return tx.Save(b)
	})
	if err != nil {
		w.Fatal(err)
	}
}

// request makes a call of the tool.
func (w *world) request(r admission.Request) (c turn.Call) {
	w.Helper()
	if r.Tool == "" {
		r.Tool = add
	}
	r.Step = "step_1"
	if r.Args == nil {
		r.Args = jsontext.Value(line)
	}
	w.in(func(t *admission.Tx) (err error) {
		c, err = t.Make(r)
		return err
	})
	return c
}

// TestMake: a call is asked for, allowed, or has failed, by the first of what decides that speaks against it.
func TestMake(t *testing.T) {
	t.Parallel()
	inactive := false
	for _, test := range []struct {
		name     string
		change   func(*world)
		request  admission.Request
		decision turn.Decision
		code     utp.Code
	}{
		{name: "asked", decision: turn.Ask},
		{name: "allowed", change: func(w *world) { w.rules.decision = turn.Allow }, decision: turn.Allow},
		{name: "denied", change: func(w *world) { w.rules.decision = turn.Deny }, decision: turn.Deny},
		{name: "unknown tool", request: admission.Request{Tool: "box.burn"}, code: utp.CodeUnknownTool},
		{name: "no tool's name", request: admission.Request{Tool: "a tool"}, code: utp.CodeUnknownTool},
		{name: "not served any more", change: func(w *world) { w.rules.lacks = true }, code: utp.CodeUnknownTool},
		{name: "arguments do not fit", request: admission.Request{Args: jsontext.Value(`{"line":1}`)}, code: utp.CodeBadRequest},
		{name: "arguments are missing", request: admission.Request{Missing: true}, code: utp.CodeBadRequest},
		{name: "left out by the definition", change: define(api.AgentDefinition{Name: "tidy", Tools: api.NameList{"box.read"}}), code: utp.CodeAuthFailed},
		{name: "the agent is not active", change: define(api.AgentDefinition{Name: "tidy", Active: &inactive}), code: utp.CodeAuthFailed},
		{name: "in by the definition", change: define(api.AgentDefinition{Name: "tidy", Tools: api.NameList{"box.*"}}), decision: turn.Ask},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if test.change != nil {
				test.change(w)
			}
			c := w.request(test.request)
			code := utp.Code("")
			if c.Outcome != nil {
				code = c.Outcome.Code
			}
			if code != test.code || code == "" && c.Decision != test.decision {
				t.Errorf("found %q, %q; expected %q, %q", c.Decision, code, test.decision, test.code)
			}
			if code != "" && c.Digest != "" {
				t.Error("a call that cannot be made has what a consent would be bound to")
			}
		})
	}
}

func define(d api.AgentDefinition) func(*world) {
	return func(w *world) {
		w.save(store.Batch{Agents: []store.AgentChange{{Name: d.Name, After: store.Agent{Definition: d, Digest: "1"}}}})
	}
}

// TestCheck: a call may start while everything is as it was when it was made, and what has changed is named.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, reason string
		change       func(*world)
	}{
		{name: "nothing has changed", reason: "call"},
		{name: "the tool's definition", reason: "definition", change: func(w *world) { w.register("burns a line") }},
		{name: "the policy forbids it", reason: turn.ReasonDenied, change: func(w *world) { w.rules.decision = turn.Deny }},
		{name: "the definition forbids it", reason: turn.ReasonDenied, change: define(api.AgentDefinition{Name: "tidy", Tools: api.NameList{}})},
		{name: "a looser policy", reason: "call", change: func(w *world) { w.rules.decision = turn.Allow }},
		{name: "another project", reason: "project", change: func(w *world) { w.rules.project = "other" }},
		{name: "who has accepted may not any more", reason: "approver", change: func(w *world) { w.rules.approvers = nil }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.request(admission.Request{})
			c.Consent = &turn.Consent{By: "ada", Generation: "run 1"}
			if test.change != nil {
				test.change(w)
			}
			w.in(func(tx *admission.Tx) error {
				out, err := tx.Check(c)
				if out.Reason != test.reason || (out.Digest == c.Digest) != (test.reason == "call") {
					t.Errorf("found %q with digest %.8s, expected %q and %.8s", out.Reason, out.Digest, test.reason, c.Digest)
				}
				return err
			})
		})
	}
}

// TestStricter: a call that was allowed does not start where it would be asked for now.
func TestStricter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rules.decision = turn.Allow
	c := w.request(admission.Request{})
	w.rules.decision = turn.Ask
	w.in(func(tx *admission.Tx) error {
		out, err := tx.Check(c)
		if out.Reason != c.Overruled() || out.Digest != "" {
			t.Errorf("found %q, expected %q", out.Reason, c.Overruled())
		}
		return err
	})
}

// permit accepts a call with a standing permission for one more line.
func (w *world) permit(uses int) (p standing.Permission) {
	w.Helper()
	c := w.request(admission.Request{})
	w.in(func(t *admission.Tx) error {
		q := consent.Question{Number: 1, Kind: consent.Confirmation}
		made, err := t.Permissions().Make(c, q, consent.Accepted, api.ReplyRequest{By: "ada", Standing: &api.Standing{Uses: uses}})
		if err != nil {
			return err
		}
		p, err = t.Permissions().Add(*made)
		return err
	})
	return p
}

// TestPermission: a standing permission allows a call within its bounds, as often as it says, and never one that it does
// not cover, that stands for an earlier one, or that takes a passkey.
func TestPermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.permit(1)
	if c := w.request(admission.Request{Args: jsontext.Value(`{"line":"two"}`)}); c.Decision != turn.Ask || c.Permission != 0 {
		t.Errorf("other arguments: found %q by permission %d", c.Decision, c.Permission)
	}
	if c := w.request(admission.Request{Replaces: "tc_1"}); c.Decision != turn.Ask {
		t.Errorf("a call that stands for another: found %q", c.Decision)
	}
	w.rules.passkey = true
	if c := w.request(admission.Request{}); c.Decision != turn.Ask {
		t.Errorf("a call whose accept takes a passkey: found %q", c.Decision)
	}
	w.rules.passkey = false
	used := w.request(admission.Request{})
	if used.Decision != turn.Allow || used.Permission != p.Number || used.Policy == w.rules.rule {
		t.Errorf("found %q by permission %d under %s", used.Decision, used.Permission, used.Policy)
	}
	if c := w.request(admission.Request{}); c.Decision != turn.Ask {
		t.Errorf("one call more: found %q", c.Decision)
	}
	w.in(func(tx *admission.Tx) error { // the last use does not end what it has allowed
		out, err := tx.Check(used)
		if out.Reason != "call" {
			t.Errorf("the call that was allowed: found %q", out.Reason)
		}
		return err
	})
}

// TestPermissionLapses: where who gave it may not approve any more, or its time is over, the next call is asked for, and the
// permission is named once, to be told.
func TestPermissionLapses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		why    standing.Why
		change func(*world)
	}{
		{standing.Approver, func(w *world) { w.rules.approvers = nil }},
		{standing.Expired, func(w *world) { w.now = w.now.Add(2 * time.Hour) }},
		{standing.Definition, func(w *world) { w.register("burns a line") }},
	} {
		t.Run(string(test.why), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.permit(3)
			allowed := w.request(admission.Request{})
			test.change(w)
			w.in(func(tx *admission.Tx) error {
				c, err := tx.Make(admission.Request{Tool: add, Args: jsontext.Value(line), Step: "step_1"})
				if err != nil || c.Decision != turn.Ask || c.Permission != 0 {
					t.Errorf("found %q by permission %d, %v", c.Decision, c.Permission, err)
				}
				ended := tx.Permissions().NewlyEnded()
				if len(ended) != 1 || ended[0].Number != p.Number || ended[0].Ended.Why != test.why {
					t.Errorf("ended are %+v", ended)
				}
				if again := tx.Permissions().NewlyEnded(); len(again) != 0 {
					t.Errorf("ended once more: %+v", again)
				}
				out, err := tx.Check(allowed)
				if out.Reason == "call" {
					t.Error("what it had allowed may still start")
				}
				return err
			})
		})
	}
}

// TestPermissionRefused: a standing permission that cannot be had is a fault, so that nothing is accepted.
func TestPermissionRefused(t *testing.T) {
	t.Parallel()
	ask := api.ReplyRequest{By: "ada", Standing: &api.Standing{}}
	for _, test := range []struct {
		name   string
		judged consent.State
		kind   consent.Kind
		change func(*world)
	}{
		{name: "with a no", judged: consent.Rejected, kind: consent.Confirmation},
		{name: "to another question", judged: consent.Accepted, kind: consent.Clarification},
		{name: "with a passkey", judged: consent.Accepted, kind: consent.Confirmation, change: func(w *world) { w.rules.passkey = true }},
		{name: "for a tool that has changed", judged: consent.Accepted, kind: consent.Confirmation, change: func(w *world) { w.register("burns a line") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.request(admission.Request{})
			if test.change != nil {
				test.change(w)
			}
			w.in(func(tx *admission.Tx) error {
				made, err := tx.Permissions().Make(c, consent.Question{Number: 1, Kind: test.kind}, test.judged, ask)
				if made != nil || err == nil {
					t.Errorf("found %+v, %v", made, err)
				}
				return nil
			})
		})
	}
}
