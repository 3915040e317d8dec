package kernel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// The tools of the standard service, named by what they do to the world.
const (
	burn    = "burn"         // irreversible; nobody can tell afterwards
	shred   = "shred"        // irreversible; its service can tell afterwards
	paint   = "paint"        // reversible
	put     = "put"          // idempotent
	poller  = "look"         // read
	unknown = "no.such.tool" // nowhere
)

func standardClasses() map[string]utp.Class {
	return map[string]utp.Class{
		burn: utp.Irreversible, shred: utp.Irreversible, paint: utp.Reversible, put: utp.Idempotent, poller: utp.Read,
	}
}

func standardTools(s *service) []tool.Tool {
	return []tool.Tool{
		s.tool(definition(burn, utp.Irreversible, `{}`)),
		s.tool(definition(shred, utp.Irreversible, `{"reconciles":true}`)),
		s.tool(definition(paint, utp.Reversible, `{}`)),
		s.tool(definition(put, utp.Idempotent, `{}`)),
		s.tool(definition(poller, utp.Read, `{}`)),
	}
}

// parameters take a name, which is required, a number and a text of any length.
const parameters = `{"type":"object","properties":{"name":{"type":"string"},"n":{"type":"integer"},"text":{"type":"string"},` +
	`"more":{"type":"object"}},"required":["name"]}`

func definition(name string, class utp.Class, options string) utp.Definition {
	risk := utp.RiskMedium
	if class == utp.Read {
		risk = utp.RiskLow
	}
	return utp.Definition{
		Tool: name, Description: "Does " + name + ".", Parameters: jsontext.Value(parameters),
		Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + target + "." + "run", AfterExecution: utp.Suspend,
		Class: class, Risk: risk, Options: jsontext.Value(options),
	}
}

// tool binds a definition to the counted effect.
func (s *service) tool(d utp.Definition) tool.Tool {
	return tool.Tool{
		Definition: d,
		Run: func(ctx context.Context, c *tool.Call) (tool.Result, error) {
			if err := s.world.effects.reach(ctx, "begun", s, c); err != nil {
				return tool.Result{}, err
			}
			if s.conn.dead.Load() {
				return tool.Result{}, errDead
			}
			if d.Class.Effectful() {
				if err := c.Ready(); err != nil {
					return tool.Result{}, err
				}
				if err := s.world.effects.happen(c.ID); err != nil {
					return tool.Result{}, err
				}
			}
			if err := s.world.effects.reach(ctx, "done", s, c); err != nil {
				return tool.Result{}, err
			}
			return tool.Result{Value: map[string]any{"did": d.Tool}}, nil
		},
		Reconcile: func(ctx context.Context, c *tool.Call) (tool.Outcome, tool.Result, error) {
			if err := s.world.effects.reach(ctx, "reconciled", s, c); err != nil {
				return tool.Unknown, tool.Result{}, nil //nolint:nilerr // The world has killed it.
			}
			if slices.Contains(s.world.effects.all(), c.ID) {
				return tool.Done, tool.Result{Value: map[string]any{"did": d.Tool, "found": true}}, nil
			}
			return tool.NotBegun, tool.Result{}, nil
		},
	}
}

// dies kills the service at that point.
func dies(_ context.Context, s *service, _ *tool.Call) error {
	s.kill()
	return errDead
}

// gate holds anyone who passes it until it is opened, which the end of the test does, or
// until its context ends.
type gate struct {
	way  chan struct{}
	once *sync.Once
}

func (w *world) gate() gate {
	g := gate{way: make(chan struct{}), once: &sync.Once{}}
	w.gates = append(w.gates, g)
	return g
}

func (g gate) open() { g.once.Do(func() { close(g.way) }) }

func (g gate) pass(ctx context.Context, _ *service, _ *tool.Call) error {
	select {
	case <-g.way:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wantFault checks that the kernel refused with the code.
func wantFault(t *testing.T, err error, code utp.Code) {
	t.Helper()
	var f *api.Fault
	if !errors.As(err, &f) || f.Code != code {
		t.Errorf("the answer is %v; want the refusal %s", err, code)
	}
}

// post starts the service "post" with one tool and lets the operator review it. Without
// a run of its own the tool has the counted effect.
func (w *world) post(d utp.Definition, run func(context.Context, *tool.Call) (tool.Result, error)) *service {
	w.t.Helper()
	d.Target = strings.Replace(d.Target, "tool."+target, "tool.post", 1)
	s := w.serve("post", func(s *service) []tool.Tool {
		made := s.tool(d)
		if run != nil {
			made.Run = run
		}
		return []tool.Tool{made}
	})
	w.review(map[string]utp.Class{d.Tool: d.Class})
	return s
}
