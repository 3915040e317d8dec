package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
)

// captureFlags are those of `earshot capture`.
type captureFlags struct {
	out, tokenFile string
	events         int64
	length         time.Duration
	patience       time.Duration
	quiet          bool
}

func (m *Main) captureCommand() *cobra.Command {
	var f captureFlags
	c := &cobra.Command{
		Use:   "capture URL",
		Short: "Record what an AAEP producer sends",
		Long: `Record every message that an AAEP producer sends, one a line, as it came. Each line is
written when it arrives. The address is that of server-sent events (http, https) or of a
WebSocket (ws, wss); an http address without a path is subscribed to first, and the terms
that the producer grants, subscription.accepted, are then the first line. Questions are
recorded where the producer shows them to somebody who cannot answer, as Earshot does.

A lost stream of server-sent events is taken up behind its last event. It ends when the
producer says that there is no more, with Ctrl-C, or with --for and --events.

The exit code is 0 when everything is recorded, 1 when messages may be missing or the
producer cannot be heard, 2 if a flag is wrong.`,
		Example: `  earshot capture http://localhost:8080/events > capture.jsonl
  earshot capture wss://agents.example/aaep/v1/ws --token-file token --out capture.jsonl
  earshot capture http://127.0.0.1:7411 --token-file token --for 10m | earshot validate --stream`,
		Args: exactly(1, "the address of a stream"),
		RunE: func(c *cobra.Command, args []string) error { return m.capture(c.Context(), f, args[0]) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "add to this file instead of writing to standard output")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for the producer")
	flags.Int64Var(&f.events, "events", 0, "end after so many messages")
	flags.DurationVar(&f.length, "for", 0, "end after so long")
	flags.DurationVar(&f.patience, "patience", 30*time.Second, "how long a lost connection is tried for again")
	flags.BoolVar(&f.quiet, "quiet", false, "no word about the connection on standard error")
	markPaths(c, nil, []string{"out", "token-file"})
	return c
}

// exactly demands a number of arguments.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return cause.Misuse(fmt.Sprintf("found %s, expected %s", legible.Counted(int64(len(args)), "argument"), what), "see `"+c.CommandPath()+" --help`")
		}
		return nil
	}
}

// errEnough ends a capture that has what it was asked for.
var errEnough = errors.New("enough")

func (m *Main) capture(ctx context.Context, f captureFlags, address string) (err error) {
	ctx, interrupted := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer interrupted()
	if f.length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, f.length, errEnough)
		defer cancel()
	}
	to, err := m.captureTo(f.out)
	if err != nil {
		return err
	}
	defer func() {
		if closed := to.Close(); err == nil && closed != nil {
			err = cause.Fail(closed, "the recording could not be written", "")
		}
	}()

	r := &recorder{main: m, flags: f, to: to}
	for message, err := range client.Record(ctx, r.tap(address)) {
		more, err := r.take(ctx, message, err)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	return r.end()
}

// recorder is one run of `earshot capture`: messages in, lines out.
type recorder struct {
	main  *Main
	flags captureFlags
	to    io.Writer
	heard int64
	away  error // why there is no connection at present
	lost  error // why messages may be missing
}

func (r *recorder) tap(address string) client.RecordOptions {
	return client.RecordOptions{
		URL: address, TokenFile: r.flags.tokenFile, Name: "earshot-capture", Patience: r.flags.patience, Now: r.main.Now,
		OnConnection: func(c client.Connection) {
			r.away = c.Lost
			switch {
			case r.flags.quiet:
			case c.Lost != nil:
				r.main.tellf("There is no connection: %s. Trying again.", cause.OneLine(connectionLost(c.Lost)))
			default:
				r.main.tellf("There is a connection.")
			}
		},
	}
}

// take records one message, or what stands in its place. More says that there may be
// others.
func (r *recorder) take(ctx context.Context, message client.RawMessage, err error) (more bool, _ error) {
	switch {
	case errors.Is(err, &client.Error{Code: client.CodeLost}):
		r.lost = err
		if !r.flags.quiet {
			r.main.tellf("Messages may be missing before message %d of this recording.", r.heard+1)
		}
		return true, nil
	case ctx.Err() != nil:
		return false, nil //nolint:nilerr // interrupted, which is how it ends
	case err != nil:
		if r.heard > 0 {
			r.count()
		}
		return false, captureFailure(err)
	}
	if err := recordLine(r.to, message.Raw); err != nil {
		return false, cause.Fail(err, "the recording could not be written", "see that there is room")
	}
	r.heard++
	return r.heard != r.flags.events, nil
}

// end says how much there is, and whether anything may be missing.
func (r *recorder) end() error {
	r.count()
	switch {
	case r.lost != nil:
		return captureFailure(r.lost)
	case r.away != nil:
		return cause.Fail(nil, "messages may be missing: there was no connection at the end: "+connectionLost(r.away), "see that the producer runs, and record again")
	default:
		return nil
	}
}

// count says how much there is.
func (r *recorder) count() {
	if !r.flags.quiet {
		r.main.tellf("%s recorded.", legible.Counted(r.heard, "message"))
	}
}

// connectionLost is why, without what to do.
func connectionLost(err error) string {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e.Message
	}
	return "the stream has ended"
}

func captureFailure(err error) error {
	var e *client.Error
	if !errors.As(err, &e) {
		return cause.Fail(err, "the stream has ended", "see that the producer still runs")
	}
	f := cause.Fail(nil, e.Message, e.Hint)
	if e.Code == client.CodeUsage || e.Code == client.CodeInsecure {
		f.Kind = cause.Usage
	}
	return f
}

func (m *Main) captureTo(name string) (io.WriteCloser, error) {
	if name == "" {
		return unclosed{m.Stdout}, nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("%s cannot be written: %v", name, err), Hint: "check the name and the rights", Err: err}
	}
	return file, nil
}

// unclosed is a writer that others go on writing to.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// recordLine writes one message on one line, at once. What is no JSON is kept as well as a
// line can keep it: the capture is there to be judged.
func recordLine(to io.Writer, raw []byte) error {
	if bytes.ContainsAny(raw, "\r\n") {
		raw = flat(raw)
	}
	_, err := to.Write(append(raw, '\n'))
	return err //nolint:wrapcheck // the caller says what could not be written
}

// flat takes the line ends out of a message: between its values they mean nothing.
func flat(raw []byte) []byte {
	value := jsontext.Value(bytes.Clone(raw))
	if err := value.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)); err == nil {
		return value
	}
	return bytes.Join(bytes.FieldsFunc(raw, func(r rune) bool { return r == '\r' || r == '\n' }), []byte(" "))
}
