// Package agent runs an agent in a process of its own: it connects to the bus with a file
// of credentials, works on the agent's turns until it is told to end, and gives back what it
// holds. The agent itself is made with package worker, which knows no transport.
//
// A bus that is not there, or goes away, is waited for. A turn in hand is planned on
// meanwhile; if it is another worker's by then, its planner's context ends.
package agent

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// Options of an agent's process.
type Options struct {
	// Credentials is the file that `earshot credential add NAME --role agent` has made, NAME
	// being the agent's name. Default: what EARSHOT_CREDENTIALS names.
	Credentials string
	// Turns and Keep are those of [worker.Options].
	Turns  int
	Retain time.Duration
	// Logger takes notes without content. Default: none.
	Logger *slog.Logger
}

// Run works on the agent's turns until ctx ends. Errors: what is wrong with the agent or the
// credentials, and a connection that was refused.
func Run(ctx context.Context, o Options, a worker.Agent) error {
	link := &Conn{}
	w, err := worker.New(worker.Options{Conn: link, Agent: a, Turns: o.Turns, Retain: o.Retain, Logger: o.Logger, Idle: idle})
	if err != nil {
		return err
	}
	client, err := bus.Join(ctx, bus.JoinOptions{File: o.Credentials, Who: bus.Principal{Kind: bus.Agent, Name: a.Name}, Logger: o.Logger})
	if err != nil && ctx.Err() != nil {
		return nil // it was told to end before there was a bus
	}
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	defer client.Close()
	link.Client = client
	if err := client.Reconnect(ctx, w.Run); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	return nil
}

// idle is how often it looks for turns, at the last, without having been rung.
const idle = 15 * time.Second

// Main is the main function of a program that does nothing else: it works until control C or
// SIGTERM, logs to standard error, and ends the process. The file of credentials is named by
// -credentials or by EARSHOT_CREDENTIALS.
func Main(a worker.Agent) {
	os.Exit(run(os.Args, a)) //nolint:forbidigo // It is the main function, but for its name.
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

// Conn is an agent's end of the bus as package worker wants it.
type Conn struct{ *bus.Client }

// Wakeups implements [worker.Conn].
func (c Conn) Wakeups(ctx context.Context, notify func(turn string)) (func(), error) {
	s, err := c.SubscribeWakeups(ctx, func(_ context.Context, m bus.Message) { notify(strings.Join(m.Header[utp.HeaderTurnID], "")) })
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}
