package protocol

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/recording"
	"github.com/earshot-dev/earshot/internal/usage"
)

// captureFlags are the flags of `earshot capture`.
type captureFlags struct {
	out, tokenFile   string
	events           int64
	length           time.Duration
	reconnectTimeout time.Duration
	quiet            bool
}

func (m *commands) captureCommand() *cobra.Command {
	var f captureFlags
	c := &cobra.Command{
		Use:   "capture URL",
		Short: "Record what an AAEP producer sends",
		Long: `Record every message that an AAEP producer sends, one a line, as it came. Each line is
written when it arrives. The address is that of server-sent events (http, https), of a
WebSocket (ws, wss), of gRPC (grpc, grpcs) or of a Unix socket (unix:PATH); an http address without a path is
subscribed to first, and the terms that the producer grants, subscription.accepted, are then
the first line. Questions are
recorded where the producer shows them to somebody who cannot answer, as Earshot does.

A lost stream of server-sent events is taken up behind its last event. It ends when the
producer says that there is no more, with Ctrl-C, or with --for and --events.

The exit code is 0 when everything is recorded, 1 when messages may be missing or the
producer cannot be heard, 2 if a flag is wrong.`,
		Example: `  earshot capture http://localhost:8080/events > capture.jsonl
  earshot capture wss://agents.example/aaep/v1/ws --token-file token --out capture.jsonl
  earshot capture http://127.0.0.1:7411 --token-file token --for 10m | earshot validate --stream`,
		Args: usage.One("the address of a stream"),
		RunE: func(c *cobra.Command, args []string) error { return m.capture(c.Context(), f, args[0]) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "add to this file instead of writing to standard output")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for the producer")
	flags.Int64Var(&f.events, "events", 0, "end after so many messages")
	flags.DurationVar(&f.length, "for", 0, "end after so long")
	flags.DurationVar(&f.reconnectTimeout, "patience", 30*time.Second, "how long a lost connection is tried for again")
	flags.BoolVar(&f.quiet, "quiet", false, "no word about the connection on standard error")
	cli.MarkPaths(c, nil, []string{"out", "token-file"})
	return c
}

func (m *commands) capture(ctx context.Context, f captureFlags, address string) (err error) {
	ctx, interrupted := m.UntilInterrupted(ctx)
	defer interrupted()
	to, err := m.captureTo(f.out)
	if err != nil {
		return err
	}
	defer func() {
		if closed := to.Close(); err == nil && closed != nil {
			err = cause.Fail(closed, "the recording could not be written", "")
		}
	}()
	return recording.Record(ctx, recording.RecordOptions{
		URL: address, TokenFile: f.tokenFile, To: to, Events: f.events, Length: f.length, ReconnectTimeout: f.reconnectTimeout, Quiet: f.quiet,
		Notice: m.Note, Now: m.Now,
	})
}

func (m *commands) captureTo(name string) (io.WriteCloser, error) {
	if name == "" {
		return unclosed{m.Stdout}, nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("%s cannot be written: %v", name, err), Hint: "check the name and the rights", Err: err}
	}
	return file, nil
}

// unclosed is a writer without Close, which others still write to.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
