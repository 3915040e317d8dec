package protocol

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/recording"
	"github.com/earshot-dev/earshot/internal/usage"
)

// replayFlags are the flags of `earshot replay`.
type replayFlags struct {
	http, speed string
	once, quiet bool
}

func (m *commands) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay [FILE]",
		Short: "Play recorded AAEP messages to anyone who listens",
		Long: `Play recorded AAEP messages as server-sent events and on a WebSocket, at the pace at
which they were recorded. Without a file, or for the file -, standard input is played.

Anyone who comes late hears the messages from the first one on. A message that is broken is
left out, and named on standard error. It goes on serving until Ctrl-C; with --once it
ends when a listener has heard everything.`,
		Example: `  earshot replay capture.jsonl
  earshot replay --speed max --once --http 127.0.0.1:8080 capture.jsonl`,
		Args: usage.OneAtMost,
		RunE: func(c *cobra.Command, args []string) error {
			name := "-"
			if len(args) == 1 {
				name = args[0]
			}
			return m.replay(c.Context(), f, name)
		},
		ValidArgsFunction: cli.CompleteFiles,
	}
	flags := c.Flags()
	flags.StringVar(&f.http, "http", "127.0.0.1:7412", "address to serve at, on the loopback")
	flags.StringVar(&f.speed, "speed", "1", "how many times as fast as recorded, such as 2 or 0.5; max plays without any pause")
	flags.BoolVar(&f.once, "once", false, "end when a listener has heard everything")
	flags.BoolVar(&f.quiet, "quiet", false, "no word about messages that are left out")
	_ = c.RegisterFlagCompletionFunc("speed", cobra.FixedCompletions([]string{"0.5", "1", "2", "10", "max"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// speedOf parses the playback speed; 0 means without pauses.
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

func (m *commands) replay(ctx context.Context, f replayFlags, name string) error {
	speed, err := speedOf(f.speed)
	if err != nil {
		return err
	}
	source, err := m.replaySource(name)
	if err != nil {
		return err
	}
	defer source.Remove()
	ctx, interrupted := m.UntilInterrupted(ctx)
	defer interrupted()
	return recording.Play(ctx, recording.PlayOptions{
		Source: source, Name: name, Speed: speed, HTTP: f.http, Once: f.once, Notice: func(line string) { m.Printf("%s", line) },
		Skipped: func(e *capture.BrokenError) {
			if !f.quiet {
				m.Notef("left out: %s: %s", cause.OneLine(name), cause.OneLine(e.Error()))
			}
		},
	})
}

// replaySource opens the file; standard input is copied first.
func (m *commands) replaySource(name string) (*recording.Source, error) {
	in, _, err := m.openInput(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }()
	if name != "-" {
		return recording.File(name), nil
	}
	return recording.Spool(in)
}
