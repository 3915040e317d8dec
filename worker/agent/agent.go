// Package agent runs an agent as a separate process. It connects to the bus with a credentials file, works on the
// agent's turns until it is stopped, and then releases the turns that it holds. Package worker, which knows no
// transport, defines the agent itself.
//
// If the bus is missing or goes away, the process waits for it. Planning of a claimed turn continues meanwhile; if
// another worker has claimed the turn by then, its planner's context ends.
package agent

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// Options configure an agent's process.
type Options struct {
	// Credentials is the file that `earshot credential add NAME --role agent` created, where NAME is the agent's name.
	// Default: the file named by EARSHOT_CREDENTIALS.
	Credentials string
	// Turns and Keep are those of [worker.Options].
	Turns  int
	Retain time.Duration
	// Logger receives log records, which hold no content: where it waits for turns, and when the connection is lost and back. Default:
	// none.
	Logger *slog.Logger
}

// Run works on the agent's turns until ctx ends. It returns an error if the agent or its credentials are invalid, or if
// the connection is refused.
func Run(ctx context.Context, o Options, a worker.Agent) error {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	link := &Conn{}
	w, err := worker.New(worker.Options{Conn: link, Agent: a, Turns: o.Turns, Retain: o.Retain, Logger: o.Logger, Idle: idle})
	if err != nil {
		return err
	}
	client, err := bus.Join(ctx, bus.JoinOptions{
		File: o.Credentials, Who: bus.Principal{Kind: bus.Agent, Name: a.Name}, Logger: o.Logger,
		Meanwhile: "what it has claimed goes on, and nothing new begins",
	})
	if err != nil && ctx.Err() != nil {
		return nil // stopped before there was a bus
	}
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	defer client.Close()
	at := client.Server()
	link.Client, link.listening = client, sync.OnceFunc(func() {
		o.Logger.Info("Waiting for turns.", "agent", a.Name, "connected_to", at)
	})
	if err := client.Reconnect(ctx, w.Run); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// idle is the longest time between two polls for turns without a wakeup.
const idle = 15 * time.Second

// Main is the main function of a program that only runs an agent. It works until Control-C or SIGTERM, logs to standard
// error, and exits. The flag -credentials, or EARSHOT_CREDENTIALS, names the credentials file.
func Main(a worker.Agent) {
	os.Exit(run(os.Args, a)) //nolint:forbidigo // It is the main function in all but name.
}

func run(args []string, a worker.Agent) int {
	o := Options{Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.Credentials, "credentials", "", "`file` of credentials (default $"+bus.CredentialsVariable+")")
	flags.IntVar(&o.Turns, "turns", 1, "how many turns it works on at once")
	if err := flags.Parse(args[1:]); err != nil {
		return 2 //nolint:mnd // Usage, as everywhere.
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	if err := Run(ctx, o, a); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "error: "+cause.Of(err))
		return 1
	}
	return 0
}

// Conn adapts an agent's bus client to [worker.Conn].
type Conn struct {
	*bus.Client

	listening func() // called once its wakeups come; nil does nothing
}

// Wakeups implements [worker.Conn].
func (c Conn) Wakeups(ctx context.Context, notify func(turn string)) (func(), error) {
	s, err := c.SubscribeWakeups(ctx, func(_ context.Context, m bus.Message) { notify(strings.Join(m.Header[utp.HeaderTurnID], "")) })
	if err != nil {
		return nil, err
	}
	if c.listening != nil {
		c.listening()
	}
	return s.Close, nil
}
