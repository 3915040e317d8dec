package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/bus"
	"github.com/earshot-dev/earshot/hub"
	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/kernel/sqlite"
	"github.com/earshot-dev/earshot/narrate"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/worker"
)

const (
	project  = "default"
	hubName  = "terminal"
	tidyName = "tidy"
)

// house is everything of one process: the ledger, the bus, the kernel, and the
// services and workers that live here. Each part speaks to the kernel over the bus
// with its own credential.
type house struct {
	data   *dataDir
	store  *sqlite.Store
	bus    *bus.Server
	kernel *kernel.Kernel
	hub    *hub.Hub
	// restored: the ledger went back in time since it was last used here.
	restored bool

	closers []func() // in the order of opening
	// Two floors of goroutines: the services and workers end first, while the kernel
	// still hears their last words.
	upper, lower floor
	broken       chan error // what the run cannot go on after: a part or the ledger failed
}

// floor is goroutines that are ended and waited for together.
type floor struct {
	ctx   context.Context //nolint:containedctx // The floor's own life, not a caller's.
	stop  context.CancelFunc
	owned sync.WaitGroup
}

func (f *floor) open(ctx context.Context) {
	f.ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
}

func (f *floor) close() {
	f.stop()
	f.owned.Wait()
}

// houseOptions say what the house is to hold.
type houseOptions struct {
	dataPath string
	rules    *kernel.Rules
	log      *slog.Logger
	reached  func(point string)
}

// openHouse opens the ledger, starts the bus and serves the kernel. Nothing runs yet.
func (m *Main) openHouse(ctx context.Context, o houseOptions) (*house, error) {
	h := &house{broken: make(chan error, 1)}
	h.upper.open(ctx)
	h.lower.open(ctx)
	for _, open := range []func(context.Context, houseOptions) error{h.openData, h.openLedger, h.openBus, m.openKernel(h)} {
		if err := open(h.lower.ctx, o); err != nil {
			h.Close()
			return nil, h.cause(err)
		}
	}
	return h, nil
}

func (h *house) openData(_ context.Context, o houseOptions) (err error) {
	if h.data, err = openData(o.dataPath); err != nil {
		return err
	}
	h.closers = append(h.closers, h.data.Close)
	return nil
}

func (h *house) openLedger(ctx context.Context, o houseOptions) (err error) {
	h.store, err = sqlite.Open(ctx, sqlite.Options{Path: h.data.file(ledgerFile), Logger: o.log})
	if err != nil {
		return ledgerFailure(h.data.file(ledgerFile), err)
	}
	h.closers = append(h.closers, func() { _ = h.store.Close() })
	return nil
}

func (h *house) openBus(ctx context.Context, o houseOptions) (err error) {
	h.bus, err = bus.Start(ctx, bus.Options{
		Project: project, Logger: o.log,
		Principals: []bus.Principal{
			{Kind: bus.Agent, Name: tidyName}, {Kind: bus.Tool, Name: tidy.Target}, {Kind: bus.Hub, Name: hubName},
		},
	})
	if err != nil {
		return failed(err, "the message bus did not start", "")
	}
	h.closers = append(h.closers, h.bus.Close)
	return nil
}

func (m *Main) openKernel(h *house) func(context.Context, houseOptions) error {
	return func(ctx context.Context, o houseOptions) error {
		key, err := h.data.key()
		if err != nil {
			return err
		}
		end, err := h.bus.Kernel(ctx)
		if err != nil {
			return failed(err, "the kernel could not join the bus", "")
		}
		h.closers = append(h.closers, end.Close)
		narrator, err := narrate.New(narrate.Options{})
		if err != nil {
			return err
		}
		h.kernel, err = kernel.New(kernel.Options{
			Store: watched{Store: h.store, trouble: h.ledgerBroke}, Bus: end, Policy: o.rules, Narrator: narrator,
			Incarnation: &incarnation{path: h.data.file(incarnationFile)},
			Project:     project, Clock: m.clock(), Logger: o.log, Key: key, Environment: m.LookupEnv,
			SoleHost: true, Reached: o.reached,
		})
		if err != nil {
			return failed(err, "the kernel did not start", "")
		}
		if h.restored, err = h.kernel.Recover(ctx); err != nil {
			return failed(err, "the ledger could not be taken up again", "restore "+h.data.path+" from a backup, or use another folder with --data DIR")
		}
		if err := h.review(ctx, o.rules); err != nil {
			return err
		}
		if err := end.Serve(ctx, serveKernel(h.kernel)); err != nil {
			return failed(err, "the kernel could not serve", "")
		}
		h.lower.owned.Go(func() { h.kernel.Run(ctx) })
		conn, err := h.bus.Connect(ctx, bus.Principal{Kind: bus.Hub, Name: hubName})
		if err != nil {
			return failed(err, "the terminal could not join the bus", "")
		}
		h.hub = hub.New(client{conn}, 0)
		return nil
	}
}

// review is the operator's word on the tools that ship with the program: whoever runs
// it has chosen them with it. A tool from elsewhere stays unreviewed.
func (h *house) review(ctx context.Context, rules *kernel.Rules) error {
	all, err := tidy.Definitions()
	if err != nil {
		return err
	}
	var tools []kernel.Tool
	for _, d := range all {
		digest, err := d.Digest()
		if err != nil {
			return err
		}
		if err := h.kernel.Register(ctx, tidy.Target, d); err != nil {
			return failed(err, "the tool "+d.Tool+" could not be registered", "")
		}
		if err := h.kernel.Review(ctx, d.Tool, digest, d.Class, d.Risk); err != nil {
			return failed(err, "the tool "+d.Tool+" could not be registered", "")
		}
		tools = append(tools, kernel.Tool{Definition: d, Digest: digest, Reviewed: true, Class: d.Class, Risk: d.Risk})
	}
	if err := rules.CheckTools(tools); err != nil {
		return usage(err.Error(), "change the rule to ask or deny")
	}
	return nil
}

// serveTidy starts the files service for a folder, and the agent.
func (h *house) serveTidy(ctx context.Context, root string, o houseOptions) error {
	allowed, err := files.Allow(root)
	if err != nil {
		return folderFailure(root, err)
	}
	operations, err := files.New(files.Options{
		Allowed: allowed, Journal: h.data.file(journalDir), Private: []string{h.data.path},
	})
	if err != nil {
		return failed(err, "the files service did not start", "make room in the data directory, or use --data DIR")
	}
	tools, err := tidy.Tools(operations, o.reached)
	if err != nil {
		return err
	}
	mouth, err := h.bus.Connect(ctx, bus.Principal{Kind: bus.Tool, Name: tidy.Target})
	if err != nil {
		return failed(err, "the files service could not join the bus", "")
	}
	service, err := tool.New(tool.Options{Conn: client{mouth}, Tools: tools, Logger: o.log})
	if err != nil {
		return err
	}
	agent, err := h.bus.Connect(ctx, bus.Principal{Kind: bus.Agent, Name: tidyName})
	if err != nil {
		return failed(err, "the agent could not join the bus", "")
	}
	planner, err := worker.New(worker.Options{Conn: client{agent}, Agent: tidy.Agent(), Logger: o.log})
	if err != nil {
		return err
	}
	h.own(service.Run)
	h.own(planner.Run)
	return nil
}

// own runs a part on the upper floor and keeps its failure.
func (h *house) own(part func(context.Context) error) {
	h.upper.owned.Go(func() {
		if err := part(h.upper.ctx); err != nil {
			h.fail(failed(err, "a part of the program has failed", ""))
		}
	})
}

// fail ends the run. Of several failures the first is told.
func (h *house) fail(err error) {
	select {
	case h.broken <- err:
	default:
	}
}

// cause is the failure of the ledger where there was one, else err itself.
func (h *house) cause(err error) error {
	select {
	case first := <-h.broken:
		return first
	default:
		return err
	}
}

// Close ends everything in the reverse order of opening and waits for it.
func (h *house) Close() {
	h.upper.close()
	h.lower.close()
	for _, c := range slices.Backward(h.closers) {
		c()
	}
}
