package main

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/clock"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/service"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
	workerbus "github.com/earshot-dev/earshot/worker/agent"
)

const (
	project  = "default"
	hubName  = "terminal"
	tidyName = "tidy"
	// hereName is the surface of whoever works with `up` from a command of their own.
	hereName = "terminal"
	// programName is the surface of whoever has read server.json.
	programName = "program"
)

const (
	// workers is how many turns of a server are planned at once. One that waits longer than keep,
	// for a person or a slow tool, lets another one go on.
	workers = 8
	keep    = 200 * time.Millisecond
	// workerPoll is how soon it looks for a turn without having been rung, and hubPoll for
	// events. Inside one process a ring is hardly ever lost, so that while nothing happens
	// they look once in idlePoll: a server that does nothing is to cost nothing.
	workerPoll = 2 * time.Second
	hubPoll    = 2 * time.Second
	idlePoll   = 15 * time.Second
)

// house is everything of one process: the ledger, the bus, the kernel, and the
// services and workers that live here. Each part speaks to the kernel over the bus
// with its own credential.
type house struct {
	data       *datadir.Dir
	key        []byte // seals secrets
	store      kernel.Store
	ledger     string // where the store is, for people to read
	inDatabase bool
	bus        *bus.Server
	kernel     *kernel.Kernel
	conn       hubConn // the hub's end of the bus
	hub        *hub.Hub
	policy     *policyfile.File
	access     *access.Store // who may do what; nil where only the one who runs it is there
	// token lets programs of the local user listen and ask for work, personToken the user
	// answer; both as long as this process lives.
	token, personToken string
	// counter is the file beside the ledger that tells when that has gone back in time.
	counter string
	// now is the time of the ledger: the database's, or that of this machine.
	now func() time.Time
	// roster is who comes to the bus.
	roster *roster
	// takenOver: the ledger was another data directory's. settle marks it as this one's.
	takenOver bool
	settle    func(context.Context) error
	// restored: the ledger went back in time since it was last used here.
	restored bool
	// changed are the tools whose programs changed since they were reviewed.
	changed []utp.Definition

	log *slog.Logger

	reached func(point string) // the hook of the fault tests
	closers []func()           // in the order of opening
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
	policy   *policyfile.File
	log      *slog.Logger
	reached  func(point string)
	serves   bool // others come in too, by tokens and logins
	// database is where the ledger is, if it is in PostgreSQL; "" is the file in the data
	// directory.
	database string
	// takeOver has the ledger in the database be this data directory's, whosever it was.
	takeOver bool
	// natsListen is where tool services from outside come to the bus; "" lets none in.
	natsListen string
	// retention is how long things are kept, where it is said anew; keepAll erases nothing.
	retention retention
	keepAll   bool
	// services are those that a file configures and this process runs.
	services []configured
}

// openHouse opens the ledger, starts the bus and serves the kernel. Nothing runs yet.
func (m *Main) openHouse(ctx context.Context, o houseOptions) (*house, error) {
	h := &house{broken: make(chan error, 1), now: m.Now, log: o.log, reached: o.reached, policy: o.policy}
	h.upper.open(ctx)
	h.lower.open(ctx)
	for _, open := range []func(context.Context, houseOptions) error{h.openData, h.openAccess, h.openLedger, h.openBus, m.openKernel(h)} {
		if err := open(h.lower.ctx, o); err != nil {
			h.Close()
			return nil, h.cause(err)
		}
	}
	return h, nil
}

func (h *house) openData(_ context.Context, o houseOptions) (err error) {
	if h.data, err = datadir.Open(o.dataPath); err != nil {
		return err
	}
	h.closers = append(h.closers, h.data.Close)
	h.key, err = h.data.Key() // before the ledger is made: one without its key is refused
	return err
}

// openAccess lets in who has a token, and the one who runs it.
func (h *house) openAccess(_ context.Context, o houseOptions) (err error) {
	if !o.serves {
		return nil
	}
	if h.access, err = openAccess(h.data.File(datadir.TokensFile), h.now); err != nil {
		return err
	}
	if h.token, err = h.access.Grant(h.programs()); err == nil {
		h.personToken, err = h.access.Grant(h.owner())
	}
	return accessFailure(err)
}

// programs are those of the one who runs it: they find the server by server.json, hear,
// start and stop. They do not answer: that is for a person (call protocol, "Who may answer").
func (h *house) programs() access.Principal {
	return access.Principal{Name: localUser(), Surface: programName, Roles: []access.Role{access.Listener, access.Operator}}
}

// owner is the one who runs it, as a person: at a command that they type, and on the page
// that the login code opens.
func (h *house) owner() access.Principal {
	return access.Principal{
		Name: localUser(), Surface: hereName, Roles: []access.Role{access.Listener, access.Approver, access.Operator},
	}
}

// approvers says who consents: whoever has the right, or only the one who runs it.
func (h *house) approvers() kernel.Approvers {
	if h.access != nil {
		return h.access
	}
	return onePerson{name: localUser()}
}

func (h *house) openBus(ctx context.Context, o houseOptions) (err error) {
	files := credentials{h.data.File(credentialDir)}
	settings := bus.Options{Project: project, Logger: o.log, Principals: residents(), Listen: o.natsListen}
	for _, c := range o.services {
		settings.Principals = append(settings.Principals, c.principal())
	}
	if o.natsListen != "" {
		if settings.Known, err = files.all(); err != nil {
			return err
		}
	}
	if err := onlyHere(o.services, settings.Known); err != nil {
		return err
	}
	if h.bus, err = bus.Start(ctx, settings); err != nil {
		return cause.Fail(nil, "the message bus did not start: "+cause.Of(err), "with --nats-listen, use an address that is free, such as 127.0.0.1:4222")
	}
	h.closers = append(h.closers, h.bus.Close)
	h.roster = &roster{files: files, services: o.services, bus: h.bus, known: settings.Known}
	if err := files.settle(settings.Known, h.bus.URL()); err != nil {
		return cause.Fail(err, "the credentials cannot be written", "make room in "+h.data.Path)
	}
	return nil
}

// residents are those who live in this process.
func residents() []bus.Principal {
	return []bus.Principal{{Kind: bus.Agent, Name: tidyName}, {Kind: bus.Agent, Name: api.OperatorAgent}, {Kind: bus.Tool, Name: tidy.Target}, {Kind: bus.Hub, Name: hubName}}
}

// presence knows which services are there. In a ledger that is opened for one command nobody
// lives, and that says nothing.
func (o houseOptions) presence(end *bus.Kernel) kernel.Presence {
	if o.keepAll {
		return nil
	}
	return end
}

func (m *Main) openKernel(h *house) func(context.Context, houseOptions) error {
	return func(ctx context.Context, o houseOptions) error {
		end, err := h.bus.Kernel(ctx)
		if err != nil {
			return cause.Fail(err, "the kernel could not join the bus", "")
		}
		h.closers = append(h.closers, end.Close)
		content, receipts, err := o.keep(h.data)
		if err != nil {
			return err
		}
		narrator, err := narrate.New(narrate.Options{})
		if err != nil {
			return err
		}
		h.kernel, err = kernel.New(kernel.Options{
			Store: h.watch(), Bus: end, Policy: o.policy, Narrator: narrator,
			Approvers:   h.approvers(),
			Names:       h.roster,
			Operator:    localUser(),
			Presence:    o.presence(end),
			Incarnation: &datadir.Counter{Path: h.counter, Trouble: h.counterBroke}, TakenOver: h.takenOver,
			Project: project, Clock: clock.System(h.now), Logger: o.log, Key: h.key, Environment: m.LookupEnv,
			SoleHost: true, Own: !o.serves, Patient: o.serves, Reached: o.reached,
			Retention: kernel.Retention{Content: content, Receipts: receipts, Gone: h.forgetJournals},
		})
		if err != nil {
			return cause.Fail(err, "the kernel did not start", "")
		}
		if h.restored, err = h.kernel.Recover(ctx); err != nil {
			return cause.Fail(err, "the ledger could not be taken up again", "restore "+h.data.Path+" from a backup, or use another folder with --data DIR")
		}
		if h.settle != nil {
			if err := h.settle(ctx); err != nil {
				return err
			}
		}
		if err := h.review(ctx, o); err != nil {
			return err
		}
		if err := h.kernel.Park(ctx); err != nil { // until it is known which of them may go on
			return cause.Fail(err, "the ledger could not be read", "")
		}
		if err := end.Serve(ctx, serveKernel(h.kernel)); err != nil {
			return cause.Fail(err, "the kernel could not serve", "")
		}
		if err := h.keepInForce(ctx, o); err != nil {
			return err
		}
		h.lower.owned.Go(func() { h.kernel.Run(ctx) })
		h.lower.owned.Go(func() { o.policy.Watch(ctx, m.overseer(h, o)) })
		if content > 0 {
			h.lower.owned.Go(func() { h.sweepJournals(ctx, content) })
		}
		return h.openTerminal(ctx)
	}
}

// openTerminal opens the hub's end of the bus.
func (h *house) openTerminal(ctx context.Context) error {
	conn, err := h.bus.Connect(ctx, bus.Principal{Kind: bus.Hub, Name: hubName})
	if err != nil {
		return cause.Fail(err, "the terminal could not join the bus", "")
	}
	h.conn = hubConn{conn}
	h.hub = hub.New(h.conn, 0)
	return nil
}

// openHub lets others subscribe, at the address.
func (h *house) openHub(address string, o houseOptions) {
	h.hub = hub.Open(hub.Options{
		Conn: h.conn, Rights: h.access, Project: project, Now: h.now, Logger: o.log, Poll: hubPoll, Idle: idlePoll,
		Offer: pacing.Offer{
			Producer:  aaep.Producer{AgentID: "earshot", AgentName: "Earshot", AgentVersion: thisBuild().Version},
			Languages: []string{"en"}, Extensions: []string{aaep.ExtensionContext}, ManifestURI: address + "/.well-known/aaep-manifest.json",
		},
	})
	h.own(h.hub.Run)
}

// serveTidy starts the files service for folders, and the agent.
func (h *house) serveTidy(ctx context.Context, roots []string, o houseOptions) error {
	allowed, err := files.Allow(roots...)
	if err != nil {
		return folderFailure(strings.Join(roots, ", "), err)
	}
	operations, err := files.New(files.Options{
		Allowed: allowed, Journal: h.data.File(datadir.JournalDir), Private: []string{h.data.Path}, Now: h.now,
	})
	if err != nil {
		return cause.Fail(err, "the files service did not start", "make room in the data directory, or use --data DIR")
	}
	tools, err := tidy.Tools(operations, o.reached)
	if err != nil {
		return err
	}
	mouth, err := h.bus.Connect(ctx, bus.Principal{Kind: bus.Tool, Name: tidy.Target})
	if err != nil {
		return cause.Fail(err, "the files service could not join the bus", "")
	}
	serving, err := tool.New(tool.Options{Conn: service.Conn{Client: mouth}, Tools: tools, Logger: o.log})
	if err != nil {
		return err
	}
	agent, err := h.bus.Connect(ctx, bus.Principal{Kind: bus.Agent, Name: tidyName})
	if err != nil {
		return cause.Fail(err, "the agent could not join the bus", "")
	}
	h.own(serving.Run)
	attends := worker.Options{Conn: workerbus.Conn{Client: agent}, Agent: tidy.Agent(), Logger: o.log}
	if o.serves {
		attends.Turns, attends.Keep, attends.Poll, attends.Idle = workers, keep, workerPoll, idlePoll
	}
	planner, err := worker.New(attends)
	if err != nil {
		return err
	}
	h.own(planner.Run)
	if o.serves {
		return h.serveOperator(ctx, attends)
	}
	return nil
}

// serveOperator starts the agent that carries out single calls for operators.
func (h *house) serveOperator(ctx context.Context, attends worker.Options) error {
	agent, err := h.bus.Connect(ctx, bus.Principal{Kind: bus.Agent, Name: api.OperatorAgent})
	if err != nil {
		return cause.Fail(err, "the operator's agent could not join the bus", "")
	}
	attends.Conn, attends.Agent = workerbus.Conn{Client: agent}, operatorAgent()
	planner, err := worker.New(attends)
	if err != nil {
		return err
	}
	h.own(planner.Run)
	return nil
}

// own runs a part on the upper floor and keeps its failure.
func (h *house) own(part func(context.Context) error) {
	h.upper.owned.Go(func() {
		if err := part(h.upper.ctx); err != nil {
			h.fail(cause.Fail(err, "a part of the program has failed", ""))
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
	h.upper.stop()
	h.reached("services.ending")
	h.upper.close()
	h.lower.close()
	for _, c := range slices.Backward(h.closers) {
		c()
	}
}
