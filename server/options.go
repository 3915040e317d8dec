package server

import (
	"cmp"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/tool"
)

// Error is a failure for people: Message says what was found and what was expected, Hint what to do, Err is the cause. Its Kind
// tells a wrong option ([Usage]) from what did not work ([Failed]).
type Error = cause.Error

// The kinds of [Error].
const (
	Failed = cause.Failed // it was tried and did not work
	Usage  = cause.Usage  // an option cannot be meant; nothing was started
)

// Options say what a server holds and where it is found. Data is required.
type Options struct {
	// Data is the data directory: the ledger, its key, tokens and logins. It is made if need be, and one process at a time
	// holds it.
	Data string
	// Agents and Services live in this process, and their tools count as reviewed, but for those of a Source: the person who runs
	// the process has chosen them.
	Agents   []Agent
	Services []Service

	// HTTP is where the page and the API are, on the loopback; port 0 takes a free one. Default 127.0.0.1:7411.
	HTTP string
	// PageURL is the page's address for browsers, such as https://earshot.example.org behind a proxy. Default: a name that nobody
	// can guess.
	PageURL string
	// HTTPS is where other machines may come, such as 0.0.0.0:7443. It needs TLSCert and TLSKey, files in PEM form, and PageURL.
	HTTPS, TLSCert, TLSKey string
	// AllowOrigins are origins, such as https://reader.example.org, whose pages may use the API with a token.
	AllowOrigins []string
	// NATSListen is where tool services and agents of processes of their own come to the bus, on the loopback. Default: nowhere.
	NATSListen string

	// Ledger is a PostgreSQL database for the ledger, such as postgres://earshot@db.example.org/earshot. Default: a file in the
	// data directory.
	Ledger string
	// Takeover takes the database over from another data directory; what was under way in it counts as unknown.
	Takeover bool
	// Policy is the YAML file with the operator's rules. Default: none.
	Policy string
	// RetentionContent and RetentionReceipts are how long things are kept, such as 30d, or forever. Default: what was said last, else
	// 30 days and a year.
	RetentionContent, RetentionReceipts string

	// Notice is told, in lines for people, what the operator should know: a turn that goes on, rules that cannot be
	// read. Default: nobody is told.
	Notice func(line string)
	// Version is what the manifest says. Default: (devel).
	Version string
	// LookupEnv is where tools find their secrets. Default: os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Now is this machine's clock. Default: time.Now.
	Now func() time.Time
	// Logger gets what the parts do, never content. Default: nothing is logged.
	Logger *slog.Logger
}

// Service is a tool service that lives in this process.
type Service struct {
	Name  string // what the names of its tools begin with, before the dot
	Tools []tool.Tool
	// Open makes the tools instead, where they need the time of the ledger.
	Open func(now func() time.Time) ([]tool.Tool, error)
	// Source tells the tools instead, where they come and go. Nobody has chosen those: each is unreviewed until an operator looks.
	Source tool.Source
	// Keeper keeps something of its calls beside the ledger; nil keeps nothing.
	Keeper Keeper
	// Close puts away what its calls have needed, once it has ended; may be nil.
	Close func()
}

// Keeper keeps something of calls beside the ledger, such as a journal of what was done. It goes when the content of its call
// goes.
type Keeper interface {
	// Forget removes what is kept of calls.
	Forget(calls []string) error
	// Older are the calls of which something was kept last before that time.
	Older(before time.Time) ([]string, error)
}

// Check refuses options that cannot be meant, with nothing started. The data directory is not looked at.
func (o Options) Check() error {
	_, err := o.checked()
	return err
}

// checked are the options with their defaults, and the addresses in the form that they are used in.
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
	return o, address.Origins(o.AllowOrigins)
}

// checkNames demands that what lives here has a place, and each a name of its own.
func (o Options) checkNames() error {
	agents := []string{api.OperatorAgent}
	for _, a := range o.Agents {
		if a.Name == "" || a.Plan == nil {
			return cause.Misuse("an agent has no name, or no plan", "give it both")
		}
		if slices.Contains(agents, a.Name) {
			return cause.Misuse("there is another agent of the name "+a.Name, "give each a name of its own")
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
	return address.HTTPS{Address: o.HTTPS, Cert: o.TLSCert, Key: o.TLSKey, PageURL: o.PageURL}
}
