package agenthost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Process is a host that was started.
type Process struct {
	t       testing.TB
	command Command
	cmd     *exec.Cmd
	began   time.Time
	done    chan struct{} // closed when the host itself has exited
	outcome Outcome       // of the time when done was closed
}

// Outcome is what came of a run.
type Outcome struct {
	Host     Host
	Code     int // of its exit; -1 when a signal ended it
	Stdout   []byte
	Stderr   []byte
	Duration time.Duration
}

// Text is the text with which the host has ended its turn.
func (o Outcome) Text() string { return o.Host.text(o.Stdout) }

// String is for the message of a test.
func (o Outcome) String() string {
	return fmt.Sprintf("%s ended with %d after %.1f s\nstdout:\n%s\nstderr:\n%s", o.Host, o.Code, o.Duration.Seconds(), o.Stdout, o.Stderr)
}

// Run starts a host and waits until it has ended. The test's own end ends it earlier.
func Run(t testing.TB, programs Programs, host Host, setup Setup) Outcome {
	t.Helper()
	return Start(t, Prepare(t, programs, host, setup)).Wait(t.Context())
}

// Start starts a host. Its output goes to files, so that no process that it leaves behind can hold up the test.
func Start(t testing.TB, command Command) *Process {
	t.Helper()
	out, err := os.Create(filepath.Join(command.root, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }() // the host has its own
	return start(t, command, nil, out)
}

// Talk starts a host that is spoken to. Its output ends when every process that writes to it has ended.
func Talk(t testing.TB, command Command) (p *Process, to io.WriteCloser, from io.ReadCloser) {
	t.Helper()
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(errors.Join(err, in.Close(), to.Close()))
	}
	t.Cleanup(func() { _, _ = to.Close(), from.Close() })
	defer func() { _, _ = in.Close(), out.Close() }() // the host has its own
	return start(t, command, in, out), to, from
}

func start(t testing.TB, command Command, in, out *os.File) *Process {
	t.Helper()
	stderr, err := os.Create(filepath.Join(command.root, "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	cmd := exec.Command(command.Args[0], command.Args[1:]...) //nolint:gosec,noctx // its end is ours: the whole group
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = command.Env, command.Dir, out, stderr
	if in != nil {
		cmd.Stdin = in
	}
	cmd.SysProcAttr = attributes()
	p := &Process{t: t, command: command, cmd: cmd, began: time.Now(), done: make(chan struct{})}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // the exit code says it
		p.outcome = Outcome{Host: command.Host, Code: cmd.ProcessState.ExitCode(), Duration: time.Since(p.began)}
	}()
	t.Cleanup(p.end)
	return p
}

// PID is the process of the host, which leads its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Context ends when the host has exited: nothing more is to be expected of it then.
func (p *Process) Context(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	go func() {
		select {
		case <-p.done:
			cancel(fmt.Errorf("%s has exited with %d", p.command.Host, p.outcome.Code))
		case <-ctx.Done():
			cancel(nil)
		}
	}()
	return ctx
}

// Wait waits until the host has exited. Processes that it leaves end with the test.
func (p *Process) Wait(ctx context.Context) Outcome {
	p.t.Helper()
	select {
	case <-p.done:
		return p.read()
	case <-ctx.Done():
		p.Kill()
		p.t.Fatalf("expected the host to end: %v\n%s", context.Cause(ctx), p.read())
		return Outcome{}
	}
}

// Kill ends the host and its process group by SIGKILL, and waits for the host.
func (p *Process) Kill() {
	select {
	case <-p.done: // its number may belong to another process by now
	default:
		_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
		<-p.done
	}
}

// read is the outcome, with what was written so far.
func (p *Process) read() Outcome {
	outcome := p.outcome
	outcome.Stdout, _ = os.ReadFile(filepath.Join(p.command.root, "stdout")) // none where the host was spoken to
	outcome.Stderr, _ = os.ReadFile(filepath.Join(p.command.root, "stderr"))
	return outcome
}

// end ends whatever belongs to the run.
func (p *Process) end() {
	p.Kill()
	for _, left := range endAllOf(p.t, p.command.root) {
		p.t.Logf("%s left a process behind, which was ended: %s", p.command.Host, left)
	}
}
