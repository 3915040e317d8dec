package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/rulebook"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/rpc"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
	workerbus "github.com/earshot-dev/earshot/worker/agent"
)

const (
	project = "bench"
	agent   = "caller"
	target  = "nothing"
	name    = "nothing.read"
	hub     = "starter"
)

// definition is a tool that has no effect and takes one number.
var definition = utp.Definition{
	Tool: name, Description: "Does nothing.", Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool." + target + ".read",
	Parameters:     jsontext.Value(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
	AfterExecution: utp.Suspend, Class: utp.Read, Risk: utp.RiskLow,
}

// parts are the real parts of the runtime over one ledger: a bus in this process, a kernel,
// a tool service and a worker.
type parts struct {
	kernel *kernel.Kernel
	asked  asked
	people int          // who own turns, so far
	active atomic.Int64 // how many turns of the agent may be under way; 0 is any number
	hub    *bus.Client
	upper  context.CancelFunc // ends worker and service
	lower  context.CancelFunc // ends the kernel
	owned  [2]sync.WaitGroup
	closes []func()

	mu     sync.Mutex
	failed error
}

// raise starts the parts with as many workers, each of them a seat that holds one turn.
func raise(ctx context.Context, store store.Ledger, workers int, plan func(context.Context, jsontext.Value) (worker.Planner, error)) (_ *parts, err error) {
	p := &parts{}
	lower, endLower := context.WithCancel(ctx)
	upper, endUpper := context.WithCancel(lower)
	p.upper, p.lower = endUpper, endLower
	defer func() {
		if err != nil {
			err = errors.Join(err, p.end())
		}
	}()
	b, err := bus.Start(ctx, bus.Options{Project: project, Principals: []bus.Principal{
		{Kind: bus.Agent, Name: agent}, {Kind: bus.Tool, Name: target}, {Kind: bus.Hub, Name: hub},
	}})
	if err != nil {
		return nil, err
	}
	p.closes = append(p.closes, b.Close)
	if err := p.openKernel(lower, b, store); err != nil {
		return nil, err
	}
	if p.hub, err = b.Connect(ctx, bus.Principal{Kind: bus.Hub, Name: hub}); err != nil {
		return nil, err
	}
	return p, p.attend(upper, b, workers, plan)
}

func (p *parts) openKernel(ctx context.Context, b *bus.Server, store store.Ledger) error {
	end, err := b.Kernel(ctx)
	if err != nil {
		return err
	}
	p.closes = append(p.closes, end.Close)
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		return err
	}
	rules, err := rulebook.NewRules([]rulebook.Rule{{Tool: name, Decide: turn.Allow}})
	if err != nil {
		return err
	}
	p.kernel, err = kernel.New(kernel.Options{
		Store: store, Bus: end, Policy: rules, Narrator: narrator, Project: project,
		MaxActive: func(string) int { return int(p.active.Load()) }, MayStart: func(string, string) bool { return true },
	})
	if err != nil {
		return err
	}
	digest, err := definition.Digest()
	if err != nil {
		return err
	}
	if err := p.kernel.Registry().Register(ctx, target, definition); err != nil {
		return err
	}
	if err := p.kernel.Admin().Review(ctx, name, digest, definition.Class, definition.Risk); err != nil {
		return err
	}
	p.owned[1].Go(func() { p.kernel.Run(ctx) })
	return end.Serve(ctx, serve(p.kernel, &p.asked))
}

func (p *parts) attend(ctx context.Context, b *bus.Server, workers int, plan func(context.Context, jsontext.Value) (worker.Planner, error)) error {
	if plan == nil {
		return nil
	}
	mouth, err := b.Connect(ctx, bus.Principal{Kind: bus.Tool, Name: target})
	if err != nil {
		return err
	}
	serving, err := tool.New(tool.Options{Conn: service.Conn{Client: mouth}, Parallel: max(workers, 4), Tools: []tool.Tool{{
		Definition: definition, Run: func(context.Context, *tool.Call) (tool.Result, error) { return tool.Result{Value: struct{}{}}, nil },
	}}})
	if err != nil {
		return err
	}
	end, err := b.Connect(ctx, bus.Principal{Kind: bus.Agent, Name: agent})
	if err != nil {
		return err
	}
	w, err := worker.New(worker.Options{Conn: workerbus.Conn{Client: end}, Agent: worker.Agent{Name: agent, Plan: plan}, Turns: workers})
	if err != nil {
		return err
	}
	for _, run := range []func(context.Context) error{serving.Run, w.Run} {
		p.owned[0].Go(func() {
			if err := run(ctx); err != nil && ctx.Err() == nil {
				p.fail(err)
			}
		})
	}
	return nil
}

// enqueue begins turns, one for each worker.
func (p *parts) enqueue(ctx context.Context, turns int) error {
	const each = 100 // one person may have some more open
	for n := range turns {
		if n%each == 0 {
			p.people++
		}
		request := api.EnqueueRequest{Agent: agent, Args: jsontext.Value(`{}`), Request: "do nothing, often", Owner: fmt.Sprint("person", p.people)}
		if err := rpc.Ask(ctx, p.hub, api.OpEnqueue, request, nil); err != nil {
			return fmt.Errorf("enqueueing: %w", err)
		}
	}
	return nil
}

func (p *parts) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = errors.Join(p.failed, err)
}

// end stops the upper parts, then the kernel, then the bus.
func (p *parts) end() error {
	p.upper()
	p.owned[0].Wait()
	p.lower()
	p.owned[1].Wait()
	for i := len(p.closes) - 1; i >= 0; i-- {
		p.closes[i]()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// meter counts calls and keeps how long each has taken.
type meter struct {
	mu    sync.Mutex
	began time.Time // of the window; zero while it is not open
	until time.Time
	took  []time.Duration
	all   int        // of the whole run
	spent processors // in the window
}

// open begins the window in which calls count.
func (m *meter) open(last time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.until, m.took = time.Now(), time.Now().Add(last), nil
}

// add counts a call that began and has ended now, if the window was open all the while.
func (m *meter) add(began time.Time) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all++
	if !m.began.IsZero() && !began.Before(m.began) && now.Before(m.until) {
		m.took = append(m.took, now.Sub(began))
	}
}

// over reports whether the window has been closed.
func (m *meter) over() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return !m.until.IsZero() && time.Now().After(m.until)
}

// planner wants one call after the other until the meter says that it is enough. Pace, if
// not nil, says when each may begin.
type planner struct {
	ctx   context.Context //nolint:containedctx // the life of the measurement
	meter *meter
	pace  <-chan time.Time
	n     int
	began time.Time
}

func plan(m *meter, pace <-chan time.Time) func(context.Context, jsontext.Value) (worker.Planner, error) {
	return func(ctx context.Context, _ jsontext.Value) (worker.Planner, error) {
		return &planner{ctx: ctx, meter: m, pace: pace}, nil
	}
}

// Observe implements worker.Planner: here the result is applied.
func (p *planner) Observe(r worker.Result) error {
	if r.Status != utp.StatusSuccess {
		return fmt.Errorf("the call %s ended %s: %s %s", r.Call, r.Status, r.Code, r.Message)
	}
	p.meter.add(p.began)
	return nil
}

// Next implements worker.Planner: here the worker begins to ask.
func (p *planner) Next() (worker.Decision, error) {
	p.began = time.Now()
	if p.pace != nil {
		select {
		case p.began = <-p.pace:
		case <-p.ctx.Done():
			return worker.Decision{}, p.ctx.Err()
		}
	}
	if p.meter.over() {
		return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
	}
	p.n++
	return worker.Decision{Calls: []worker.Call{{Key: fmt.Sprintf("c%d", p.n), Tool: name, Args: map[string]int{"n": p.n}}}}, nil
}
