package protocol

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/producer"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/usage"
)

// producerFlags are the flags of `earshot conform producer`.
type producerFlags struct {
	reportFlags

	sessions        int
	length          time.Duration
	session, answer string
	tokenFile       string
	fresh, mute     bool
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

The address is that of a server (http, https), which is subscribed to with POST, of a
WebSocket (ws, wss), of gRPC (grpc, grpcs), or unix:PATH for a Unix socket. An http address
with a path is a stream without subscriptions, which is of level 1.

Questions are rejected. With --answer accept they are accepted, and what the producer then
does is done: use it with a producer whose actions are harmless. With --answer none they are
left alone until their time is over. Nobody else should answer meanwhile. The first question
also gets replies that do not count, such as one with a wrong token: each says no.

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
	f.register(c)
	flags.DurationVar(&f.length, "for", time.Minute, "listen for so long at most; with --session until its end")
	flags.StringVar(&f.session, "session", "", "judge the events of this session only")
	flags.IntVar(&f.sessions, "sessions", 0, "end after so many sessions have ended")
	flags.BoolVar(&f.fresh, "fresh", false, "no session runs yet: each must begin with its start")
	flags.StringVar(&f.answer, "answer", "reject", "answer every question with reject, accept or none; clarifications with accept only")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with the token for the producer")
	flags.BoolVar(&f.mute, "quiet", false, "do not say on standard error when it listens")
	_ = c.RegisterFlagCompletionFunc("answer", cobra.FixedCompletions([]string{"reject", "accept", string(producer.Silence)}, cobra.ShellCompDirectiveNoFileComp))
	cli.MarkPaths(c, nil, []string{"token-file", "known", "junit", "html"})
	return c
}

func (m *commands) judgeProducer(ctx context.Context, f producerFlags, address string) error {
	if err := f.check(); err != nil {
		return err
	}
	known, err := knownFailures(f.known)
	if err != nil {
		return err
	}
	token, err := firstLine(f.tokenFile)
	if err != nil {
		return err
	}
	ctx, interrupted := m.UntilInterrupted(ctx)
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
		return notJudged(err, "the producer could not be judged")
	}
	return m.writeReport(f.reportFlags, report, known)
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
