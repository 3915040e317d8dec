package sim

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

const (
	project = "home"
	agent   = "tidy"
	person  = "ada"

	kernelKind = "kernel"
	toolKind   = "tool"
	agentKind  = "agent"
	hubKind    = "hub"
)

// kit is one tool of the simulated world.
type kit struct {
	name, target string
	class        utp.Class
	reconciles   bool // its service can tell afterwards
	seconds      int  // in which a call is to have a result; some calls take far longer
	last         bool // the turn ends with it
}

// kits are the tools, each named by what it does.
var kits = []kit{
	{name: "look", target: "files", class: utp.Read},
	{name: "put", target: "files", class: utp.Idempotent},
	{name: "burn", target: "files", class: utp.Irreversible},
	{name: "shred", target: "files", class: utp.Irreversible, reconciles: true},
	{name: "paint", target: "mail", class: utp.Reversible},
	{name: "send", target: "mail", class: utp.Irreversible},
	{name: "wait", target: "files", class: utp.Read, seconds: 20},
	{name: "press", target: "mail", class: utp.Irreversible, seconds: 40},
	{name: "close", target: "mail", class: utp.Idempotent, last: true},
}

func (k kit) definition(version int) utp.Definition {
	risk := map[utp.Class]utp.Risk{utp.Read: utp.RiskLow, utp.Irreversible: utp.RiskHigh}[k.class]
	if risk == "" {
		risk = utp.RiskMedium
	}
	after := utp.Suspend
	if k.last {
		after = utp.Terminate
	}
	options := fmt.Sprintf(`{"reconciles":%t}`, k.reconciles)
	if k.seconds > 0 {
		options = fmt.Sprintf(`{"reconciles":%t,"suspend_timeout_seconds":%d}`, k.reconciles, k.seconds)
	}
	return utp.Definition{
		Tool: k.name, Description: "Does " + k.name + ".",
		Parameters: jsontext.Value(fmt.Sprintf(
			`{"type":"object","title":"Version %d","properties":{"name":{"type":"string"}},"required":["name"]}`, version)),
		Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + k.target + ".run", AfterExecution: after,
		Class: k.class, Risk: risk, Options: jsontext.Value(options),
	}
}

func (w *world) toolsOf(p *process) []tool.Tool {
	var tools []tool.Tool
	for _, k := range kits {
		if k.target == p.peer {
			tools = append(tools, tool.Tool{
				Definition: k.definition(p.version),
				Run:        func(ctx context.Context, c *tool.Call) (tool.Result, error) { return w.work(ctx, p, k, c) },
				Reconcile: func(ctx context.Context, c *tool.Call) (tool.Outcome, tool.Result, error) {
					return w.reconcile(ctx, p, k, c)
				},
			})
		}
	}
	return tools
}

// ofCall is the chance of one call in one process.
func ofCall(p *process, call string) *rand.Rand {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(p.name + call))      // a hash never fails
	return rand.New(rand.NewPCG(sum.Sum64(), 7)) //nolint:gosec // Chance has to be the same again.
}

// work is what every tool does: it takes its time, has its effect, and takes its time again.
func (w *world) work(ctx context.Context, p *process, k kit, c *tool.Call) (tool.Result, error) {
	r := ofCall(p, c.ID)
	nap(ctx, w.pace(r))
	if k.seconds > 0 && r.IntN(3) == 0 { // it hangs, and only some heed that they are called off
		heeds := ctx
		if r.IntN(2) == 0 {
			heeds = p.ctx
		}
		nap(heeds, time.Duration(r.Int64N(int64(6*time.Minute))))
	}
	if ctx.Err() != nil {
		return tool.Result{Status: utp.StatusCanceled}, &utp.ToolError{Code: utp.CodeStopped, Message: "stopped before the effect"}
	}
	if r.IntN(20) == 0 {
		return tool.Result{}, &utp.ToolError{Code: utp.CodeBadRequest, Message: "there is nothing to do it with"}
	}
	late, err := await(ctx, w.schedule, p, "does "+k.name+" "+c.ID, func() error {
		if k.class.Effectful() {
			if err := c.Ready(); err != nil {
				return err
			}
		}
		w.sayf("%s does %s %s", p.name, k.name, c.ID)
		w.judge.effect(p, k, c)
		return nil
	})
	switch {
	case err != nil:
		return tool.Result{Status: utp.StatusCanceled}, &utp.ToolError{Code: utp.CodeStopped, Message: "stopped before the effect"}
	case late != nil:
		return tool.Result{}, late
	}
	c.Progress(r.Float64())
	nap(p.ctx, time.Millisecond) // the beat that carries it is on its way
	nap(ctx, w.pace(r))
	if p.dead.Load() {
		return tool.Result{}, errDead
	}
	return tool.Result{Value: map[string]any{"did": k.name, "by": p.name}}, nil
}

// pace is how long a part of a tool's work takes; some take longer than a lease.
func (w *world) pace(r *rand.Rand) time.Duration {
	if !w.weather.ceased.Load() && r.IntN(12) == 0 {
		return time.Duration(r.Int64N(int64(80 * time.Second)))
	}
	return time.Duration(r.Int64N(int64(3 * time.Second)))
}

func (w *world) reconcile(ctx context.Context, p *process, k kit, c *tool.Call) (tool.Outcome, tool.Result, error) {
	n, err := await(ctx, w.schedule, p, "looks for "+c.ID, func() int { return w.judge.effects(c.ID) })
	switch {
	case err != nil:
		return tool.Unknown, tool.Result{}, err
	case n > 0:
		return tool.Done, tool.Result{Value: map[string]any{"did": k.name, "found": true}}, nil
	}
	return tool.NotBegun, tool.Result{}, nil
}
