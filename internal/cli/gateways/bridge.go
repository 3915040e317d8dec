package gateways

import (
	"context"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/bridge/commonground"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/credentialfile"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/internal/usage"
)

// CommonGroundDSN is the variable for a DSN that is not to be seen in a list of processes.
const CommonGroundDSN = "EARSHOT_COMMONGROUND_DSN"

type bridgeFlags struct {
	options          commonground.Options
	data, url, token string
	asJSON, debug    bool
}

func (m *commands) bridgeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bridge",
		Short: "Connect Earshot with another system: a CommonGround installation",
		Args:  usage.KnownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(m.bridgeCommongroundCommand())
	return c
}

func (m *commands) bridgeCommongroundCommand() *cobra.Command {
	var f bridgeFlags
	o := &f.options
	c := &cobra.Command{
		Use:   "commonground --dsn DSN --nats URL",
		Short: "Let a running CommonGround (v1r4) and Earshot use each other's tools and agents",
		Long: `Let tool services of a running CommonGround installation (v1r4) serve the turns of "earshot up --nats-listen".
The services stay as they are. The bridge comes to Earshot with a credential of the role foreign, whose list of tools
says which of theirs are offered, and to CommonGround as an agent of its roster.

Such a tool is broker-only: Earshot decides whether a call leaves, and with which arguments. Nobody has reviewed it by
this. Until "earshot tools review" has made it a reading or idempotent one, or a rule of the policy names it with
broker_only, its calls are denied and never reach CommonGround.

With --serve, agents of CommonGround use tools of Earshot, too: those that it names. With --ask, they ask agents of Earshot:
the tool ask_NAME of theirs starts a turn of the agent NAME, and its result is the answer. Both are done by an outside
agent of Earshot, whose token is --token-file's, in a session with the name of their agent, and go through the gate.

Tools of CommonGround's PMO, such as fork_join, can be listed, too. They are offered as commonground.fork_join and so on:
with them, agents of Earshot have agents of CommonGround do something.

On CommonGround's database the bridge reads the roster, the tools, cards, edges and inboxes; it inserts cards, edges and
rows of inboxes, and marks rows of its own inbox as consumed. Ended and started again, it collects what has been
reported, and asked, meanwhile. docs/foreign-peers.md has the steps, with word_count as the example.

A password is not written into --dsn, where others can read it: use a password file (PGPASSFILE), or the variable
` + CommonGroundDSN + `.

Exit codes: 0 ended when it was told to; 1 one of the two sides cannot be used; 2 usage.`,
		Example: `  earshot credential add commonground --role foreign --tools word_count
  earshot bridge commonground --dsn postgres://cg@localhost:5433/cardbox --nats nats://localhost:4222 --project proj_mvp_001`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error { return m.bridgeCommonground(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&o.DSN, "dsn", "", "CommonGround's database, without a password (default $"+CommonGroundDSN+")")
	flags.StringVar(&o.NATS, "nats", "", "address of CommonGround's NATS, such as nats://localhost:4222")
	flags.StringVar(&o.NATSAuth.Credentials, "nats-creds", "", "file of user credentials for that NATS")
	flags.StringVar(&o.NATSAuth.CA, "nats-ca", "", "PEM file of the authority that has signed that NATS's certificate")
	flags.StringVar(&o.NATSAuth.Cert, "nats-cert", "", "PEM file of a client certificate for that NATS, with --nats-key")
	flags.StringVar(&o.NATSAuth.Key, "nats-key", "", "PEM file of the certificate's key")
	flags.StringVar(&o.Project, "project", "", "CommonGround's project (default the only one that has tools)")
	flags.StringVar(&o.Channel, "channel", commonground.DefaultChannel, "CommonGround's channel")
	flags.StringVar(&o.Agent, "agent", commonground.DefaultAgent, "agent of CommonGround's roster in whose name calls are made")
	flags.StringVar(&o.Credentials, "credential", "", "file with the bridge's credentials (default $"+bus.CredentialsVariable+", else those of foreign/commonground in the data directory)")
	flags.StringSliceVar(&o.Serve, "serve", nil, "tools of Earshot that agents of CommonGround may use, by their names (default none)")
	flags.StringSliceVar(&o.Ask, "ask", nil, "agents of Earshot that agents of CommonGround may ask, each by the tool ask_NAME (default none)")
	flags.StringVar(&f.token, "token-file", "", "file with the token of the agent in whose name those calls are made (default one that is made for commonground)")
	flags.StringVar(&f.url, "url", "", "address of the server for --serve and --ask, where it is not the one of the data directory; it needs --token-file")
	flags.StringVar(&f.data, "data", "", cli.DataUsage)
	flags.BoolVar(&f.asJSON, "json", false, "write what is offered, and each change of it, as a line of JSON")
	flags.BoolVar(&f.debug, "debug", false, "log what the bridge does to standard error, without any content")
	cli.MarkPaths(c, []string{"data"}, []string{"credential", "nats-creds", "nats-ca", "nats-cert", "nats-key", "token-file"})
	return c
}

func (m *commands) bridgeCommonground(ctx context.Context, f bridgeFlags) error {
	o := f.options
	if o.DSN == "" {
		o.DSN = m.Getenv(CommonGroundDSN)
	} else if holdsPassword(o.DSN) {
		return cause.Misuse("--dsn holds a password, which every user of this machine can read",
			"leave it out of the argument: use a password file (PGPASSFILE), or the variable "+CommonGroundDSN)
	}
	switch {
	case o.DSN == "":
		return cause.Misuse("--dsn is missing: where CommonGround's database is", "for example --dsn postgres://cg@localhost:5433/cardbox (its setting cardbox.postgres_dsn)")
	case o.NATS == "":
		return cause.Misuse("--nats is missing: where CommonGround's NATS is", "for example --nats nats://localhost:4222 (its setting nats.servers)")
	case holdsPassword(o.NATS):
		return cause.Misuse("--nats holds a password, which every user of this machine can read", "use --nats-creds FILE")
	case (o.NATSAuth.Cert == "") != (o.NATSAuth.Key == ""):
		return cause.Misuse("--nats-cert and --nats-key go together", "name both files, or none")
	}
	var err error
	if o.As, err = m.bridgeAgent(ctx, f); err != nil {
		return err
	}
	if o.Credentials, err = m.bridgeCredential(o.Credentials, f.data); err != nil {
		return err
	}
	o.Logger, o.Now, o.Reached = m.Logger(f.debug), m.Now, fault.Points(m.Getenv(fault.Variable))
	o.Ready = func(offer commonground.Offer) { m.printOffer(offer, f.asJSON) }
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := m.NewSignals()
	signals.Heed()
	ended := make(chan struct{})
	go func() { // ends with the bridge
		defer close(ended)
		select {
		case <-signals.C:
			cancel()
		case <-ctx.Done():
		}
	}()
	err = commonground.Run(ctx, o)
	cancel()
	<-ended
	signals.Stop()
	return err
}

// bridgeAgent is the agent in whose name agents of the other system make calls; nil where they make none.
func (m *commands) bridgeAgent(ctx context.Context, f bridgeFlags) (*client.Agent, error) {
	if len(f.options.Serve)+len(f.options.Ask) == 0 {
		if f.token != "" || f.url != "" {
			return nil, cause.Misuse("--token-file and --url are for what --serve and --ask name, and they name nothing", "name it, such as --serve desk.say")
		}
		return nil, nil //nolint:nilnil // the agent of those that make no calls
	}
	if f.url != "" && f.token == "" {
		return nil, cause.Misuse("--url needs --token-file", "make a token there with `earshot token add commonground --role agent`")
	}
	data, err := m.DataPath(f.data, false)
	if err != nil {
		return nil, err
	}
	return m.serverOfGateway(ctx, gatewayFlags{agent: "commonground", url: f.url, token: f.token}, data)
}

// holdsPassword reports whether an address, or the words of a DSN, hold a password.
func holdsPassword(address string) bool {
	if at, err := url.Parse(address); err == nil && at.Scheme != "" {
		_, set := at.User.Password()
		return set || at.Query().Has("password")
	}
	return strings.Contains(strings.ToLower(address), "password")
}

// bridgeCredential returns the file of the bridge's credentials.
func (m *commands) bridgeCredential(named, dataFlag string) (string, error) {
	if named == "" {
		named = m.Getenv(bus.CredentialsVariable)
	}
	if named != "" {
		return named, nil
	}
	data, err := m.DataPath(dataFlag, false)
	if err != nil {
		return "", err
	}
	return credentialfile.Dir{Path: filepath.Join(data, credentialfile.Folder)}.File(bus.Principal{Kind: bus.External, Name: "commonground"}), nil
}

// offerRow is a line of `bridge commonground --json`.
type offerRow struct {
	Project string            `json:"project"`
	Agent   string            `json:"agent"`
	Target  string            `json:"worker_target"`
	Tools   []string          `json:"tools"`
	Serves  []string          `json:"serves,omitempty"`
	Asks    []string          `json:"asks,omitempty"`
	LeftOut map[string]string `json:"left_out,omitempty"`
}

func (m *commands) printOffer(offer commonground.Offer, asJSON bool) {
	if asJSON {
		raw, err := json.Marshal(offerRow(offer), json.Deterministic(true))
		if err == nil {
			m.Printf("%s", raw)
		}
		return
	}
	m.Printf("CommonGround: project %s, as the agent %s (worker target %s).", offer.Project, offer.Agent, offer.Target)
	if len(offer.Tools) > 0 {
		m.Printf("Offered to Earshot: %s.", strings.Join(offer.Tools, ", "))
	} else {
		m.Printf("No tool is offered to Earshot.")
	}
	if len(offer.Serves) > 0 {
		m.Printf("CommonGround may use: %s.", strings.Join(offer.Serves, ", "))
	}
	if len(offer.Asks) > 0 {
		m.Printf("CommonGround may ask: %s.", strings.Join(offer.Asks, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(offer.LeftOut)) {
		m.Printf("Left out: %s: %s", name, cause.OneLine(offer.LeftOut[name]))
	}
	m.Printf("What nobody has reviewed is denied; `earshot tools list` shows it. Control C ends the bridge.")
}
