package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/listening"
	"github.com/earshot-dev/earshot/internal/manifestkey"
	"github.com/earshot-dev/earshot/internal/usage"
)

// listenFlags are the flags of `earshot listen`.
type listenFlags struct {
	run              runFlags // --json and --no-input
	tokenFile, name  string
	keys             string
	verbosity, load  string
	languages        []string
	rate             int
	include, exclude []string
	reconnect        time.Duration
}

func (m *Main) listenCommand() *cobra.Command {
	var f listenFlags
	c := &cobra.Command{
		Use:   "listen URL",
		Short: "Hear any AAEP producer, and answer it",
		Long: `Hear what the agents of an AAEP producer do, Earshot or another, and answer their questions:
in plain lines, as earshot run tells a turn. Type accept, reject or an answer when a question
is shown.

The address is that of a server (http, https), which is subscribed to with POST, of a
WebSocket (ws, wss), of gRPC (grpc, grpcs) or of a Unix socket (unix:PATH). An http address
with a path is a stream without subscriptions, which takes no answers.

A lost connection is made again, and goes on after the last event where the producer can do
that. Each event is told once, and where some may be missing, that is said. A producer that
cannot be reached at all ends it at once. Every message is judged by the rules of AAEP: a
line that begins with "Finding" has the rule that is broken, once for each place.
Departures from advice are only counted, unless --verbosity is detailed.

With --keys the producer has to show a signed manifest of its maker: without one that holds,
nothing of it is told or answered. A manifest can be copied, and the token is sent before it
comes; that nobody else is at the other end is shown by https, wss and grpcs.

An answer is recorded when the producer has gone on from the question. AAEP has no way to
stop an agent, or to take an answer back: do that where the agent runs.

It ends when the producer does, or with Ctrl-C. Exit codes: 0 nothing was wrong; 1 a duty of
producers was broken, messages may be missing, or the producer cannot be heard; 2 usage.`,
		Example: `  earshot listen ws://localhost:8080/aaep/v1/ws
  earshot listen unix:$HOME/.local/share/earshot/aaep.sock --no-input
  earshot listen https://agents.example --token-file token --rate 2 --load low --lang fr,en
  earshot listen wss://agents.example/aaep/v1/ws --token-file token --keys manifest.pem.jwks`,
		Args: m.producerAddress,
		RunE: func(c *cobra.Command, args []string) error { return m.listen(c.Context(), f, args[0]) },
	}
	flags := c.Flags()
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for the producer")
	flags.StringVar(&f.keys, "keys", "", "hear a producer with a manifest signed by one of these public keys only: a file with a JWK set, such as FILE.jwks")
	flags.StringVar(&f.name, "name", "earshot-listen", "name of this listener at the producer")
	flags.StringVar(&f.verbosity, "verbosity", "normal", "how much is told: terse, normal or detailed")
	flags.StringSliceVar(&f.languages, "lang", nil, "languages, in order of preference, such as fr,en (default what the producer speaks)")
	flags.IntVar(&f.rate, "rate", 0, "at most so many events a second (default no limit)")
	flags.StringVar(&f.load, "load", "", "how much you can take in: low, medium or high")
	flags.StringSliceVar(&f.include, "include", nil, "only events of these types, such as 'aaep:agent.tool.*'")
	flags.StringSliceVar(&f.exclude, "exclude", nil, "no events of these types")
	flags.DurationVar(&f.reconnect, "patience", 10*time.Minute, "how long a lost connection is tried for again")
	flags.BoolVar(&f.run.noInput, "no-input", false, "hear only: answer nothing, and read nothing from standard input")
	flags.BoolVar(&f.run.asJSON, "json", false, "write every message to standard output as it came; what is told goes to standard error")
	_ = c.RegisterFlagCompletionFunc("verbosity", cobra.FixedCompletions([]string{"terse", "normal", "detailed"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("load", cobra.FixedCompletions([]string{"low", "medium", "high"}, cobra.ShellCompDirectiveNoFileComp))
	cli.MarkPaths(c, nil, []string{"token-file", "keys"})
	return c
}

// producerAddress demands the address of a producer. Without one, the server that runs here is probably meant.
func (m *Main) producerAddress(c *cobra.Command, args []string) error {
	err := usage.One("the address of a producer")(c, args)
	if err == nil || len(args) > 0 {
		return err
	}
	path, failed := m.DataPath("", false)
	if failed != nil {
		return err
	}
	server, failed := client.ReadServerFile(filepath.Join(path, datadir.ServerFile))
	if failed != nil || server.Socket == "" || !cli.ServerAt(path) {
		return err
	}
	return cause.Misuse("expected one argument, the address of a producer",
		"`earshot listen "+cause.Quoted("unix:"+server.Socket)+"` hears the server that runs here; see `earshot listen --help`")
}

// maxRate is the highest rate that can be asked for, in events a second (CAP-01).
const maxRate = 100_000

// capabilities are the terms of the flags.
func (f listenFlags) capabilities() (aaep.Capabilities, error) {
	answers := !f.run.noInput
	c := aaep.Capabilities{
		MaxEventsPerSecond: f.rate, PreferredVerbosity: aaep.Verbosity(f.verbosity), Languages: f.languages, CognitiveLoad: aaep.CognitiveLoad(f.load),
		SupportsConfirmationReply: &answers, SupportsClarificationReply: &answers, SupportedConformanceLevels: []int{1},
		SupportedExtensions: []string{aaep.ExtensionContext}, Extensions: map[string]jsontext.Value{aaep.PrefixEarshot: jsontext.Value(`{"observe_questions":true}`)},
	}
	if answers { // as level 2 does (CAP-04)
		c.SupportedConformanceLevels = []int{1, 2}
	}
	if f.include != nil || f.exclude != nil {
		c.EventFilters = &aaep.EventFilters{Include: f.include, Exclude: f.exclude}
	}
	switch {
	case !slices.Contains([]string{"terse", "normal", "detailed"}, f.verbosity):
		return c, cause.Misuse("--verbosity is "+cause.OneLine(f.verbosity), "expected terse, normal or detailed")
	case f.rate < 0 || f.rate > maxRate:
		return c, cause.Misuse(fmt.Sprintf("--rate is %d", f.rate), fmt.Sprintf("expected 1 to %d events a second, or 0 for no limit", maxRate))
	case !slices.Contains([]string{"", "low", "medium", "high"}, f.load):
		return c, cause.Misuse("--load is "+cause.OneLine(f.load), "expected low, medium or high")
	}
	if _, err := (aaep.SubscriptionRequest{AAEPVersion: aaep.Version, SubscriberID: "x", Capabilities: c}).Encode(); err != nil {
		return c, cause.Misuse("these terms cannot be asked for: "+cause.Of(err), "see docs/aaep-listen.md")
	}
	return c, nil
}

func (m *Main) listen(ctx context.Context, f listenFlags, address string) error {
	s, err := m.subscriptionTo(f, address)
	if err != nil {
		return err
	}
	port := listening.New(listening.Options{
		Subscription: s, Now: m.Now,
		Lost: func(err error) { m.Notef("Missing: %s.", legible.Capital(cause.Of(err))) },
		Found: func(event string, v aaep.Violation) {
			if v.Severity != aaep.SeverityError && f.verbosity != string(aaep.VerbosityDetailed) {
				return
			}
			m.Notef("Finding in %s: %s", cause.OneLine(event), cause.OneLine(v.String()))
		},
	})
	signals := m.NewSignals()
	defer signals.Stop()
	signals.Heed()
	a := attendance{
		port: port, prefers: api.Preferences{Verbosity: &f.verbosity},
		stop: func(ctx context.Context, _ os.Signal) error {
			port.Close(ctx, "the listener has left")
			return nil
		},
	}
	_, failure := m.follow(ctx, f.run, signals.C, a)
	verdict := port.Verdict()
	if verdict.Messages > 0 {
		m.Notef("%s heard: %s, %s.", legible.Capital(legible.Counted(int64(verdict.Messages), "message")), legible.Counted(int64(verdict.Errors), "error"),
			legible.Counted(int64(verdict.Warnings), "warning"))
	}
	switch {
	case failure != nil:
		return f.withoutToken(failure)
	case verdict.Errors > 0 || verdict.Lost > 0:
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

// withoutToken says how a token is given, where the producer wants one and got none.
func (f listenFlags) withoutToken(err error) error {
	refused, is := errors.AsType[*subscribe.Error](err)
	told, known := errors.AsType[*cause.Error](err)
	if !is || !known || refused.Code != subscribe.CodeUnauthenticated || f.tokenFile != "" {
		return err
	}
	return &cause.Error{Kind: told.Kind, Message: told.Message, Hint: "name a file with a token of the producer: --token-file FILE", Err: err}
}

// subscriptionTo returns the subscription to the producer, which is dialled later.
func (m *Main) subscriptionTo(f listenFlags, address string) (*subscribe.Subscription, error) {
	terms, err := f.capabilities()
	if err != nil {
		return nil, err
	}
	token := ""
	if f.tokenFile != "" {
		raw, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, cause.Misuse("the token file cannot be read: "+cause.Of(err), "name a file that holds a token")
		}
		token, _, _ = strings.Cut(strings.TrimSpace(string(raw)), "\n")
	}
	keys, err := manifestkey.Trusted(f.keys)
	if err != nil {
		return nil, err
	}
	by, err := m.Transport()
	if err != nil {
		return nil, err
	}
	var outage cli.Outage
	s, err := subscribe.New(subscribe.Options{
		Transport: by, Keys: keys,
		URL: address, Token: strings.TrimSpace(token), ReconnectTimeout: f.reconnect, ConnectTimeout: -1, Now: m.Now,
		Request: aaep.SubscriptionRequest{SubscriberID: f.name + "-" + rand.Text(), SubscriberName: f.name, Capabilities: terms},
		OnWait: func(since time.Time) {
			if lasted, again := outage.Again(since, m.Now()); again {
				m.Notef("Connection: still lost, after %s; trying again.", cli.LastedText(lasted))
			}
		},
		OnConnection: func(c subscribe.Connection) {
			outage.Reset()
			if c.Lost != nil {
				m.Notef("Connection: lost; trying again. The producer decides meanwhile what becomes of its questions.")
				return
			}
			m.Notef("Connection: back.")
		},
	})
	if e, is := errors.AsType[*subscribe.Error](err); is {
		return nil, cause.Misuse(e.Message, e.Hint)
	}
	return s, err
}
