package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/build"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/gateway/acp"
	"github.com/earshot-dev/earshot/internal/gateway/local"
	"github.com/earshot-dev/earshot/internal/surface/terminal"
)

type acpFlags struct {
	request, data, mode string
	token               string // file with a token to answer with
	asJSON, noInput     bool
	alone, noTools      bool
	answerWithin        time.Duration
}

func (m *Main) acpCommand() *cobra.Command {
	var f acpFlags
	c := &cobra.Command{
		Use:   "acp -- AGENT [ARGUMENT…]",
		Short: "Work with an agent that speaks ACP: Gemini CLI, Claude Code, Codex, Qwen Code, OpenCode and others",
		Long: `Work with an agent that speaks the Agent Client Protocol (ACP). You type requests, line by
line. What the agent says, plans and does is told here and on every other surface, in plain
lines. What it asks permission for is a question to you, with all that it shows.

The agent is started in the current folder, and ends with this command. It is set to a mode
in which it asks before it acts, and the mode is said before the first request. An agent
without such a mode, or that leaves it, is refused; --allow-mode NAME lets it work in the
mode of that name all the same. OpenCode, which has none, is given one, called earshot.

The agent also gets the tools of Earshot, as an MCP server. Their calls go through the gate,
in the same session: what cannot be undone starts after your yes only. An agent may ask by
itself before it uses one of them, which is a question of its own. --no-tools leaves them out.

For what the agent does by itself, a yes allows one thing once. The agent asks by itself and shows what it wants to show, so
this is advice and no gate: what it does without asking, Earshot cannot see or stop.

Words about a question: accept, reject, more time, list, list all, why, stop. Any other line
is a request, while no question is open and the agent is not at work. Stop, or Ctrl-C, ends
the session here and at the agent; a second Ctrl-C does not wait for the agent. The end of
the input (Ctrl-D) ends it after the current request. Lines piped to standard input are like
typed ones.

Where no "earshot up" runs on the data directory, one is started, and stays. A terminal that
is not logged in is asked for the code first (see earshot login), so that it can accept.

Exit codes: 0 done; 1 failed; 2 usage; 3 something was declined, or it was stopped; 129,
130 and 143 on signals.`,
		Example: `  earshot acp -- gemini --acp
  earshot acp -- npx @agentclientprotocol/claude-agent-acp
  earshot acp --request "Write the tests" -- codex-acp`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 || c.ArgsLenAtDash() != 0 {
				return cause.Misuse("the agent's command has to come after two dashes", "for example earshot acp -- gemini --acp")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return m.acp(c.Context(), f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.request, "request", "", "what you ask the agent for: it is the only request, and standard input only answers")
	flags.StringVar(&f.mode, "allow-mode", "", `mode of the agent to work in although it may act there without asking; "none" for an agent that names no modes`)
	flags.BoolVar(&f.asJSON, "json", false, "write the session's events to standard output as JSON lines, and nothing else")
	flags.BoolVar(&f.noInput, "no-input", false, "take no lines from standard input: others can still answer")
	flags.DurationVar(&f.answerWithin, "answer-within", 0, "how long a question waits for an answer, 1s to 24h (default what the policy says, else 5m)")
	flags.StringVar(&f.data, "data", "", cli.DataUsage)
	flags.StringVar(&f.token, "token-file", "", "file with a token to answer with, such as one of earshot token add, where no person types")
	flags.BoolVar(&f.noTools, "no-tools", false, "give the agent none of Earshot's tools")
	flags.BoolVar(&f.alone, "no-start", false, "start no server where none runs")
	cli.MarkPaths(c, []string{"data"}, []string{"token-file"})
	return c
}

func (m *Main) acp(ctx context.Context, f acpFlags, command []string) error {
	if f.answerWithin != 0 && (f.answerWithin < time.Second || f.answerWithin > maxAnswer) {
		return cause.Misuse(fmt.Sprintf("--answer-within is %s; it can be 1s to 24h", f.answerWithin), "for example --answer-within 300s")
	}
	if f.request == "" && (f.noInput || m.Stdin == nil) {
		return cause.Misuse("there is no request, and none can be typed", "give one with --request")
	}
	data, err := m.DataPath(f.data, false)
	if err != nil {
		return err
	}
	if err := m.offerLoginAt(ctx, f, data); err != nil {
		return err
	}
	signals := m.NewSignals()
	defer signals.Stop()
	signals.Heed()
	var run *acpRun
	signalled, err := unlessSignalled(ctx, signals.C, func(ctx context.Context) (err error) {
		run, err = m.openACP(ctx, f, data, command)
		return err
	})
	switch {
	case signalled != nil:
		return &cli.ExitError{Code: cli.SignalCode(signalled)}
	case err != nil:
		return err
	}
	return run.attend(ctx, f, signals.C)
}

// offerLoginAt offers, where a person types and a server runs, to log the terminal in.
func (m *Main) offerLoginAt(ctx context.Context, f acpFlags, data string) error {
	if f.noInput || !cli.IsTerminal(m.Stdin) || !cli.ServerAt(data) {
		return nil
	}
	remote, err := m.Dial(ctx, cli.ServerFlags{DataFlag: data, TokenFile: f.token}, "earshot-acp")
	if err != nil {
		return err
	}
	return m.offerLogin(ctx, remote)
}

// unlessSignalled runs do with a context that a signal cancels, and returns that signal.
func unlessSignalled(ctx context.Context, signals <-chan os.Signal, do func(context.Context) error) (came os.Signal, err error) {
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case came = <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	err = do(ctx)
	cancel()
	<-watched
	return came, err
}

// acpRun is one run of `earshot acp`.
type acpRun struct {
	m       *Main
	remote  *client.Client // of the person
	session string
	front   *acp.Front
	person  string
}

// openACP starts the agent, opens its session at Earshot, and sets its mode.
func (m *Main) openACP(ctx context.Context, f acpFlags, data string, command []string) (*acpRun, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, cause.Fail(err, "the program does not know where it is", "start it by its full path")
	}
	o := local.Options{Data: data, Now: m.Now, Notice: m.Note}
	if !f.alone {
		o.Program = program
	}
	m.Notef("Starting %s.", cause.OneLine(strings.Join(command, " ")))
	agent, err := acp.Start(ctx, acp.Command{Args: command, Dir: local.WorkingFolder(), Env: acp.Environment(command, m.agentEnvironment())}, build.This().Version)
	if err != nil {
		return nil, err
	}
	o.Agent, o.AgentProcess = local.AgentName(agent.Name), agent.Process()
	run, err := m.joinACP(ctx, f, o, agent)
	if err != nil {
		agent.Close()
		return nil, err
	}
	var gateway []string
	if !f.noTools {
		gateway = []string{program, "mcp", "serve", "--no-start", "--data", data, "--agent", o.Agent, "--session", run.session}
	}
	if err := run.front.Open(ctx, gateway); err != nil {
		if why := run.front.Close(); why != nil {
			err = why
		}
		return nil, err
	}
	return run, nil
}

// joinACP connects the agent to Earshot, and the person to its session there.
func (m *Main) joinACP(ctx context.Context, f acpFlags, o local.Options, agent *acp.Agent) (*acpRun, error) {
	there, err := local.Dial(ctx, o)
	if err != nil {
		return nil, cli.ServerFailure(err)
	}
	remote, err := m.Dial(ctx, cli.ServerFlags{DataFlag: o.Data, TokenFile: f.token}, "earshot-acp")
	if err != nil {
		return nil, err
	}
	me, err := remote.Identity(ctx)
	if err != nil {
		return nil, cli.ServerFailure(err)
	}
	if !f.noInput && !me.Accepts && cli.IsTerminal(m.Stdin) {
		if a, err := m.joinTerminal(ctx, remote); err != nil || !a.Accepts { // the server was started a moment ago
			m.Notef("This terminal is not logged in. You can reject and stop here, and accept on the page.")
		}
	}
	session, err := there.Open(ctx, api.AgentOpen{
		Request: f.request, Label: local.Folder(), Answer: int(f.answerWithin / time.Second), Idle: api.MaxIdle,
	})
	if err != nil {
		return nil, cli.ServerFailure(err)
	}
	front := acp.NewFront(agent, session, acp.Settings{Agent: o.Agent, AllowedMode: f.mode, Request: f.request})
	return &acpRun{m: m, remote: remote, session: session.ID, front: front, person: me.Name}, nil
}

// agentEnvironment is the person's environment, without what would let the agent answer for them.
func (m *Main) agentEnvironment() []string {
	return slices.DeleteFunc(m.Environ(), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return strings.HasPrefix(name, "EARSHOT_") && strings.Contains(name, "TOKEN")
	})
}

// attend narrates the session here and takes requests and answers, until it ends. Then it ends the agent.
func (r *acpRun) attend(ctx context.Context, f acpFlags, signals chan os.Signal) error {
	base := acpPort{Server: terminal.NewServer(r.remote, terminal.ServerOptions{Session: r.session, Items: cli.ItemsOf}), front: r.front}
	a := attendance{
		port: terminal.Port(acpPrompts{base}), session: r.session, person: r.person, broken: r.front.Broken(),
		resume: "start the agent again",
		stop:   func(ctx context.Context, _ os.Signal) error { return base.Stop(ctx, terminal.Stop{At: r.m.Now()}) },
		absent: func(context.Context) { r.front.LastPrompt() },
	}
	var prompted chan struct{}
	if f.request != "" {
		a.port, a.absent = base, nil
		prompted = make(chan struct{})
		go func() {
			defer close(prompted)
			_ = r.front.Prompt(ctx, f.request) // the session says what came of it
			r.front.LastPrompt()
		}()
	} else if r.m.Stdin != nil && cli.IsTerminal(r.m.Stdin) {
		r.m.Notef("Type a request, then press Enter. Ctrl-D ends, stop stops, help lists the words.")
	}
	passed, patient, done := passSignals(ctx, signals)
	defer done()
	signalled, failure := r.m.follow(ctx, runFlags{asJSON: f.asJSON, noInput: f.noInput}, passed, a)
	ended := r.end(patient)
	if prompted != nil {
		<-prompted
	}
	switch {
	case signalled != nil:
		return &cli.ExitError{Code: cli.SignalCode(signalled)}
	case failure != nil:
		return failure
	case ended != nil:
		return ended
	}
	err := verdictThere(ctx, r.remote, r.session)
	if err == nil && r.front.Declined() > 0 {
		return &cli.ExitError{Code: cli.ExitDeclined}
	}
	return err
}

// restTime is how long a stopped agent may take to end its turn.
const restTime = 5 * time.Second

// passSignals passes signals on to the one that receives from passed, and ends a context at the second one. A hangup never counts as that: it
// arrives more than once.
func passSignals(ctx context.Context, signals <-chan os.Signal) (passed chan os.Signal, patient context.Context, done func()) {
	passed = make(chan os.Signal, cap(signals))
	patient, impatient := context.WithCancel(ctx)
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 0; ; {
			select {
			case <-quit:
				return
			case s := <-signals:
				if s != cli.Hangup {
					n++
				}
				if n > 1 {
					impatient()
				}
				select {
				case passed <- s:
				default: // there are enough of them
				}
			}
		}
	}()
	return passed, patient, func() {
		close(quit)
		<-ended
		impatient()
	}
}

// end waits until a stopped agent has ended its turn, unless the person is no longer patient, and ends the agent.
func (r *acpRun) end(patient context.Context) error {
	ctx, cancel := context.WithTimeout(patient, restTime)
	defer cancel()
	r.front.Stopped()
	r.front.Rest(ctx)
	if r.front.IsStopped() {
		r.m.Note(r.front.Account())
	}
	return r.front.Close()
}

// acpPort is the terminal of the session of an ACP agent: what stops the session stops the agent.
type acpPort struct {
	*terminal.Server

	front *acp.Front
}

// Events implements terminal.Port.
func (p acpPort) Events(ctx context.Context) iter.Seq2[client.Event, error] {
	return func(yield func(client.Event, error) bool) {
		for e, err := range p.Server.Events(ctx) {
			if err == nil && e.IsTerminal() {
				p.front.Stopped() // unless it was the agent who has ended it
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// tellTime is how long a stop waits for the report of what the agent had begun.
const tellTime = 3 * time.Second

// Stop implements terminal.Port.
func (p acpPort) Stop(ctx context.Context, s terminal.Stop) error {
	tell, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	p.front.Stop(tell)
	return p.Server.Stop(ctx, s)
}

// acpPrompts is an acpPort whose lines are requests, too.
type acpPrompts struct{ acpPort }

// Prompt implements terminal.Prompter.
func (p acpPrompts) Prompt(ctx context.Context, q terminal.AgentPrompt) error {
	return p.front.Prompt(ctx, q.Text)
}
