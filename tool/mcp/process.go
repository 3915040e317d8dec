package mcp

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/program"
	"github.com/earshot-dev/earshot/tool"
)

// process is a server that is a program of this machine.
type process struct {
	cmd    *exec.Cmd
	stdin  *counted
	stdout *lines
	stderr *tail
	ended  chan struct{} // closed when it has ended, and its group
	once   sync.Once
}

// start starts the program.
func (s *Server) start(secrets map[string]string) (*process, error) {
	path, err := s.copies.Ready(s.bound)
	if errors.Is(err, program.ErrChanged) {
		return nil, fmt.Errorf("%s changed since the file of tools was read, and is not run; look at it, and start again", s.c.Command[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not run: %s", s.c.Command[0], cause.Of(err))
	}
	var pipes [3][2]*os.File // each to read from and to write to
	for i := range pipes {
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			closeAll(pipes)
			return nil, fmt.Errorf("it was not started: %s", cause.Of(err))
		}
	}
	p := &process{stdin: &counted{File: pipes[0][1]}, stderr: &tail{from: pipes[2][0]}, ended: make(chan struct{})}
	p.stdout = newLines(pipes[1][0], int(s.c.Limits.Message), func() {
		s.noticef("what it writes to standard output is not all of the protocol; the rest is left out, and belongs to standard error")
	})
	p.cmd = &exec.Cmd{
		Path: path, Args: s.c.Command, Env: s.environment(secrets), Dir: s.c.Folder, SysProcAttr: program.Attributes(),
		Stdin: pipes[0][0], Stdout: pipes[1][1], Stderr: pipes[2][1],
	}
	started := make(chan error)
	go p.live(started)
	err = <-started
	for _, theirs := range []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]} {
		_ = theirs.Close()
	}
	if err != nil {
		closeAll(pipes)
		return nil, fmt.Errorf("%s did not start: %s", s.c.Command[0], cause.Of(err))
	}
	p.stderr.read()
	return p, nil
}

func closeAll(pipes [3][2]*os.File) {
	for _, pipe := range pipes {
		for _, file := range pipe {
			if file != nil {
				_ = file.Close()
			}
		}
	}
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

// environment is all that the program finds in its environment.
func (s *Server) environment(secrets map[string]string) []string {
	all := map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
	for _, name := range s.c.Inherit {
		if value, set := s.o.LookupEnv(name); set {
			all[name] = value
		}
	}
	for name, text := range s.c.Environment {
		all[name] = fill(text, secrets)
	}
	env := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env = append(env, name+"="+all[name])
	}
	return env
}

func (p *process) transport() mcp.Transport {
	return &mcp.IOTransport{Reader: p.stdout, Writer: p.stdin, MaxLineLength: -1} // lines has the limit
}

// endGrace is how long a server may take to end, at each of the two steps.
const endGrace = time.Second

// end closes its input, which tells it to end; then by signals.
func (p *process) end() {
	p.once.Do(func() {
		_ = p.stdin.Close()
		timer := time.NewTimer(endGrace)
		defer timer.Stop()
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			select {
			case <-p.ended:
			case <-timer.C:
				p.signal(signal)
				timer.Reset(endGrace)
			}
		}
		<-p.ended
		_ = p.stdout.Close()
		p.stderr.close()
	})
}

// signal is for the group, whose number is the program's own until it was waited for.
func (p *process) signal(signal syscall.Signal) {
	select {
	case <-p.ended:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, signal)
	}
}

// ending is how the program ended by itself.
func (p *process) ending() string {
	select {
	case <-p.ended:
	default:
		return ""
	}
	how := p.cmd.ProcessState.String()
	if last := p.stderr.last(); last != "" {
		how += ", and its last words were: " + last
	}
	return how
}

func (p *process) written() int64 { return p.stdin.bytes.Load() }

// counted is a pipe that counts what is written.
type counted struct {
	*os.File

	bytes atomic.Int64
}

// Write implements [io.Writer]. It counts first: what may have been written counts as written.
func (c *counted) Write(p []byte) (int, error) {
	c.bytes.Add(int64(len(p)))
	return c.File.Write(p) //nolint:wrapcheck // it is the file's own
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

// close is called once the program has ended: what it has written is there to be read, unless somebody who left its group
// still has the other end.
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
	text := strings.TrimSpace(tool.Readable(string(t.text)))
	return cause.OneLine(text[strings.LastIndexByte(text, '\n')+1:])
}

func commandLine(command []string) string {
	words := make([]string, 0, len(command))
	for _, word := range command {
		words = append(words, cause.Quoted(word))
	}
	return strings.Join(words, " ")
}
