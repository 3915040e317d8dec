package command

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	programs "github.com/earshot-dev/earshot/internal/program"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
)

// firstFD is the first descriptor after standard error.
const firstFD = 3

// job is one run of a program.
type job struct {
	path    string // of the private copy
	name    string // of the program, as it is configured
	argv    []string
	env     []string
	folder  *os.File
	stdin   []byte
	secrets []string // for the descriptors from firstFD on
	limits  limits
}

// ending is how a run ended.
type ending struct {
	code           int            // of the exit; -1 where a signal ended it
	signal         syscall.Signal // that ended it; 0 for none
	why            error          // errTime, errStopped or errAlone if we ended it; nil if it ended by itself
	duration       time.Duration
	stdout, stderr *capture
}

var (
	errTime    = errors.New("it took too long")
	errStopped = errors.New("it was told to stop")
	// errAlone: no person asked for its end.
	errAlone = errors.New("its service was ending, or had lost the call")
)

// called returns why a call's context has ended.
func called(ctx context.Context) error {
	if cause := context.Cause(ctx); errors.Is(cause, tool.ErrEnding) || errors.Is(cause, tool.ErrLost) {
		return errAlone
	}
	return errStopped
}

// run starts the program and waits until it has ended and its group is empty. An error means that it did not start.
func (j job) run(ctx context.Context, r *settings.Redactor) (ending, error) {
	// The kernel kills the program when the thread that started it ends (PDEATHSIG). So we keep this thread until the
	// program has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, pipes, err := j.command()
	if err != nil {
		return ending{}, err
	}
	began := time.Now()
	err = cmd.Start()
	pipes.closeTheirs()
	if err != nil {
		pipes.closeOurs()
		return ending{}, err //nolint:wrapcheck // the caller says what did not start
	}
	e := ending{stdout: newCapture(int(j.limits.Output), r), stderr: newCapture(int(j.limits.Output), r)}
	var streams sync.WaitGroup
	streams.Go(func() { e.stdout.read(pipes.stdout) })
	streams.Go(func() { e.stderr.read(pipes.stderr) })
	pipes.writeInput(&streams)
	g := &group{leader: cmd.Process.Pid, ended: make(chan struct{})}
	var watching sync.WaitGroup
	watching.Go(func() { e.why = g.watch(ctx, j.limits) })
	programs.Wait(cmd, func() {
		g.finish()
		close(g.ended)
		watching.Wait()
	})
	drain(&streams, pipes)
	e.duration = time.Since(began)
	e.code = cmd.ProcessState.ExitCode()
	if status, is := cmd.ProcessState.Sys().(syscall.WaitStatus); is && status.Signaled() {
		e.signal = status.Signal()
	}
	return e, nil
}

// drainTime is how long the streams may stay open once the group has ended, because a process that left the group could
// hold them. Output that is unread by then is lost, so it is longer than a busy machine is likely to delay this
// process.
const drainTime = 3 * time.Second

// drain waits for the rest of the output.
func drain(streams *sync.WaitGroup, pipes *pipes) {
	timer := time.AfterFunc(drainTime, pipes.closeOurs)
	defer timer.Stop()
	streams.Wait()
	pipes.closeOurs()
}

// command prepares the program, with our own pipes: those of os/exec would wait for any other process that holds them.
func (j job) command() (*exec.Cmd, *pipes, error) {
	p := &pipes{}
	cmd := &exec.Cmd{Path: j.path, Args: append([]string{j.name}, j.argv...), Env: j.env, Dir: folderOf(j.folder), SysProcAttr: programs.Attributes()}
	var stdout, stderr *os.File
	err := errors.Join(p.out(&p.stdout, &stdout), p.out(&p.stderr, &stderr))
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err == nil && j.stdin != nil {
		var stdin *os.File
		stdin, err = p.in(j.stdin)
		cmd.Stdin = stdin
	}
	for _, secret := range j.secrets {
		if err != nil {
			break
		}
		var file *os.File
		file, err = p.in([]byte(secret))
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
	}
	if err != nil {
		p.closeTheirs()
		p.closeOurs()
		return nil, nil, err
	}
	return cmd, p, nil
}

// pipes are our ends of a program's streams and, until it has started, the program's ends.
type pipes struct {
	stdout, stderr *os.File
	inputs         []input
	theirs         []*os.File
	once           sync.Once
}

type input struct {
	to   *os.File
	text []byte
}

func (p *pipes) out(ours, theirs **os.File) error {
	read, write, err := os.Pipe()
	if err != nil {
		return err //nolint:wrapcheck // the caller says what did not start
	}
	*ours, *theirs = read, write
	p.theirs = append(p.theirs, write)
	return nil
}

func (p *pipes) in(text []byte) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what did not start
	}
	p.theirs = append(p.theirs, read)
	p.inputs = append(p.inputs, input{write, text})
	return read, nil
}

// writeInput writes the program's input. It does not block on a program that never reads: the end of the program closes
// the pipe.
func (p *pipes) writeInput(owned *sync.WaitGroup) {
	for _, in := range p.inputs {
		owned.Go(func() {
			_, _ = in.to.Write(in.text)
			_ = in.to.Close()
		})
	}
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

func (p *pipes) closeOurs() {
	p.once.Do(func() {
		for _, f := range []io.Closer{p.stdout, p.stderr} {
			_ = f.Close()
		}
		for _, in := range p.inputs {
			_ = in.to.Close()
		}
	})
}

// group is the process group of a program. It is signalled only until its leader has been waited for: after that its
// number may belong to another process.
type group struct {
	leader int
	ended  chan struct{}
}

// watch ends the group when the time is up or the call is stopped: first with SIGTERM, then with SIGKILL.
func (g *group) watch(ctx context.Context, l limits) error {
	timer := time.NewTimer(l.Time)
	defer timer.Stop()
	var why error
	select {
	case <-g.ended:
		return nil
	case <-ctx.Done():
		why = called(ctx)
	case <-timer.C:
		why = errTime
	}
	_ = syscall.Kill(-g.leader, syscall.SIGTERM)
	timer.Reset(l.Grace)
	select {
	case <-g.ended:
		return why
	case <-timer.C:
	}
	_ = syscall.Kill(-g.leader, syscall.SIGKILL)
	<-g.ended
	return why
}

// finish kills what the program has left in its group.
func (g *group) finish() { _ = syscall.Kill(-g.leader, syscall.SIGKILL) }
