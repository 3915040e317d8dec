package acp

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/program"
)

// Command is how an agent is started.
type Command struct {
	Args []string // the program first
	Dir  string   // in which it works
	Env  []string // all of it
}

// process is an agent's program, with its group.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *tail
	ended  chan struct{} // closed when it has ended, and its group
	once   sync.Once
}

func start(c Command) (*process, error) {
	path, err := exec.LookPath(c.Args[0])
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what it is about
	}
	var theirs, ours [3]*os.File
	closeAll := func(files [3]*os.File) {
		for _, file := range files {
			_ = file.Close() // a nil file only says so
		}
	}
	for i := range theirs {
		read, write, err := os.Pipe()
		if err != nil {
			closeAll(theirs)
			closeAll(ours)
			return nil, err //nolint:wrapcheck // the caller says what it is about
		}
		theirs[i], ours[i] = write, read
	}
	theirs[0], ours[0] = ours[0], theirs[0] // it reads from the first
	p := &process{stdin: ours[0], stdout: ours[1], stderr: &tail{from: ours[2]}, ended: make(chan struct{})}
	p.cmd = &exec.Cmd{
		Path: path, Args: c.Args, Env: c.Env, Dir: c.Dir, SysProcAttr: withoutTerminal(program.Attributes()),
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
	}
	started := make(chan error)
	go p.live(started)
	err = <-started
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	p.stderr.read()
	return p, nil
}

// withoutTerminal has a program start in a session of its own, and so in a group of its own, without the person's
// terminal: what it starts cannot answer there, from its first moment on, nor ask or read behind Earshot's back.
func withoutTerminal(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	a.Setpgid, a.Setsid = false, true
	return a
}

// live starts the program and waits for its end. The system ends it with the thread that has started it, so that is kept.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	program.Wait(p.cmd, func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }) // what it has left in its group
	close(p.ended)
}

// endGrace is how long an agent may take to end, at each of the two steps.
const endGrace = time.Second

// end closes the agent's input, which tells it to end; then by signals to its group.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.stdin.Close()
		timer := time.NewTimer(endGrace)
		defer timer.Stop()
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			select {
			case <-p.ended:
			case <-timer.C:
				_ = syscall.Kill(-p.cmd.Process.Pid, signal)
				timer.Reset(endGrace)
			}
		}
		<-p.ended
		_ = p.stdout.Close()
		p.stderr.close()
	})
}

// ending says how the program ended, and its last words. It waits for the end a short time: its output ends first.
func (p *process) ending() string {
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		return "it has closed its standard output"
	}
	how := p.cmd.ProcessState.String()
	if last := p.stderr.last(); last != "" {
		how += "; it wrote last: " + last
	}
	return how
}

// maxTail is how much of standard error is kept.
const maxTail = 4 << 10

// tail is the end of what a program writes to standard error.
type tail struct {
	from  *os.File
	owned sync.WaitGroup

	mu   sync.Mutex
	text []byte
}

func (t *tail) read() {
	t.owned.Go(func() { _, _ = io.Copy(t, t.from) })
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if excess := len(t.text) - maxTail; excess > 0 {
		t.text = slices.Delete(t.text, 0, excess)
	}
	return len(p), nil
}

// close is called once the program has ended. Somebody who left its group may still have the other end.
func (t *tail) close() {
	timer := time.AfterFunc(endGrace, func() { _ = t.from.Close() })
	defer timer.Stop()
	t.owned.Wait()
	_ = t.from.Close()
}

// last is the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	return cause.OneLine(strings.ToValidUTF8(text[strings.LastIndexByte(text, '\n')+1:], "�"))
}
