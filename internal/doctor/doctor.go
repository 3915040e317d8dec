// Package doctor checks everything that the program needs on a machine, and reports what is there and what is missing.
// It changes nothing: a file is written to the data directory and removed again, and everything else is only read, even
// while a server uses it.
package doctor

import (
	"context"
	"log/slog"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/config"
	"github.com/earshot-dev/earshot/internal/kernel/clock"
)

// Finding is the result of one check.
type Finding struct {
	Name   string `json:"name"`
	State  string `json:"state"` // [OK], [Note] or [Problem]
	Found  string `json:"found"` // whole sentences
	Advice string `json:"hint,omitzero"`
}

// The states of a finding. A note is not a problem.
const (
	OK      = "ok"
	Note    = "note"
	Problem = "problem"
)

// Options say what to check, as `earshot up` would find it. Empty ones are skipped.
type Options struct {
	Program string // the running program, described in a sentence
	// Config is the configuration that was read; ConfigErr is why it was not.
	Config    config.File
	ConfigErr error
	// SettingsErr is the conflict between settings, if any.
	SettingsErr error
	// Data is the data directory; DataErr is why there can be none.
	Data    string
	DataErr error

	HTTP   string // the address to listen at
	HTTPS  address.HTTPS
	Ledger string // a PostgreSQL database
	Policy string // a file of rules
	Tools  []string
	Roots  []string
	// Typed means that somebody can type here.
	Typed bool

	// Provider asks the identity provider for its keys, and returns what of it counts; "" if none is named.
	Provider func(ctx context.Context) (counts string, err error)
	// Folder returns a folder's path for the tools, or why it cannot be allowed.
	Folder func(root string) (string, error)
	// Serves reports whether a server, and not only a run, uses the data directory.
	Serves func(data string) bool
	// Dial connects to that server.
	Dial func(ctx context.Context) (Server, error)

	Now       func() time.Time
	LookupEnv func(string) (string, bool)
	Logger    *slog.Logger
}

// Server is a server that uses the data directory.
type Server interface {
	Server() string // its address
	Questions(ctx context.Context) ([]api.OpenQuestion, error)
	Projects(ctx context.Context) (api.Projects, error)
	Operate(ctx context.Context, op string, request, answer any) error
}

// Examine runs all checks, in the order in which things are needed.
func Examine(ctx context.Context, o Options) []Finding {
	all := []Finding{{Name: "program", State: OK, Found: o.Program}, o.examineClock(), examineConfig(o.Config, o.ConfigErr)}
	if o.SettingsErr != nil {
		all = append(all, broken("settings", o.SettingsErr))
	}
	if o.DataErr != nil {
		return append(all, broken("data directory", o.DataErr))
	}
	all = append(all, o.examineData(ctx)...)
	all = append(all, o.examineCertificate()...)
	all = append(all, o.examineProvider(ctx)...)
	if o.Ledger != "" {
		all = append(all, examineDatabase(ctx, o.Ledger))
	}
	all = append(all, examinePolicy(o.Policy)...)
	all = append(all, o.examineTools()...)
	for _, root := range o.Roots {
		all = append(all, o.examineRoot(root))
	}
	return append(all, o.examineTerminal())
}

func (o Options) examineClock() Finding {
	const earliest = 2025
	if now := o.Now(); now.Year() < earliest {
		return Finding{Name: "clock", State: Problem, Found: "It says " + now.Format(time.RFC3339) + ".", Advice: "set the clock; deadlines hang on it"}
	}
	if !clock.Booted() {
		return Finding{
			Name: "clock", State: Note, Found: "This system does not tell when it was started.",
			Advice: "nothing needs to be done; when Earshot is started again, it asks again what you had already accepted",
		}
	}
	return Finding{Name: "clock", State: OK, Found: "The time of day and the time since the start can be read."}
}
