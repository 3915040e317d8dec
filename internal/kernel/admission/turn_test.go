package admission_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// TestBegin: a turn begins if its agent is active, has not as many open turns as it may, and takes such arguments; it has
// the name that people read, and the fields that its agent is defined with.
func TestBegin(t *testing.T) {
	t.Parallel()
	inactive := false
	for _, test := range []struct {
		name       string
		definition api.AgentDefinition
		args       string
		code       utp.Code
	}{
		{name: "not defined", args: `{}`},
		{name: "defined", definition: api.AgentDefinition{DisplayName: "Tidy up", ResultFields: api.NameList{"freed"}}, args: `{}`},
		{name: "not active", definition: api.AgentDefinition{Active: &inactive}, args: `{}`, code: utp.CodeAgentInactive},
		{name: "as many open as it may have", definition: api.AgentDefinition{MaxOpen: 1}, args: `{}`, code: utp.CodeTooManyTurns},
		{
			name: "arguments do not fit", definition: api.AgentDefinition{Parameters: jsontext.Value(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
			args: `{"n":"many"}`, code: utp.CodeBadRequest,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t) // the agent has one open turn
			test.definition.Name = "tidy"
			define(test.definition)(w)
			w.in(func(tx *admission.Tx) error {
				err := tx.Begin(api.EnqueueRequest{Agent: "tidy", Label: "photos"})
				if err == nil {
					err = tx.Complete(jsontext.Value(test.args))
				}
				fault, _ := errors.AsType[*api.Fault](err)
				switch {
				case fault == nil && (err != nil || test.code != ""), fault != nil && fault.Code != test.code:
					t.Errorf("found %v, expected %q", err, test.code)
				case fault == nil && (w.of.Name != "tidy, photos" && w.of.Name != "Tidy up, photos" || len(w.of.ResultFields) != len(test.definition.ResultFields)):
					t.Errorf("its name is %q, and its answer has %q", w.of.Name, w.of.ResultFields)
				}
				return nil
			})
		})
	}
}

// TestWithin: a turn within another one takes over its depth and deadline, and begins only where the definition of that
// one's agent lets it ask, where a place is left, and not too deep.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*world, *turn.State)
		code   utp.Code
	}{
		{name: "may"},
		{name: "may not ask", change: func(w *world, _ *turn.State) {
			define(api.AgentDefinition{Name: "clerk", MayAsk: api.NameList{"other"}})(w)
		}, code: utp.CodeAuthFailed},
		{name: "may ask", change: func(w *world, _ *turn.State) {
			define(api.AgentDefinition{Name: "clerk", MayAsk: api.NameList{"tid*"}})(w)
		}},
		{name: "too deep", change: func(_ *world, above *turn.State) { above.Depth = turn.MaxDepth - 1 }, code: utp.CodeRecursionDepthExceeded},
		{name: "its own agent holds the one place", change: func(w *world, above *turn.State) { above.Agent, w.rules.places = "tidy", 1 }, code: utp.CodeTooManyTurns},
		{name: "another place is left", change: func(w *world, above *turn.State) { above.Agent, w.rules.places = "tidy", 2 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			above := w.of
			above.Turn, above.Session, above.Agent, above.Depth = "turn_00000000000000000000000000000002", "sess_00000000000000000000000000000002", "clerk", 3
			if test.change != nil {
				test.change(w, &above)
			}
			w.in(func(tx *admission.Tx) error {
				err := tx.Within(above)
				fault, _ := errors.AsType[*api.Fault](err)
				switch {
				case fault == nil && (err != nil || test.code != ""), fault != nil && fault.Code != test.code:
					t.Errorf("found %v, expected %q", err, test.code)
				case fault == nil && (w.of.Depth != above.Depth+1 || w.of.Parent != above.Turn || w.of.Within.Session != above.Session):
					t.Errorf("it is %d deep, within %s", w.of.Depth, w.of.Parent)
				}
				return nil
			})
		})
	}
}
