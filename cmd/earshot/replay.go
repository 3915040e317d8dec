package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// replayFlags are those of `earshot replay`.
type replayFlags struct {
	http, speed string
	once, quiet bool
}

func (m *Main) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay [FILE]",
		Short: "Play recorded AAEP messages to whoever listens",
		Long: `Play recorded AAEP messages as server-sent events and on a WebSocket, at the pace at
which they were recorded. Without a file, or for the file -, standard input is played.

Whoever comes late hears the messages from the first one on. A message that is broken is
left out, and named on standard error. It goes on serving until Ctrl-C; with --once it
ends when a listener has heard everything.`,
		Example: `  earshot replay capture.jsonl
  earshot replay --speed max --once --http 127.0.0.1:8080 capture.jsonl`,
		Args: oneAtMost,
		RunE: func(c *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			return m.replay(c.Context(), f, name)
		},
		ValidArgsFunction: completeFiles,
	}
	flags := c.Flags()
	flags.StringVar(&f.http, "http", "127.0.0.1:7412", "address to serve at, on the loopback")
	flags.StringVar(&f.speed, "speed", "1", "how many times as fast as recorded, such as 2 or 0.5; max plays without any pause")
	flags.BoolVar(&f.once, "once", false, "end when a listener has heard everything")
	flags.BoolVar(&f.quiet, "quiet", false, "no word about messages that are left out")
	_ = c.RegisterFlagCompletionFunc("speed", cobra.FixedCompletions([]string{"0.5", "1", "2", "10", "max"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// speedOf is how many times as fast; 0 is without any pause.
func speedOf(text string) (float64, error) {
	if text == "max" {
		return 0, nil
	}
	speed, err := strconv.ParseFloat(text, 64)
	if err != nil || speed < 0.001 || speed > 1e6 {
		return 0, cause.Misuse(fmt.Sprintf("--speed is %q", text), "expected a number from 0.001 to 1000000, or max")
	}
	return speed, nil
}

func (m *Main) replay(ctx context.Context, f replayFlags, name string) error {
	speed, err := speedOf(f.speed)
	if err != nil {
		return err
	}
	source, err := m.replaySource(name)
	if err != nil {
		return err
	}
	defer source.remove()
	ctx, interrupted := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer interrupted()

	listener, err := loopbackListener(ctx, f.http)
	if err != nil {
		return err
	}
	recording := web.NewRecording(web.RecordingOptions{Open: source.open, Speed: speed, Skipped: func(e *capture.BrokenError) {
		if !f.quiet {
			m.tellf("left out: %s: %s", cause.OneLine(name), cause.OneLine(e.Error()))
		}
	}})
	server := &http.Server{Handler: recording.Handler(), ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until it is closed
	}()
	defer func() {
		_ = server.Close()
		<-served
	}()
	m.sayf("Playing %s at http://%s/events and ws://%s/ws. Ctrl-C ends it.", cause.OneLine(name), listener.Addr(), listener.Addr())
	return m.play(ctx, f, recording)
}

// play plays to the end, and stays for those who come late.
func (m *Main) play(ctx context.Context, f replayFlags, recording *web.Recording) error {
	n, err := recording.Play(ctx)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // interrupted, which is how it ends
	}
	if err != nil {
		return cause.Fail(err, "the recording cannot be played on", "")
	}
	m.sayf("All is played: %s.", legible.Counted(int64(n), "message"))
	if !f.once {
		<-ctx.Done()
		return nil
	}
	if recording.Heard(ctx) != nil {
		return nil //nolint:nilerr // interrupted, which is how it ends
	}
	return linger(ctx)
}

// lingering is how long those who have heard everything may come back, to be told that
// there is no more.
const lingering = 2 * time.Second

func linger(ctx context.Context) error {
	timer := time.NewTimer(lingering)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// loopbackListener listens where only this machine can reach it: a recording has no
// rights of its own.
func loopbackListener(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, cause.Misuse(fmt.Sprintf("--http is %q", address), "expected an address such as 127.0.0.1:7412")
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, cause.Misuse(fmt.Sprintf("--http is %q, which others can reach", address), "use 127.0.0.1, or a tunnel from elsewhere")
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, &cause.Error{
			Kind: cause.Usage, Message: fmt.Sprintf("%s cannot be listened at: %v", address, err),
			Hint: "choose another port with --http, or 127.0.0.1:0 for any", Err: err,
		}
	}
	return listener, nil
}

// replaySource is a recording that can be read many times.
type replaySource struct {
	path    string
	spooled bool // the path is a copy of standard input
}

func (s replaySource) open() (io.ReadCloser, error) {
	file, err := os.Open(s.path)
	if err != nil {
		return nil, unreadable(s.path, err)
	}
	return file, nil
}

func (s replaySource) remove() {
	if s.spooled {
		_ = os.Remove(s.path)
	}
}

// replaySource finds the file; standard input is copied first.
func (m *Main) replaySource(name string) (replaySource, error) {
	in, _, err := m.openInput(name)
	if err != nil {
		return replaySource{}, err
	}
	defer func() { _ = in.Close() }()
	if name != "-" {
		return replaySource{path: name}, nil
	}
	file, err := os.CreateTemp("", "earshot-replay-*.jsonl")
	if err != nil {
		return replaySource{}, cause.Fail(err, "standard input cannot be kept", "see that there is room for temporary files")
	}
	_, err = io.Copy(file, in)
	if err := errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(file.Name())
		return replaySource{}, cause.Fail(err, "standard input cannot be kept", "see that there is room for temporary files")
	}
	return replaySource{path: file.Name(), spooled: true}, nil
}
