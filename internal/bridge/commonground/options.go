package commonground

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
)

// The defaults of [Options].
const (
	DefaultAgent   = "earshot"
	DefaultChannel = "public"

	defaultPoll = 15 * time.Second
)

// Options say where the two sides are. Credentials, DSN and NATS are required.
type Options struct {
	// Credentials is the file that `earshot credential add NAME --role foreign` made. Its list of tools says which of
	// theirs are offered to Earshot.
	Credentials string
	// DSN says where their database is, as libpq and pgx write it.
	DSN string
	// NATS is the address of their NATS, with the files that it may want for letting somebody in.
	NATS     string
	NATSAuth NATSAuth
	// Project is theirs. Default: the only one that has tools.
	Project string
	// Channel is theirs. Default: [DefaultChannel].
	Channel string
	// Agent is whom the calls come from, for them: one in their roster. Default: [DefaultAgent].
	Agent string
	// Serve are tools of Earshot that agents of theirs may use, and Ask agents of Earshot that they may ask; none of both leaves
	// that direction out. As is else required: in its name, the calls are made.
	Serve, Ask []string
	As         *client.Agent
	// Poll is the time between looks at their inbox and their tools without a wakeup. Default: 15 s.
	Poll time.Duration
	// Ready is called whenever the tools that are offered have changed, the first time when the bridge works.
	Ready func(Offer)
	// Logger receives log records, which hold no content. Default: none.
	Logger *slog.Logger
	// Now dates what is written. Default: [time.Now].
	Now func() time.Time
	// Reached is called at the points at which tests end the process. Default: none.
	Reached func(point string)
}

// NATSAuth are the files with which their NATS lets the bridge in; all may be empty.
type NATSAuth struct {
	Credentials   string // a file of user credentials (.creds)
	CA, Cert, Key string // PEM files for TLS
}

// Offer is what the bridge offers to Earshot.
type Offer struct {
	Project, Agent, Target string
	Tools                  []string
	// Serves are the tools of Earshot that agents of theirs may use.
	Serves []string
	// Asks are the agents of Earshot that agents of theirs may ask.
	Asks []string
	// LeftOut says for each tool of the credential's list that is not offered why it is not.
	LeftOut map[string]string
}

// provides reports whether agents of theirs may use or ask something of Earshot.
func (o Options) provides() bool { return len(o.Serve)+len(o.Ask) > 0 }

func (o Options) withDefaults() (Options, error) {
	o.Agent, o.Channel, o.Poll = cmp.Or(o.Agent, DefaultAgent), cmp.Or(o.Channel, DefaultChannel), cmp.Or(o.Poll, defaultPoll)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ready == nil {
		o.Ready = func(Offer) {}
	}
	if o.Reached == nil {
		o.Reached = func(string) {}
	}
	for _, name := range []struct{ what, value string }{{"project", o.Project}, {"channel", o.Channel}, {"agent", o.Agent}} {
		if name.value != "" && !utp.ValidToken(name.value) {
			return o, cause.Misuse("the "+name.what+" "+cause.OneLine(name.value)+" cannot be a part of a subject", "use 1 to 128 of A-Z a-z 0-9 _ -")
		}
	}
	for _, name := range o.Ask {
		if !utp.ValidToken(name) {
			return o, cause.Misuse("the agent "+cause.OneLine(name)+" of --ask cannot be an agent of Earshot", "use 1 to 128 of A-Z a-z 0-9 _ -")
		}
	}
	return o, nil
}
