package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/capture"
	"github.com/earshot-dev/earshot/aaep/conform"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/cause"
)

// collectEarly is by how many percent memory may grow before what is not needed is collected. What a
// judge remembers is small and bounded, so that collecting early costs next to nothing, and
// a long file takes no more memory than a short one.
const collectEarly = 25

// validateFlags are those of `earshot validate`.
type validateFlags struct {
	mode                  string
	stream                bool
	joinedLate, cutShort  bool
	terms                 string
	strict, asJSON, quiet bool
}

func (m *Main) validateCommand() *cobra.Command {
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

		ValidArgsFunction: completeFiles,
	}
	flags := c.Flags()
	flags.StringVar(&f.mode, "mode", "producer", "judge as whoever sends (producer), as whoever receives (consumer), or without payloads (envelope)")
	flags.BoolVar(&f.stream, "stream", false, "judge the order of the messages too: sessions, states, tools, questions")
	flags.BoolVar(&f.joinedLate, "joined-late", false, "with --stream: sessions may have begun before the recording did")
	flags.BoolVar(&f.cutShort, "cut-short", false, "with --stream: the recording may end before its sessions do")
	flags.StringVar(&f.terms, "terms", "", "with --stream: file with the subscription.accepted under which the messages were sent, whose filters and rates are taken into account")
	flags.BoolVar(&f.strict, "strict", false, "count as errors the warnings about what the specification demands")
	flags.BoolVar(&f.asJSON, "json", false, "write one JSON object for each message, and a summary")
	flags.BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions([]string{"producer", "consumer", "envelope"}, cobra.ShellCompDirectiveNoFileComp))
	markPaths(c, nil, []string{"terms"})
	return c
}

// completeFiles offers files as arguments.
func completeFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func (m *Main) validate(f validateFlags, files []string) error {
	mode, err := modeOf(f.mode)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	debug.SetGCPercent(collectEarly)
	if !f.stream && (f.joinedLate || f.cutShort || f.terms != "") {
		return cause.Misuse("--joined-late, --cut-short and --terms are about the order of messages, which is not judged", "add --stream")
	}
	checker, err := m.checker(f, mode)
	if err != nil {
		return err
	}
	lifted, err := demanded()
	if err != nil {
		return err
	}
	j := &validation{main: m, flags: f, mode: mode, checker: checker, lifted: lifted, nextTold: m.Now().Add(progressFirst)}
	for _, name := range files {
		j.file(name)
	}
	return j.end()
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

// checker judges the order, where that is wanted; nil otherwise.
func (m *Main) checker(f validateFlags, mode aaep.Mode) (*session.Checker, error) {
	if !f.stream {
		return nil, nil //nolint:nilnil // none is wanted
	}
	stream := session.Stream{JoinedLate: f.joinedLate, CutShort: f.cutShort, Mode: mode}
	if f.terms != "" {
		raw, err := os.ReadFile(f.terms)
		if err != nil {
			return nil, unreadable(f.terms, err)
		}
		accepted, err := aaep.DecodeSubscriptionAccepted(raw)
		if err != nil {
			return nil, cause.Misuse(fmt.Sprintf("%s holds no subscription.accepted: %v", f.terms, err), "give the file with the answer that the producer gave")
		}
		stream.Terms = &accepted.HonoredCapabilities
	}
	return session.NewStreamChecker(stream), nil
}

// demanded are the rules whose warnings --strict counts as errors: those that the
// specification demands.
func demanded() (map[string]bool, error) {
	rules, err := conform.Catalogue()
	if err != nil {
		return nil, cause.Fail(err, "the catalogue of rules cannot be read", "")
	}
	lifted := map[string]bool{}
	for _, rule := range rules {
		lifted[rule.ID] = rule.Level == conform.LevelMust
	}
	return lifted, nil
}

// open opens a file to be judged, or standard input.
func (m *Main) openInput(name string) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(m.Stdin), 0, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, unreadable(name, err)
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		_ = file.Close()
		return nil, 0, unreadable(name, err)
	case info.IsDir():
		_ = file.Close()
		return nil, 0, cause.Misuse(fmt.Sprintf("%s is a directory, expected a file", name), "name the files in it")
	}
	return file, info.Size(), nil
}

func unreadable(name string, err error) *cause.Error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return &cause.Error{Kind: cause.Usage, Message: fmt.Sprintf("%s cannot be read: %s", name, cause.Of(err)), Hint: "check the name and the rights", Err: err}
}

// file judges one file. What is wrong with the file itself is told, and the next one is
// judged all the same.
func (j *validation) file(name string) {
	in, size, err := j.main.openInput(name)
	if err != nil {
		j.fail(err)
		return
	}
	defer func() { _ = in.Close() }()
	if name == "-" {
		name = "standard input"
	}
	j.begin(name, size)
	r := capture.NewReader(in, capture.Options{})
	for {
		message, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			j.fail(unreadable(name, err))
			return
		}
		if err := j.message(message); err != nil {
			j.fail(err)
			return
		}
	}
	j.endFile()
}
