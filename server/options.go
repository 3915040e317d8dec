package server

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/tool"
)

// Error is a failure for people: Message says what was found and what was expected, Hint what to do, and Err is the
// cause. Its Kind tells an invalid option ([Usage]) from an attempt that failed ([Failed]).
type Error = cause.Error

// The kinds of [Error].
const (
	Failed = cause.Failed // the server tried, and it did not work
	Usage  = cause.Usage  // an option is invalid; nothing was started
)

// DefaultSubscriptions is the default limit of concurrent streams.
const DefaultSubscriptions = 4096

// DefaultDispatchTimeout is how long a turn waits for a worker of an idle agent by default.
const DefaultDispatchTimeout = 30 * time.Second

// DefaultMaxCards is how many cards a worker may add to a turn by default.
const DefaultMaxCards = kernel.DefaultAddedCards

// sharePerPrincipal divides that limit: one token or login gets one part of so many by default.
const sharePerPrincipal = 4

// Options configure a server. Data is required.
type Options struct {
	// Data is the data directory: the ledger, its key, tokens and logins. The server creates it if necessary. Only one
	// process at a time may use it.
	Data string
	// Agents and Services run in this process. Their tools count as reviewed, because the person who runs the process
	// has chosen them; the tools of a Source do not.
	Agents   []Agent
	Services []Service

	// Reread returns the services with a Source as they should be now. The server calls it when an operator says that the list
	// has changed: it ends those that are missing or have another Entry, and starts those that are new. An [*Error] says why
	// the list cannot be read. Default: the list is that of the start.
	Reread func() ([]Service, error)

	// OpenProject returns the options of a further project of this server, whose data directory is given; config is the path of its
	// configuration, or "". Data, HTTP, HTTPS with its files, NATSListen, Version and the functions of the process are taken from this server.
	// An [*Error] says why it cannot be served. Default: the server has no projects besides its own.
	OpenProject func(name, data, config string) (Options, error)

	// HTTP is the loopback address of the page and the API; port 0 picks a free port. Default 127.0.0.1:7411.
	HTTP string
	// PageURL is the page's address for browsers, such as https://earshot.example.org behind a proxy. Default: an
	// address with a random host name.
	PageURL string
	// HTTPS is the address for other machines, such as 0.0.0.0:7443. It requires TLSCert and TLSKey, files in PEM form,
	// and PageURL.
	HTTPS, TLSCert, TLSKey string
	// TLSClientCA is a file with certificates of authorities, in PEM form: who comes by HTTPS has to show a certificate of one of
	// them, besides a token or a login. Default: nobody has to.
	TLSClientCA string
	// Socket is the path of the Unix socket at which programs of this machine listen without a port; [NoSocket] is none. Default:
	// aaep.sock in the data directory.
	Socket string
	// OIDC is an identity provider whose tokens count beside those of `earshot token add`. Default: none.
	OIDC OIDC
	// AllowOrigins are origins, such as https://reader.example.org, whose pages may use the API with a token.
	AllowOrigins []string
	// NATSListen is the loopback address at which tool services and agents in other processes connect to the bus.
	// Default: none.
	NATSListen string

	// Ledger is a PostgreSQL database for the ledger, such as postgres://earshot@db.example.org/earshot. Default: a file in the
	// data directory.
	Ledger string
	// Takeover takes the database over from another data directory. Calls that were running there get an unknown
	// outcome.
	Takeover bool
	// Policy is the YAML file with the operator's rules. Default: none.
	Policy string
	// PublishEvents publishes what agents do, and what they write, on the message bus (UTP, "Events of agents"), for everybody
	// who has a bus credential of an operator.
	PublishEvents bool
	// DispatchTimeout is how long a turn waits for a worker while its agent does nothing else, before it ends and the person
	// hears so. Default 30 s; below zero it waits up to a day.
	DispatchTimeout time.Duration
	// MaxActive is how many turns of an agent, by its name, may be under way at once; others wait in their order. An agent
	// that is not in it has no limit.
	MaxActive map[string]int
	// MaxCards is how many cards a worker may add to a turn, beside those of its calls. Default 10,000.
	MaxCards int
	// MayStart says turns of which agents an agent or a tool service, by its name, may start besides its own.
	MayStart map[string][]string
	// RequirePresence says which accepts take a passkey of the person, on the page: of high risk or of what cannot be undone
	// (high), of what cannot be undone (irreversible), or each one (all). Default: none.
	RequirePresence string
	// RetentionContent and RetentionReceipts are how long content and receipts are retained, such as 30d, or forever.
	// Default: the last value that was set, else 30 days and a year.
	RetentionContent, RetentionReceipts string

	// Subscriptions limits concurrent streams; each open page counts as one. Default [DefaultSubscriptions].
	// SubscriptionsEach limits those of one token or login. Default: a quarter.
	Subscriptions, SubscriptionsEach int

	// ManifestKey is the file of a key that `earshot manifest keygen` has made: the server signs its manifest with it. Default: the
	// manifest is not signed.
	ManifestKey string
	// Languages are those, by their tags, that listeners can ask for although a machine has translated them and no native
	// speaker has read the sentences. Default: English, and the languages that a native speaker has read.
	Languages []string
	// Contact says in the manifest whom to ask about the server. Default: nobody is named.
	Contact string

	// Notice receives lines of text for the operator: a turn was resumed, or the rules cannot be read. Default: they
	// are dropped.
	Notice func(line string)
	// Console shows a line in the terminal where the server runs, to the person who sits there, and nowhere else: no
	// program can read it. Login codes that a command asks for are shown there. Default: there is no such terminal, and
	// any program of the user gets a code.
	Console func(line string)
	// Version is the version in the manifest. Default: (devel).
	Version string
	// LookupEnv returns the secrets of tools. Default: os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Now is this machine's clock. Default: time.Now.
	Now func() time.Time
	// Logger receives log records of all parts, which hold no content. Default: nothing is logged.
	Logger *slog.Logger
}

// Service is a tool service in this process.
type Service struct {
	Name  string // the prefix of its tools' names, before the dot
	Tools []tool.Tool
	// Open makes the tools instead of Tools, if they need the ledger's clock.
	Open func(now func() time.Time) ([]tool.Tool, error)
	// Source supplies the tools instead of Tools, if they come and go. Each is unreviewed until an operator reviews it.
	Source tool.Source
	// Entry is how the Source is configured, for [Options.Reread]. Ready waits until the Source has offered its tools, and
	// returns why it has not; it may be nil.
	Entry string
	Ready func(context.Context) error
	// Keeper keeps data of the service's calls outside the ledger; nil keeps nothing.
	Keeper Keeper
	// Close releases what the calls needed, once the service has ended; may be nil.
	Close func()
}

// Keeper keeps data of calls outside the ledger, such as a journal of what was done. The data of a call is deleted
// together with the call's content.
type Keeper interface {
	// Forget deletes the data of calls.
	Forget(calls []string) error
	// Older returns the calls whose data was last written before a time.
	Older(before time.Time) ([]string, error)
}

// Check returns an error if the options are invalid. It starts nothing and does not read the data directory.
func (o Options) Check() error {
	_, err := o.checked()
	return err
}

// checked returns the options with their defaults, and their addresses in canonical form.
func (o Options) checked() (Options, error) {
	o.HTTP, o.Version = cmp.Or(o.HTTP, address.Default), cmp.Or(o.Version, "(devel)")
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := o.checkNames(); err != nil {
		return o, err
	}
	o.DispatchTimeout = cmp.Or(o.DispatchTimeout, DefaultDispatchTimeout)
	if o.MaxCards < 0 {
		return o, cause.Misuse(fmt.Sprintf("--max-cards is %d", o.MaxCards), "give a number from 1 on")
	}
	for name, limit := range o.MaxActive {
		if limit < 0 {
			return o, cause.Misuse(fmt.Sprintf("--max-active gives %.64q %d turns", name, limit), "give a number from 1 on, or leave the agent out")
		}
	}
	if o.Subscriptions < 0 || o.SubscriptionsEach < 0 {
		return o, cause.Misuse("the number of subscriptions is below zero", "give a number from 1 on, or leave it out")
	}
	o.Subscriptions = cmp.Or(o.Subscriptions, DefaultSubscriptions)
	o.SubscriptionsEach = cmp.Or(o.SubscriptionsEach, max(1, o.Subscriptions/sharePerPrincipal))
	var err error
	if o.HTTP, err = address.Loopback(o.HTTP); err != nil {
		return o, err
	}
	if o.PageURL, err = address.PageURL(o.PageURL); err != nil {
		return o, err
	}
	if err := o.retention().Check(); err != nil {
		return o, err
	}
	if err := o.far().Check(); err != nil {
		return o, err
	}
	if err := instance.CheckDatabase(o.Ledger); err != nil {
		return o, err
	}
	if o.PageURL == "" {
		if err := address.Findable(o.HTTP); err != nil {
			return o, err
		}
	}
	if err := o.checkPresence(); err != nil {
		return o, err
	}
	if _, err := o.provider(); err != nil {
		return o, err
	}
	return o, address.Origins(o.AllowOrigins)
}

// checkPresence refuses a requirement of passkeys that nobody could fulfil.
func (o Options) checkPresence() error {
	switch required := passkey.Requirement(o.RequirePresence); {
	case !required.Valid():
		return cause.Misuse("--require-presence is "+cause.OneLine(o.RequirePresence)+", expected high, irreversible or all",
			"leave it out if no passkey is needed; `earshot up --help` says what it does")
	case required != passkey.NotRequired && o.PageURL != "" && passkey.Site(o.PageURL) == "":
		return cause.Misuse("browsers use no passkeys on the page "+o.PageURL, "give --page-url a name with HTTPS, or leave it out")
	}
	return nil
}

// checkNames requires each agent and service to have a unique name.
func (o Options) checkNames() error {
	agents := []string{api.OperatorAgent}
	for _, a := range o.Agents {
		if a.Name == "" || a.Plan == nil {
			return cause.Misuse("an agent has no name, or no plan", "give it both")
		}
		if slices.Contains(agents, a.Name) {
			return cause.Misuse("there is another agent of the name "+a.Name, "give each a name of its own")
		}
		if len(a.Parameters) > 0 {
			if err := roster.Check(api.AgentDefinition{Name: a.Name, Parameters: a.Parameters}); err != nil {
				return cause.Misuse("the agent "+a.Name+": "+err.Error(), "correct Agent.Parameters, or leave it out")
			}
		}
		agents = append(agents, a.Name)
	}
	var services []string
	for _, s := range o.Services {
		if s.Name == "" || len(s.Tools) == 0 && s.Open == nil && s.Source == nil {
			return cause.Misuse("a service has no name, or no tools", "give it both")
		}
		if slices.Contains(services, s.Name) {
			return cause.Misuse("there is another service of the name "+s.Name, "give each a name of its own")
		}
		services = append(services, s.Name)
	}
	return nil
}

func (o Options) retention() instance.Retention {
	return instance.Retention{Content: o.RetentionContent, Receipts: o.RetentionReceipts}
}

func (o Options) far() address.HTTPS {
	return address.HTTPS{Address: o.HTTPS, Cert: o.TLSCert, Key: o.TLSKey, PageURL: o.PageURL, ClientCA: o.TLSClientCA}
}
