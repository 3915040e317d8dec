package protocol

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/conform/subscriber"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
)

// subscriberFlags are the flags of `earshot conform subscriber`.
type subscriberFlags struct {
	reportFlags

	listen  string
	socket  string
	length  time.Duration
	answers bool
}

func (m *commands) subscriberCommand() *cobra.Command {
	var f subscriberFlags
	c := &cobra.Command{
		Use:   "subscriber [-- COMMAND…]",
		Short: "Judge a running subscriber of AAEP, in any language",
		Long: `Judge a running subscriber of AAEP, in any language: be a producer to it, over server-sent
events with POST, a WebSocket and gRPC, and with --socket over a Unix socket, and play a
script: events that every reader must bear, a lost connection, and questions; and say of
each rule that binds a subscriber whether it was kept, was broken, with what shows it, or
was not exercised. What a subscriber says to its person cannot be seen from here.

Standard error says where to connect the subscriber, and when to stop it. With a command
that is started and stopped by itself: {url}, {ws}, {grpc} and {unix} in its arguments, and
the variables AAEP_URL, AAEP_WS_URL, AAEP_GRPC_URL and AAEP_UNIX_URL, are the addresses.
What it writes goes to standard error.

Without --answers no question is to be answered, and any reply is one that nobody has
given. With it, answer each question as its text says: "Accept this.", "Reject this." or
"Do not answer this."; a clarification with anything that it takes.

The exit code is 0 when no duty was broken beyond what --known lists, 1 when one was (with
--strict, advice too), 2 if a flag is wrong, it cannot listen, or nobody has connected.`,
		Example: `  earshot conform subscriber --listen 127.0.0.1:8080 --answers
  earshot conform subscriber --level 1 -- earshot capture {url}
  earshot conform subscriber --answers --socket judge.sock -- node listener.js {unix}
  earshot conform subscriber --junit report.xml --known known.json -- node listener.js`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return m.judgeSubscriber(c.Context(), f, args) },
	}
	flags := c.Flags()
	f.register(c)
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "listen at this address; there is no authentication")
	flags.StringVar(&f.socket, "socket", "", "listen at a Unix socket with this path too")
	flags.DurationVar(&f.length, "for", 5*time.Minute, "take so long at most")
	flags.BoolVar(&f.answers, "answers", false, "somebody answers each question as its text says")
	cli.MarkPaths(c, nil, []string{"known", "junit", "html", "socket"})
	return c
}

func (m *commands) judgeSubscriber(ctx context.Context, f subscriberFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	if _, _, err := address.Split("--listen", f.listen, "127.0.0.1:8080"); err != nil {
		return err
	}
	known, err := knownFailures(f.known)
	if err != nil {
		return err
	}
	ctx, interrupted := m.UntilInterrupted(ctx)
	defer interrupted()
	tested := &tested{args: args, socket: f.socket, output: m.Stderr, environ: m.Environ, gone: interrupted}
	report, err := subscriber.Judge(ctx, subscriber.Options{
		Address: f.listen, Socket: f.socket, Level: f.level, Person: f.answers, For: f.length, Now: m.Now,
		Ready: func(url string) {
			if len(args) > 0 {
				tested.start(url)
				return
			}
			m.Notef("Connect the subscriber to %s, over a WebSocket to %s, or over gRPC to %s.", url, overSocket(url), overGRPC(url))
			if f.socket != "" {
				m.Notef("Or to the Unix socket %s.", f.socket)
			}
		},
		Stop: func() {
			if len(args) > 0 {
				tested.interrupt()
				return
			}
			m.Note("The script is over. Stop the subscriber.")
		},
	})
	left := tested.left()
	if failed := tested.end(); failed != nil {
		return failed
	}
	if err != nil && left != nil {
		return left
	}
	if err != nil {
		return notJudged(err, "the subscriber could not be judged")
	}
	return m.writeReport(f.reportFlags, report, known)
}

func overSocket(url string) string { return "ws" + strings.TrimPrefix(url, "http") + "/aaep/v1/ws" }

func overGRPC(url string) string { return "grpc" + strings.TrimPrefix(url, "http") }

// tested is the subscriber, where the judge starts it.
type tested struct {
	args    []string
	socket  string // its path; "" is none
	output  io.Writer
	environ func() []string
	gone    func() // is called a while after it has ended
	command *exec.Cmd
	ended   chan struct{}
	failed  error // why it could not be started
	result  error // how it has ended, once it has
}

// stopTime is how long a subscriber may take to end, and how long the judge listens on when it has.
const stopTime = 5 * time.Second

// start starts the program with the addresses.
func (s *tested) start(url string) {
	unix := ""
	if s.socket != "" {
		unix = "unix:" + s.socket
	}
	args := make([]string, len(s.args))
	for i, arg := range s.args {
		args[i] = strings.NewReplacer("{url}", url, "{ws}", overSocket(url), "{grpc}", overGRPC(url), "{unix}", unix).Replace(arg)
	}
	command := exec.Command(args[0], args[1:]...) //nolint:gosec,noctx // the person's own command; end ends it
	command.Env = append(s.environ(), "AAEP_URL="+url, "AAEP_WS_URL="+overSocket(url), "AAEP_GRPC_URL="+overGRPC(url), "AAEP_UNIX_URL="+unix)
	command.Stdout, command.Stderr, command.WaitDelay = s.output, s.output, time.Second
	if s.failed = command.Start(); s.failed != nil {
		s.gone()
		return
	}
	s.command, s.ended = command, make(chan struct{})
	go func() { // until the program has ended, which end waits for
		defer close(s.ended)
		s.result = command.Wait()
		time.AfterFunc(stopTime, s.gone)
	}()
}

// interrupt asks the program to end.
func (s *tested) interrupt() {
	if s.command != nil && s.command.Process.Signal(os.Interrupt) != nil {
		_ = s.command.Process.Kill() // where there is no such signal; it may have ended
	}
}

// left says how the program has ended, if it has by itself; for a judge that has heard nothing of it.
func (s *tested) left() error {
	if s.ended == nil {
		return nil
	}
	select {
	case <-s.ended:
	default:
		return nil
	}
	said := "it ended without an error"
	if s.result != nil {
		said = s.result.Error()
	}
	return cause.Misuse("the subscriber has ended before it listened: "+said, "what it wrote is above; see that it connects to the address in {url} or AAEP_URL, and stays")
}

// end waits for the end of the program, and says why there was none.
func (s *tested) end() error {
	if s.failed != nil {
		return cause.Misuse("the subscriber could not be started: "+cause.Of(s.failed), "try its command in a terminal")
	}
	if s.command == nil {
		return nil
	}
	s.interrupt()
	timer := time.AfterFunc(stopTime, func() { _ = s.command.Process.Kill() })
	defer timer.Stop()
	<-s.ended
	return nil
}
