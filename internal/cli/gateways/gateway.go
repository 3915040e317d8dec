package gateways

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/gateway/forward"
	"github.com/earshot-dev/earshot/internal/gateway/local"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/internal/usage"
)

type gatewayFlags struct {
	from, fromToken, fromKeys, answersTo, agent, owner string
	data, url, token                                   string
	patience                                           time.Duration
	asJSON                                             bool
}

func (m *commands) gatewayCommand() *cobra.Command {
	var f gatewayFlags
	c := &cobra.Command{
		Use:   "gateway --from URL",
		Short: "Put any AAEP producer behind Earshot",
		Long: `Put any AAEP producer behind the "earshot up" that runs on the data directory:
what its agents do is told on every surface, each listener hears it on terms of its own, and
its questions are asked here. The answer goes back to the producer.

Whether the producer keeps to an answer, Earshot cannot see: the question says so. A yes is
a person's; whatever else comes of a question is passed on as a no. AAEP has no message that
stops an agent: a stop ends what is told here, and the agent has to be stopped where it runs.

The address is that of a server (http, https), which is subscribed to with POST, of a
WebSocket (ws, wss) or of a Unix socket (unix:PATH). An http address with a path is a stream
without subscriptions. Where its producer takes answers by POST, --answers-to says; without
that, questions are asked here all the same, and their answers do not reach the producer.

What breaks a rule of AAEP is said once for each rule and place. A lost connection is made
again, behind the last event where the producer can; while Earshot is away, the producer
waits. Each event is told once, also after a restart of this command.

With --json, standard output has a line for each event (what became of it, and the rules that
it breaks), each answer (whether the producer has it) and each connection that is lost or back.

It ends when the producer does, or with Ctrl-C. Exit codes: 0 the producer has ended, or you
have; 1 the producer or Earshot cannot be reached, or refuses; 2 usage.`,
		Example: `  earshot gateway --from ws://localhost:8080/aaep/v1/ws
  earshot gateway --from http://localhost:8080/events --answers-to /messages --agent research`,
		Args: usage.None,
		RunE: func(c *cobra.Command, _ []string) error { return m.gateway(c.Context(), f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "address of the producer")
	flags.StringVar(&f.fromToken, "from-token-file", "", "file with the token for the producer")
	flags.StringVar(&f.fromKeys, "from-keys", "", "hear a producer with a manifest signed by one of these public keys only: a file with a JWK set, such as FILE.jwks")
	flags.StringVar(&f.answersTo, "answers-to", "", "path at which the producer of a stream without subscriptions takes answers, such as /messages")
	flags.StringVar(&f.agent, "agent", "", "name of the agent that people hear here, one for each producer (default made from the address)")
	flags.StringVar(&f.owner, "owner", "", "person whose sessions they are (default the one who runs the server)")
	flags.StringVar(&f.data, "data", "", cli.DataUsage)
	flags.StringVar(&f.url, "url", "", "address of the server, where it is not the one of the data directory; it needs --token-file")
	flags.StringVar(&f.token, "token-file", "", "file with a token of the role agent, such as one of earshot token add (default one that is made for --agent)")
	flags.BoolVar(&f.asJSON, "json", false, "write what becomes of each event and answer as a line of JSON; what is told goes to standard error")
	flags.DurationVar(&f.patience, "patience", 10*time.Minute, "how long a lost producer is tried for again")
	cli.MarkPaths(c, []string{"data"}, []string{"token-file", "from-token-file", "from-keys"})
	return c
}

func (m *commands) gateway(ctx context.Context, f gatewayFlags) error {
	ctx, stop := m.UntilInterrupted(ctx)
	defer stop()
	switch {
	case f.from == "":
		return cause.Misuse("no producer is named", "name it with --from, such as --from ws://localhost:8080/aaep/v1/ws")
	case f.url != "" && f.token == "":
		return cause.Misuse("--url needs --token-file", "make a token there with `earshot token add NAME --role agent`")
	}
	data, err := m.DataPath(f.data, false)
	if err != nil {
		return err
	}
	path := cursorFile(data, f)
	known := forward.LoadCursor(path)
	var g *forward.Gateway // before it runs nothing is connected
	producer, err := m.producerOfGateway(f, known.After, func(state string) { g.Connected(forward.PeerProducer, state) })
	if err != nil {
		return err
	}
	server, err := m.serverOfGateway(ctx, f, data)
	if err != nil {
		return err
	}
	m.Notef("Connecting to %s.", cause.OneLine(f.from))
	if !producer.TakesReplies() {
		m.Note("Answers do not reach this producer, whose stream wants no subscription: say with --answers-to where it takes them.")
	}
	o := forward.Options{
		From: producer, To: server, Owner: f.owner, Cursor: known, Save: func(p forward.Cursor) error { return p.Save(path) }, Notice: m.Note,
	}
	if f.asJSON {
		o.Record = m.printRecord
	}
	g = forward.New(o)
	err = g.Run(ctx)
	if e, is := errors.AsType[*subscribe.Error](err); is {
		return cause.Fail(e, e.Message, e.Hint)
	}
	return cli.ServerFailure(err)
}

// printRecord writes a line of `gateway --json`.
func (m *commands) printRecord(r forward.Record) {
	if raw, err := json.Marshal(r, json.Deterministic(true)); err == nil { // texts and numbers only
		m.Printf("%s", raw)
	}
}

// cursorFile is the file with the cursor of the gateway, one for each producer and server.
func cursorFile(data string, f gatewayFlags) string {
	sum := sha256.Sum256([]byte(f.from + "\n" + f.url + "\n" + f.agent))
	return filepath.Join(data, "gateways", hex.EncodeToString(sum[:16])+".json")
}

// serverOfGateway connects to the server as the agent.
func (m *commands) serverOfGateway(ctx context.Context, f gatewayFlags, data string) (*client.Agent, error) {
	o := client.Options{Name: "earshot-gateway", Now: m.Now, URL: f.url, TokenFile: f.token}
	if f.url == "" {
		if err := cli.FoundServer(data); err != nil {
			return nil, err
		}
		o.ServerFile = filepath.Join(data, datadir.ServerFile)
		if f.token == "" {
			token, err := local.TokenFile(ctx, data, agentOf(f), m.Now)
			if err != nil {
				return nil, err
			}
			o.TokenFile = token
		}
	}
	var err error
	if o.Transport, err = m.Transport(); err != nil {
		return nil, err
	}
	agent, err := client.DialAgent(ctx, o)
	if err != nil {
		return nil, cli.ServerFailure(err)
	}
	return agent, nil
}

// agentOf is the name of the agent: the one of the flag, or one that is the address's own.
func agentOf(f gatewayFlags) string {
	if f.agent != "" {
		return local.AgentName(f.agent)
	}
	at := strings.TrimPrefix(f.from, "unix:")
	if u, err := url.Parse(f.from); err == nil && u.Host != "" {
		at = u.Host
	}
	return local.AgentName(at)
}

// producerOfGateway returns the subscription to the producer, which is dialled later.
func (m *commands) producerOfGateway(f gatewayFlags, after string, changed func(state string)) (*subscribe.Subscription, error) {
	token, err := tokenIn(f.fromToken)
	if err != nil {
		return nil, err
	}
	keys, err := manifestkey.Trusted(f.fromKeys)
	if err != nil {
		return nil, err
	}
	by, err := m.Transport()
	if err != nil {
		return nil, err
	}
	answers := true
	var outage cli.Outage
	s, err := subscribe.New(subscribe.Options{
		Transport: by, Keys: keys, URL: f.from, RepliesTo: f.answersTo, Token: token, ReconnectTimeout: f.patience, Now: m.Now, After: after,
		Request: aaep.SubscriptionRequest{SubscriberID: "earshot-gateway-" + agentOf(f), SubscriberName: "Earshot", Capabilities: aaep.Capabilities{
			SupportsConfirmationReply: &answers, SupportsClarificationReply: &answers, SupportedConformanceLevels: []int{1, 2},
		}},
		OnWait: func(since time.Time) {
			if lasted, again := outage.Again(since, m.Now()); again {
				m.Notef("Connection to the producer: still lost, after %s; trying again.", cli.LastedText(lasted))
			}
		},
		OnConnection: func(c subscribe.Connection) {
			outage.Reset()
			if c.Lost != nil {
				m.Notef("Connection to the producer: lost; trying again.")
				changed(forward.StateLost)
				return
			}
			m.Notef("Connection to the producer: back.")
			changed(forward.StateBack)
		},
	})
	if e, is := errors.AsType[*subscribe.Error](err); is {
		return nil, cause.Misuse(e.Message, e.Hint)
	}
	return s, err
}
