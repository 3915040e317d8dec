package instance

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
	workerbus "github.com/earshot-dev/earshot/worker/agent"
)

// Service is a tool service in this process. By running the process, the person has chosen its tools: they count as
// reviewed, except for those of a Source.
type Service struct {
	Name  string // its name and target on the bus
	Tools []tool.Tool
	// Open, if set, creates the tools when they need the ledger's clock.
	Open func(now func() time.Time) ([]tool.Tool, error)
	// Source, if set, provides tools that come and go. Nobody has chosen those: each is unreviewed until an operator
	// reviews it.
	Source tool.Source
	// Entry is how a Source is configured, for [Instance.Replace]. Ready, if set, waits until it has offered its tools, and
	// returns why it has not.
	Entry string
	Ready func(context.Context) error
	// Close releases the resources of its calls, once it has ended; may be nil.
	Close func()
}

func (s Service) principal() bus.Principal { return bus.Principal{Kind: bus.Tool, Name: s.Name} }

func (s Service) opened(now func() time.Time) (Service, error) {
	if s.Open == nil {
		return s, nil
	}
	var err error
	s.Tools, err = s.Open(now)
	s.Open = nil
	return s, err
}

// openServices creates the tools of the services in this process.
func (i *Instance) openServices(context.Context) error {
	for _, s := range i.options.Services {
		if s.Close != nil {
			s.Close = sync.OnceFunc(s.Close) // it may have ended before
			i.closers = append(i.closers, s.Close)
		}
		s, err := s.opened(i.Now)
		if err != nil {
			return err
		}
		i.services = append(i.services, s)
	}
	return nil
}

// reviewed returns the tools of this program, by service.
func (i *Instance) reviewed() map[string][]utp.Definition {
	all := map[string][]utp.Definition{}
	maps.Copy(all, i.options.Reviewed)
	for _, s := range i.services {
		definitions := make([]utp.Definition, 0, len(s.Tools))
		for _, t := range s.Tools {
			definitions = append(definitions, t.Definition)
		}
		all[s.Name] = definitions
	}
	return all
}

// Start starts the services in this process.
func (i *Instance) Start(ctx context.Context) error {
	for _, s := range i.services {
		if err := i.Serve(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// Serve starts a service with a credential of its own. Its tools must be among those in the options.
func (i *Instance) Serve(ctx context.Context, s Service) error {
	s, err := s.opened(i.Now)
	if err != nil {
		return err
	}
	end, err := i.Bus.Connect(ctx, s.principal())
	if err != nil {
		return cause.Fail(err, "the service "+s.Name+" could not join the bus", "")
	}
	serving, err := tool.New(tool.Options{Conn: service.Conn{Client: end}, Tools: s.Tools, Source: s.Source, Target: s.Name, Logger: i.options.Logger})
	if err != nil {
		return err
	}
	one := &runningService{Service: s, bus: end, ended: make(chan struct{})}
	life, stop := context.WithCancel(i.upper.ctx)
	one.stop = stop
	i.running.add(one)
	i.upper.owned.Go(func() {
		defer close(one.ended)
		if err := serving.Run(life); err != nil && life.Err() == nil {
			i.Fail(cause.Fail(err, "a part of the program has failed", ""))
		}
	})
	return nil
}

const (
	// workers is how many turns of a shared instance are planned concurrently. A turn that waits for long, for a person
	// or a slow tool, gives up its slot.
	workers = 8
	retain  = 200 * time.Millisecond
	// workerPoll is a worker's polling interval in addition to wakeups.
	workerPoll = 2 * time.Second
)

// Work starts an agent. Its name must be among those in the options.
func (i *Instance) Work(ctx context.Context, agent worker.Agent) error {
	end, err := i.Bus.Connect(ctx, bus.Principal{Kind: bus.Agent, Name: agent.Name})
	if err != nil {
		return cause.Fail(err, "the agent "+agent.Name+" could not join the bus", "")
	}
	o := worker.Options{Conn: workerbus.Conn{Client: end}, Agent: agent, Logger: i.options.Logger}
	if i.options.Shared {
		o.Turns, o.Retain, o.Poll, o.Idle = workers, retain, workerPoll, idlePoll
	}
	w, err := worker.New(o)
	if err != nil {
		return err
	}
	i.run(w.Run)
	return nil
}
