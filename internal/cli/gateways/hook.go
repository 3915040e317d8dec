package gateways

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/agentcheck"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/gateway/local"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/internal/gateway/permission"
	"github.com/earshot-dev/earshot/tool/settings"
)

type hookFlags struct {
	data   string
	before time.Duration
	alone  bool
}

func (m *commands) hookCommand() *cobra.Command {
	var f hookFlags
	c := &cobra.Command{
		Use:   "hook " + strings.Join(hook.Names(), "|"),
		Short: "Be the hook of an agent's host: ask before it uses a tool of its own",
		Long: `Be a program that a host such as Claude Code, Codex or Gemini CLI runs before it uses
a tool of its own: its shell, or what changes files. You are asked on every surface of
yours, with the exact input of the tool, and the host goes by your answer. What only
reads is not asked for.

Whatever fails, the tool is not used: without a server, without an answer in time, with
an input that cannot be read. A rule of the policy that allows leaves it to the host's
own rules.

Hosts run such a program only because their settings say so, so this is advice and no
gate. docs/hosts.md has the settings of each host.`,
		Example: `  earshot hook claude --answer-before 59m`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				if _, is := hook.Named(args[0]); is {
					return nil
				}
			}
			return noHook(args)
		},
		ValidArgs: hook.Names(),
		RunE: func(c *cobra.Command, args []string) error {
			host, _ := hook.Named(args[0])
			if m.Stdin != nil && cli.IsTerminal(m.Stdin) {
				return cause.Misuse(host.Title+" runs this, and says on standard input what it is about to do", "`earshot install --help` says how it gets into its settings")
			}
			if f.before != 0 && f.before < hookLeast {
				return cause.Misuse("--answer-before is "+f.before.String(), "give 5 seconds or more, such as 59m")
			}
			return m.hook(c.Context(), host, f)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", cli.DataUsage)
	flags.DurationVar(&f.before, "answer-before", 0, "time after which the host is told no; less than its limit for hooks (default: somewhat less than its own)")
	flags.BoolVar(&f.alone, "no-start", false, "start no server where none runs")
	cli.MarkPaths(c, []string{"data"}, nil)
	return c
}

// noHook says which host was expected where there is not exactly one that has hooks.
func noHook(args []string) error {
	switch len(args) {
	case 0:
		return cause.Misuse("no host is named", "name one of "+strings.Join(hook.Names(), ", "))
	case 1:
		return cause.Misuse("there is no host "+cause.Quoted(args[0])+" that has hooks", settings.Meant("hosts", args[0], hook.Names()))
	}
	return cause.Misuse("one hook serves one host", "name one of "+strings.Join(hook.Names(), ", "))
}

const (
	// hookGrace is how long after its timeout a hook that hangs is abandoned.
	hookGrace = 2 * time.Second
	// hookSlack is how long before that timeout a question closes, so that nobody answers it in vain.
	hookSlack = 3 * time.Second
	// hookLeast is the minimum time to answer.
	hookLeast = 5 * time.Second
)

// hook always writes an answer for the host. Hosts continue when their hook fails, so it must never just fail.
func (m *commands) hook(ctx context.Context, host hook.Host, f hookFlags) error {
	signal.Ignore(syscall.SIGPIPE) // otherwise a closed standard output would kill the process, which hosts treat as no answer
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	before := f.before
	if before == 0 {
		before = hook.Before(host.Limit)
	}
	ctx, cancel := context.WithTimeout(ctx, before)
	defer cancel()
	late := time.NewTimer(before + hookGrace)
	defer late.Stop()

	run := hookRun{m: m, host: host, f: f, before: before}
	done := make(chan hook.Output, 1)
	go func() { done <- run.answer(ctx) }() // it may hang in a read; then the process just ends
	select {
	case out := <-done:
		return run.end(out)
	case s := <-signals:
		return run.end(run.refuse("the hook was ended (" + s.String() + ") before anybody had answered"))
	case <-late.C:
		return run.end(run.refuse(permission.NoAnswer))
	}
}

// hookRun is one run of the hook.
type hookRun struct {
	m      *commands
	host   hook.Host
	f      hookFlags
	before time.Duration
	event  atomic.Pointer[hook.Event] // nil until it is known
}

// refuse returns the output after a failure. An event that only reports something never blocks the host.
func (r *hookRun) refuse(reason string) hook.Output {
	if e := r.event.Load(); e != nil {
		return r.host.Write(*e, hook.Answer{Reason: reason})
	}
	return r.host.Refuse(reason)
}

// end writes the output. If it cannot be written, the hook blocks.
func (r *hookRun) end(out hook.Output) error {
	if out.Stderr != "" {
		_, _ = io.WriteString(r.m.Stderr, out.Stderr)
	}
	if len(out.Stdout) > 0 {
		err := nowhere(r.m.Stdout)
		if err == nil {
			_, err = r.m.Stdout.Write(out.Stdout)
		}
		if e := r.event.Load(); err != nil && (e == nil || e.Kind == hook.Use) {
			r.m.Notef("Earshot: the answer could not be written, so the tool is not used: %v", err)
			return &cli.ExitError{Code: cli.ExitUsage}
		}
	}
	if out.Code != 0 {
		return &cli.ExitError{Code: out.Code}
	}
	return nil
}

// nowhere returns an error if nobody reads the output. A standard output that was closed at the start has become the
// null device, which accepts everything.
func nowhere(w io.Writer) error {
	file, is := w.(*os.File)
	if !is {
		return nil
	}
	there, err := file.Stat()
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it is about
	}
	null, err := os.Stat(os.DevNull)
	if err == nil && os.SameFile(there, null) {
		return errors.New("standard output is " + os.DevNull)
	}
	return nil
}

// answer reads the event and determines the answer.
func (r *hookRun) answer(ctx context.Context) (out hook.Output) {
	defer func() {
		if p := recover(); p != nil {
			r.m.Notef("Earshot: %v\n%s", p, debug.Stack())
			out = r.refuse("Earshot's hook has failed, so it was not done.")
		}
	}()
	raw, err := io.ReadAll(io.LimitReader(r.m.Stdin, hook.MaxInput+1))
	if err != nil {
		return r.refuse("what " + r.host.Title + " has said could not be read: " + cause.Of(err))
	}
	e, err := r.host.Read(raw)
	if err != nil {
		return r.refuse(cause.Of(err))
	}
	r.event.Store(&e)
	if nonce := r.m.Getenv(agentcheck.Variable); nonce != "" { // nobody is asked, and nothing is done
		return r.checked(e, nonce)
	}
	a, err := r.asker(e)
	if err != nil {
		return r.refuse(err.Error())
	}
	if e.Kind == hook.Use {
		return r.host.Write(e, a.Ask(ctx, e))
	}
	if err := a.Report(ctx, e); err != nil {
		r.m.Notef("Earshot: not reported: %v", err)
	}
	return r.host.Write(e, hook.Answer{})
}

// checked returns the output of a hook that only checks whether its host respects a denial.
func (r *hookRun) checked(e hook.Event, nonce string) hook.Output {
	if e.Kind == hook.Use && !r.host.Asks(e.Tool) {
		return r.host.Write(e, hook.Answer{Verdict: hook.NoDecision})
	}
	return r.host.Write(e, hook.Answer{Reason: agentcheck.Denial(nonce)})
}

// asker returns the asker for the event.
func (r *hookRun) asker(e hook.Event) (permission.Asker, error) {
	data, err := r.m.DataPath(r.f.data, false)
	if err != nil {
		return permission.Asker{}, err
	}
	program := ""
	if !r.f.alone {
		if program, err = os.Executable(); err != nil {
			return permission.Asker{}, cause.Fail(err, "the program does not know where it is", "start Earshot by hand with `earshot up`, and use --no-start")
		}
	}
	folder := e.Folder
	if name := r.host.FolderVariable; name != "" && r.m.Getenv(name) != "" {
		folder = r.m.Getenv(name)
	}
	return permission.Asker{
		Host: r.host, Key: local.Parent(), Folder: folder, Answer: max(api.MinAnswerSeconds*time.Second, r.before-hookSlack).Truncate(time.Second), Once: "hook-" + rand.Text(),
		Gateway: mcp.BuiltinTools(),
		Modes:   permission.ModeFiles{Folder: filepath.Join(data, "agents", "modes"), Host: r.host.Name, Now: r.m.Now},
		Dial: func(ctx context.Context, start bool) (permission.Agent, error) {
			if !start && !datadir.Exists(filepath.Join(data, datadir.ServerFile)) {
				return nil, errors.New("Earshot does not run") //nolint:staticcheck // a sentence
			}
			o := local.Options{Data: data, Agent: r.host.Name, Now: r.m.Now, Notice: r.m.Note}
			if start {
				o.Program = program
			}
			agent, err := local.Dial(ctx, o)
			if err != nil {
				return nil, err
			}
			return permission.Client{Agent: agent}, nil
		},
	}, nil
}
