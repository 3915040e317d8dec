package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/producer"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/usage"
)

// producerFlags are the flags of `earshot conform producer`.
type producerFlags struct {
	level, sessions          int
	length                   time.Duration
	session, answer          string
	tokenFile, known         string
	junit, html              string
	fresh, strict            bool
	asJSON, everything, mute bool
}

func (m *commands) producerCommand() *cobra.Command {
	var f producerFlags
	c := &cobra.Command{
		Use:   "producer URL",
		Short: "Judge a running producer of AAEP, in any language",
		Long: `Judge a running producer of AAEP, in any language: dial it as several subscribers at once,
ask for terms, also for what nobody knows, listen, answer its questions, break off and go
on, change terms and close; and say of each rule that binds a producer whether it was kept,
was broken, with the event that shows it, or was not exercised, because nothing came that
it is about. Start the producer's sessions when standard error says that it listens.

The address is that of a server (http, https), which is subscribed to with POST, or of a
WebSocket (ws, wss). An http address with a path is a stream without subscriptions, which
is of level 1.

Questions are rejected. With --answer accept they are accepted, and what the producer then
does is done: use it with a producer whose actions are harmless. Nobody else should answer
meanwhile.

The exit code is 0 when no duty was broken beyond what --known lists, 1 when one was (with
--strict, advice too), 2 if a flag is wrong or the producer cannot be reached or lets
nobody in.`,
		Example: `  earshot conform producer http://127.0.0.1:8080 --level 3 --for 2m
  earshot conform producer ws://127.0.0.1:8080/aaep/v1/ws --session sess_1 --fresh
  earshot conform producer http://127.0.0.1:8080 --known known.json --junit report.xml --html report.html`,
		Args: usage.One("the address of a producer"),
		RunE: func(c *cobra.Command, args []string) error { return m.judgeProducer(c.Context(), f, args[0]) },
	}
	flags := c.Flags()
	flags.IntVar(&f.level, "level", 3, "the level of conformance that is expected: 1, 2 or 3")
	flags.DurationVar(&f.length, "for", time.Minute, "listen for so long at most; with --session until its end")
	flags.StringVar(&f.session, "session", "", "judge the events of this session only")
	flags.IntVar(&f.sessions, "sessions", 0, "end after so many sessions have ended")
	flags.BoolVar(&f.fresh, "fresh", false, "no session runs yet: each must begin with its start")
	flags.StringVar(&f.answer, "answer", "reject", "answer every question with reject or accept; clarifications with accept only")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for the producer")
	flags.StringVar(&f.known, "known", "", "a file with the rules that are known to be broken: one JSON object of ids and reasons")
	flags.BoolVar(&f.strict, "strict", false, "fail for advice that is not followed, too")
	flags.BoolVar(&f.everything, "all", false, "a line also for each rule that was not exercised")
	flags.BoolVar(&f.asJSON, "json", false, "write one JSON object for each rule, and a summary")
	flags.StringVar(&f.junit, "junit", "", "write the report to this file as JUnit XML, for CI")
	flags.StringVar(&f.html, "html", "", "write the report to this file as a page")
	flags.BoolVar(&f.mute, "quiet", false, "do not say on standard error when it listens")
	_ = c.RegisterFlagCompletionFunc("answer", cobra.FixedCompletions([]string{"reject", "accept"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("level", cobra.FixedCompletions([]string{"1", "2", "3"}, cobra.ShellCompDirectiveNoFileComp))
	cli.MarkPaths(c, nil, []string{"token-file", "known", "junit", "html"})
	return c
}

func (m *commands) judgeProducer(ctx context.Context, f producerFlags, address string) error {
	known, err := knownFailures(f.known)
	if err != nil {
		return err
	}
	token, err := firstLine(f.tokenFile)
	if err != nil {
		return err
	}
	ctx, interrupted := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer interrupted()
	report, err := producer.Judge(ctx, producer.Options{
		URL: address, Token: token, Level: f.level, For: f.length, Session: f.session, Sessions: f.sessions, Fresh: f.fresh, Answer: aaep.Decision(f.answer), Now: m.Now,
		Ready: func() {
			if !f.mute {
				m.Note("It listens. Start what the producer is to do.")
			}
		},
	})
	if err != nil {
		return notJudged(err)
	}
	return m.reportProducer(f, report, known)
}

// notJudged is why there is no report. Neither is a verdict, so both have the code of wrong usage.
func notJudged(err error) error {
	if e, ok := errors.AsType[*report.Error](err); ok {
		return cause.Misuse(e.Message, e.Hint)
	}
	return cause.Fail(err, "the producer could not be judged", "")
}

// firstLine reads a token.
func firstLine(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return "", cause.Misuse("the token cannot be read: "+cause.Of(err), "check the name of the file and its rights")
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimSpace(first), nil
}

// reportProducer writes the report in each form that was asked for.
func (m *commands) reportProducer(f producerFlags, report report.Report, known map[string]string) error {
	for _, rule := range report.Expect(known) {
		m.Note(fmt.Sprintf("%s is known to be broken, and was kept.", rule))
	}
	if err := toFile(f.junit, func(to io.Writer) error { return report.WriteJUnit(to, f.strict) }); err != nil {
		return err
	}
	if err := toFile(f.html, report.WriteHTML); err != nil {
		return err
	}
	var err error
	if f.asJSON {
		err = report.WriteJSON(m.Stdout)
	} else {
		err = report.WriteText(m.Stdout, f.everything)
	}
	switch {
	case err != nil:
		return cause.Fail(err, "the report could not be written", "")
	case !report.Passed(f.strict):
		return &cli.ExitError{Code: cli.ExitFailed}
	}
	return nil
}

// toFile writes a file, if it has a name.
func toFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	err := write(&b)
	if err == nil {
		err = os.WriteFile(name, b.Bytes(), 0o600)
	}
	if err != nil {
		return cause.Misuse(fmt.Sprintf("%s cannot be written: %s", name, cause.Of(err)), "check the name and the rights")
	}
	return nil
}
