// Package instance contains what one process needs to run turns: the ledger, the message bus, the kernel that serves
// it, and the hub's connection to it. Agents and tool services join with credentials of their own. Package server adds
// access from outside, by HTTP.
package instance

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/credentialfile"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/hub"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/admin"
	"github.com/earshot-dev/earshot/internal/kernel/clock"
	"github.com/earshot-dev/earshot/internal/kernel/registry"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/narrate"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/projectfile"
	"github.com/earshot-dev/earshot/utp"
)

// hubName is the hub's name on the bus.
const hubName = "terminal"

// Options configure an instance.
type Options struct {
	Data string // the data directory, which it locks; required
	// Policy are the operator's rules. Default: none.
	Policy *policyfile.File
	// Shared means that others have access too, by tokens and logins. Otherwise there is only the person who runs it.
	Shared bool
	// Visit opens the ledger for one operator command: no services run, and nothing is erased.
	Visit bool
	// Database is the DSN of a ledger in PostgreSQL; "" means the file in the data directory.
	Database string
	// Takeover makes the ledger in the database belong to this data directory, whichever it belonged to before.
	Takeover bool
	// Listen is the address at which external tool services and agents connect to the bus; "" admits none.
	Listen string
	// Bus is that of another project, on whose message server the bus of this one is too; nil starts a message server.
	Bus *bus.Server
	// Events publishes the events of agents on the bus.
	Events bool
	// DispatchTimeout is how long a turn waits for a worker of an idle agent; 0 and less is up to a day. MaxActive is how many
	// turns an agent may have under way, by its name, and MayStart whose turns an agent or a service may start.
	DispatchTimeout time.Duration
	MaxActive       map[string]int
	// AddedCards is how many cards a worker may add to a turn; 0 is the kernel's default.
	AddedCards int
	MayStart   map[string][]string
	// Provider verifies the tokens of an identity provider. Default: there is none.
	Provider access.Provider
	// Passkeys says which accepts take a passkey. Default: none.
	Passkeys kernel.Passkeys
	// Retention is how long things are kept, if it is set again.
	Retention Retention
	// Agents are the names of the agents in this process, besides the one for operators.
	Agents []string
	// Parameters are the schemas of the arguments that these take, by their names.
	Parameters map[string]jsontext.Value
	// Services are the tool services in this process. [Instance.Start] starts them.
	Services []Service
	// Reviewed are tools by the service that may be started later with [Instance.Serve], or in another process of this
	// program.
	Reviewed map[string][]utp.Definition
	// Keepers store data of calls outside the ledger.
	Keepers []Keeper
	// Notice is called with what the operator should look at. Default: none.
	Notice func(line string)

	Now       func() time.Time            // default time.Now
	LookupEnv func(string) (string, bool) // for the secrets of tools; default os.LookupEnv
	Logger    *slog.Logger                // default: nothing is logged
	Reached   func(point string)          // the hook of the fault tests
}

// Instance is one running process. Its parts use the bus with separate credentials.
type Instance struct {
	Data    *datadir.Dir
	Bus     *bus.Server
	Kernel  *kernel.Kernel
	Hub     *hub.Hub
	Store   store.Ledger
	Access  *access.Store // who may do what; nil if there is only the person who runs it
	Members *Members      // who may connect to the bus
	Policy  *policyfile.File
	// Project is that of the data directory.
	Project string
	// Decides is what the policy said at the start of questions that nobody who is connected can answer. It holds until the
	// end, because the manifest, which may be signed, says it.
	Decides bool
	// Ledger is the location of the store, for display.
	Ledger     string
	InDatabase bool
	// Token lets programs of the local user follow and start work. CommandToken is for the commands of the user, who
	// accepts with it in a logged-in terminal only. PersonToken answers anywhere. All are valid as long as this process
	// runs.
	Token, CommandToken, PersonToken string
	// Now is the clock of the ledger: the database's, or that of this machine.
	Now func() time.Time
	// LedgerMoved means that the ledger belonged to another data directory. settle marks it as this one's.
	LedgerMoved     bool
	confirmTakeover func(context.Context) error
	// Restored means that the ledger went back in time since it was last used here.
	Restored bool
	// Changed are the tools whose programs have changed since their review.
	Changed []utp.Definition

	options  Options
	key      []byte  // encrypts secrets
	conn     hubConn // the hub's connection to the bus
	counter  string  // the file that detects that the ledger has gone back in time
	services []Service
	running  runningServices

	closers []func() // in the order of opening
	// Two groups of goroutines: services and workers end first, while the kernel still receives their last messages.
	upper, lower group
	broken       chan error // the error that it cannot recover from: a part or the ledger failed
	once         sync.Once
}

// group is a set of goroutines that are stopped and waited for together.
type group struct {
	ctx   context.Context //nolint:containedctx // The floor's own life, not a caller's.
	stop  context.CancelFunc
	owned sync.WaitGroup
}

func (f *group) open(ctx context.Context) {
	f.ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
}

func (f *group) close() {
	f.stop()
	f.owned.Wait()
}

// Open opens the ledger, starts the bus and serves the kernel. It starts no agents and no tools.
func Open(ctx context.Context, o Options) (*Instance, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	i := &Instance{options: o, broken: make(chan error, 1), Now: o.Now, Policy: o.Policy, Decides: o.Policy.Decides()}
	i.upper.open(ctx)
	i.lower.open(ctx)
	opening := context.AfterFunc(ctx, i.lower.stop) // what is opened outlives the caller's context, the opening does not
	for _, open := range []func(context.Context) error{
		i.openData, i.openAccess, i.openLedger, i.openServices, i.openBus, i.openKernel, i.openHub,
	} {
		if err := open(i.lower.ctx); err != nil {
			opening()
			i.Close()
			return nil, i.Cause(err)
		}
	}
	if !opening() {
		i.Close()
		return nil, i.Cause(ctx.Err())
	}
	return i, nil
}

func (o Options) withDefaults() (Options, error) {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.Reached == nil {
		o.Reached = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Policy != nil {
		return o, nil
	}
	var err error
	o.Policy, err = policyfile.Open("")
	return o, err
}

func (i *Instance) openData(context.Context) (err error) {
	if i.Data, err = datadir.Open(i.options.Data); err != nil {
		return err
	}
	i.closers = append(i.closers, i.Data.Close)
	project, err := projectfile.Of(i.Data.Path)
	if err != nil {
		return err
	}
	i.Project = project.Name
	if i.key, err = i.Data.Key(); err != nil { // before the ledger is created: an existing ledger without its key is refused
		return err
	}
	path := i.Data.File(datadir.KeyFile)
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		i.options.Notice("Key: " + cause.OneLine(path) + " can be read by others, who can read the secrets in the ledger with it. Run `chmod 600 " + cause.Quoted(path) + "`.")
	}
	return nil
}

func (i *Instance) openBus(ctx context.Context) (err error) {
	o := i.options
	residents := i.residents()
	files := credentialfile.Dir{Path: i.Data.File(credentialfile.Folder), Project: i.Project, Residents: residents}
	settings := bus.Options{Project: i.Project, Logger: o.Logger, Principals: residents, Listen: o.Listen, Events: o.Events}
	if o.Listen != "" {
		if settings.Known, err = files.All(); err != nil {
			return err
		}
	}
	i.Members = &Members{project: i.Project, files: files, residents: residents, services: i.services, known: settings.Known}
	for _, one := range settings.Known {
		if err := i.Members.onlyHere(one); err != nil {
			return err
		}
	}
	if i.Bus, err = i.startBus(ctx, settings); err != nil {
		return cause.Fail(nil, "the message bus did not start: "+cause.Of(err), "with --nats-listen, use an address that is free, such as 127.0.0.1:4222")
	}
	i.closers = append(i.closers, i.Bus.Close)
	i.Members.bus = i.Bus
	if err := files.SetURL(settings.Known, i.Bus.URL()); err != nil {
		return cause.Fail(err, "the credentials cannot be written", "make room in "+i.Data.Path)
	}
	return nil
}

// startBus starts a message server, or joins the one of another project.
func (i *Instance) startBus(ctx context.Context, o bus.Options) (*bus.Server, error) {
	if i.options.Bus != nil {
		return i.options.Bus.Share(ctx, o)
	}
	return bus.Start(ctx, o)
}

// residents returns the principals in this process.
func (i *Instance) residents() []bus.Principal {
	tools := i.reviewed()
	all := make([]bus.Principal, 0, 2+len(i.options.Agents)+len(tools))
	all = append(all, bus.Principal{Kind: bus.Hub, Name: hubName}, bus.Principal{Kind: bus.Agent, Name: api.OperatorAgent})
	for _, name := range i.options.Agents {
		all = append(all, bus.Principal{Kind: bus.Agent, Name: name})
	}
	for target := range tools {
		all = append(all, bus.Principal{Kind: bus.Tool, Name: target})
	}
	return all
}

// presence reports which services are running. If the ledger is opened for one command, none are, and that has no
// meaning.
func (i *Instance) presence(end *bus.Kernel) registry.Presence {
	if i.options.Visit {
		return nil
	}
	return end
}

func (i *Instance) openKernel(ctx context.Context) error {
	o := i.options
	end, err := i.Bus.Kernel(ctx)
	if err != nil {
		return cause.Fail(err, "the kernel could not join the bus", "")
	}
	i.closers = append(i.closers, end.Close)
	content, receipts, err := o.retention(i.Data)
	if err != nil {
		return err
	}
	narrator, err := narrate.New(narrate.Options{})
	if err != nil {
		return err
	}
	i.Kernel, err = kernel.New(kernel.Options{
		Store: i.watch(), Bus: end, Policy: o.Policy, Narrator: narrator,
		Approvers:       i.approvers(),
		Hints:           o.Events,
		DispatchTimeout: o.DispatchTimeout, AddedCards: o.AddedCards, MaxActive: func(agent string) int { return o.MaxActive[agent] },
		Parameters:  func(agent string) jsontext.Value { return o.Parameters[agent] },
		MayStart:    func(name, agent string) bool { return slices.Contains(o.MayStart[name], agent) },
		Passkeys:    o.Passkeys,
		Names:       i.Members,
		Operator:    LocalUser(),
		Presence:    i.presence(end),
		Incarnation: &datadir.Counter{Path: i.counter, Trouble: i.counterBroke}, Takeover: i.LedgerMoved,
		Project: i.Project, Clock: clock.System(i.Now), Logger: o.Logger, Key: i.key, Environment: o.LookupEnv,
		SingleHost: true, OwnedTurnsOnly: !o.Shared, WaitForPresence: o.Shared, Reached: o.Reached,
		Retention: admin.Retention{Content: content, Receipts: receipts, OnErased: i.forget},
	})
	if err != nil {
		return cause.Fail(err, "the kernel did not start", "")
	}
	if err := i.resumeLedger(ctx); err != nil {
		return err
	}
	if err := end.Serve(ctx, serveKernel(i.Kernel)); err != nil {
		return cause.Fail(err, "the kernel could not serve", "")
	}
	if err := i.recordInForce(ctx); err != nil {
		return err
	}
	i.lower.owned.Go(func() { i.Kernel.Run(ctx) })
	i.lower.owned.Go(func() { o.Policy.Watch(ctx, i.overseer()) })
	if content > 0 {
		i.lower.owned.Go(func() { i.sweepKeepers(ctx, content) })
	}
	return nil
}

// resumeLedger recovers the ledger from an earlier process.
func (i *Instance) resumeLedger(ctx context.Context) (err error) {
	if i.Restored, err = i.Kernel.Recover(ctx); err != nil {
		return cause.Fail(err, "the ledger could not be taken up again", "restore "+i.Data.Path+" from a backup, or use another folder with --data DIR")
	}
	if i.confirmTakeover != nil {
		if err := i.confirmTakeover(ctx); err != nil {
			return err
		}
	}
	if err := i.review(ctx); err != nil {
		return err
	}
	if err := i.Kernel.SuspendOpenTurns(ctx); err != nil { // until it is known which of them may continue
		return cause.Fail(err, "the ledger could not be read", "")
	}
	return nil
}

// openHub opens the hub's connection to the bus, for the person who runs the process.
func (i *Instance) openHub(ctx context.Context) error {
	conn, err := i.Bus.Connect(ctx, bus.Principal{Kind: bus.Hub, Name: hubName})
	if err != nil {
		return cause.Fail(err, "the terminal could not join the bus", "")
	}
	i.conn = hubConn{conn}
	i.Hub = hub.New(i.conn, 0)
	return nil
}

const (
	// hubPoll is the hub's polling interval in addition to wakeups, and idlePoll that of a hub or a worker while
	// nothing happens. Inside one process a wakeup is hardly ever lost, and an idle server should cost nothing.
	hubPoll  = 2 * time.Second
	idlePoll = 15 * time.Second
)

// Subscribed lets others subscribe, at most so many in total and for each principal, in English and these languages: from here on they
// share the hub.
func (i *Instance) Subscribed(offer pacing.Offer, languages Languages, most, each int) {
	i.Hub = hub.Open(hub.Options{
		Conn: i.conn, Rights: i.Access, Owner: LocalUser(), Project: i.Project, Now: i.Now, Logger: i.options.Logger, Poll: hubPoll, Idle: idlePoll,
		Offer: offer, Translations: languages, Subscriptions: most, SubscriptionsEach: each, Decides: i.Decides,
	})
	i.run(i.Hub.Run)
}

// Ask sends a request to the kernel of this process, as the hub does.
func (i *Instance) Ask(ctx context.Context, op string, request, answer any) error {
	return i.conn.ask(ctx, op, request, answer)
}

// run starts a part in the upper group and reports its failure.
func (i *Instance) run(part func(context.Context) error) {
	i.upper.owned.Go(func() {
		if err := part(i.upper.ctx); err != nil {
			i.Fail(cause.Fail(err, "a part of the program has failed", ""))
		}
	})
}

// Fail reports an error that the instance cannot recover from. The first one counts.
func (i *Instance) Fail(err error) {
	select {
	case i.broken <- err:
	default:
	}
}

// Broken sends the error that the instance cannot recover from, once.
func (i *Instance) Broken() <-chan error { return i.broken }

// Cause returns the failure of the ledger if there was one, otherwise err.
func (i *Instance) Cause(err error) error {
	select {
	case first := <-i.broken:
		return first
	default:
		return err
	}
}

// Close stops everything in reverse order of opening and waits for it.
func (i *Instance) Close() {
	i.once.Do(func() {
		i.upper.stop()
		i.running.close()
		i.options.Reached("services.ending")
		i.upper.close()
		i.lower.close()
		for _, c := range slices.Backward(i.closers) {
			c()
		}
	})
}
