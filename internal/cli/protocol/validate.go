package protocol

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/validation"
)

// collectEarly is GOGC during validation. The state of the validator is small and bounded, so frequent collection costs
// almost nothing, and a long file takes no more memory than a short one.
const collectEarly = 25

// validateFlags are the flags of `earshot validate`.
type validateFlags struct {
	mode                  string
	stream                bool
	joinedLate, cutShort  bool
	terms                 string
	strict, asJSON, quiet bool
}

func (m *commands) validateCommand() *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "validate [FILE...]",
		Short: "Judge recorded AAEP messages",
		Long: `Judge AAEP messages: events, replies and handshake messages, each by its type. Without a
file, or for the file -, standard input is read: JSON values one a line, spread over lines,
or in an array.

Each finding is a line: where, how grave, which rule of the specification, what was found
and what was expected. A message that is broken never hides those behind it.

With --stream the order of the messages is judged too. A recording of a subscription, as
` + "`earshot capture`" + ` makes it, begins with subscription.accepted: it is judged by these terms,
and its end is not taken for the end of its sessions.

The exit code is 0 without errors (warnings may be there), 1 with any error, 2 if a file
could not be read or a flag is wrong.`,
		Example: `  earshot validate capture.jsonl
  earshot validate --stream --json < capture.jsonl
  earshot capture http://localhost:8080/events | earshot validate --stream`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return m.validate(f, args) },

		ValidArgsFunction: cli.CompleteFiles,
	}
	flags := c.Flags()
	flags.StringVar(&f.mode, "mode", "producer", "judge as a sender (producer), as a receiver (consumer), or without payloads (envelope)")
	flags.BoolVar(&f.stream, "stream", false, "judge the order of the messages too: sessions, states, tools, questions")
	flags.BoolVar(&f.joinedLate, "joined-late", false, "with --stream: sessions may have begun before the recording did")
	flags.BoolVar(&f.cutShort, "cut-short", false, "with --stream: the recording may end before its sessions do")
	flags.StringVar(&f.terms, "terms", "", "with --stream: file with the subscription.accepted under which the messages were sent, whose filters and rates are taken into account")
	flags.BoolVar(&f.strict, "strict", false, "count as errors the warnings about what the specification demands")
	flags.BoolVar(&f.asJSON, "json", false, "write one JSON object for each message, and a summary")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"producer", "consumer", "envelope"}, cobra.ShellCompDirectiveNoFileComp))
	cli.MarkPaths(c, nil, []string{"terms"})
	return c
}

func (m *commands) validate(f validateFlags, files []string) error {
	mode, err := modeOf(f.mode)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	if m.OwnsProcess {
		debug.SetGCPercent(collectEarly)
	}
	if !f.stream && (f.joinedLate || f.cutShort || f.terms != "") {
		return cause.Misuse("--joined-late, --cut-short and --terms are about the order of messages, which is not judged", "add --stream")
	}
	run, err := validation.New(validation.Options{
		Mode: mode, Strict: f.strict, Order: f.stream, JoinedLate: f.joinedLate, CutShort: f.cutShort, Terms: f.terms,
		Out: m.Stdout, JSON: f.asJSON, Quiet: f.quiet, Progress: m.Note, Report: m.Explain, Now: m.Now,
	})
	if err != nil {
		return err
	}
	for _, name := range files {
		m.validateFile(run, name)
	}
	outcome, err := run.End()
	switch {
	case err != nil || outcome == validation.Valid:
		return err
	case outcome == validation.Unread:
		return &cli.ExitError{Code: cli.ExitUsage}
	}
	return &cli.ExitError{Code: cli.ExitFailed}
}

// validateFile validates one file. It reports a file that cannot be read, and the next one is validated all the same.
func (m *commands) validateFile(run *validation.Run, name string) {
	in, size, err := m.openInput(name)
	if err != nil {
		run.Fail(err)
		return
	}
	defer func() { _ = in.Close() }()
	if name == "-" {
		name = "standard input"
	}
	run.File(name, in, size)
}

func modeOf(name string) (aaep.Mode, error) {
	switch name {
	case "producer":
		return aaep.ModeProducer, nil
	case "consumer":
		return aaep.ModeConsumer, nil
	case "envelope":
		return aaep.ModeEnvelope, nil
	default:
		return 0, cause.Misuse(fmt.Sprintf("--mode is %q", name), "expected producer, consumer or envelope")
	}
}

// openInput opens a file to validate, or standard input.
func (m *commands) openInput(name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(m.Stdin), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, validation.Unreadable(name, err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		_ = file.Close()
		return nil, 0, validation.Unreadable(name, err)
	case info.IsDir():
		_ = file.Close()
		return nil, 0, cause.Misuse(fmt.Sprintf("%s is a directory, expected a file", name), "name the files in it")
	}
	return file, info.Size(), nil
}
