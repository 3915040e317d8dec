package program

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
)

// Piped is a running program that is spoken to by its standard streams, with whatever it starts in its group. Its
// starter owns it, and has to end it.
type Piped struct {
	Stdin  *os.File // to it
	Stdout *os.File // from it

	cmd    *exec.Cmd
	stderr *tail
	ended  chan struct{} // closed when it has ended, and its group
	once   sync.Once
}

// StartPiped starts a program, of whose command the streams and the attributes are not set.
func StartPiped(cmd *exec.Cmd) (*Piped, error) {
	var pipes [3][2]*os.File // each to read from and to write to
	for i := range pipes {
		var err error
		if pipes[i][0], pipes[i][1], err = os.Pipe(); err != nil {
			closeAll(pipes)
			return nil, err //nolint:wrapcheck // the caller says what did not start
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = pipes[0][0], pipes[1][1], pipes[2][1], Attributes()
	p := &Piped{Stdin: pipes[0][1], Stdout: pipes[1][0], cmd: cmd, stderr: newTail(pipes[2][0]), ended: make(chan struct{})}
	started := make(chan error)
	go p.live(started)
	err := <-started
	for _, theirs := range []*os.File{pipes[0][0], pipes[1][1], pipes[2][1]} {
		_ = theirs.Close()
	}
	if err != nil {
		closeAll(pipes)
		return nil, err
	}
	go p.stderr.follow()
	return p, nil
}

func closeAll(pipes [3][2]*os.File) {
	for _, pipe := range pipes {
		for _, file := range pipe {
			_ = file.Close() // a nil file only says so
		}
	}
}

// live starts the program and waits for its end. The system ends it with the thread that has started it, so that is kept.
func (p *Piped) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	Wait(p.cmd, func() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }) // what it has left in its group
	close(p.ended)
}

// ID is the number of the process.
func (p *Piped) ID() int { return p.cmd.Process.Pid }

// Grace is how long a program may take to end, at each of the two steps of [Piped.End].
const Grace = time.Second

// End closes the program's input, which tells it to end; then it ends it by signals to its group. It returns once nothing
// of it is left, and may be called again.
func (p *Piped) End() {
	p.once.Do(func() {
		_ = p.Stdin.Close()
		timer := time.NewTimer(Grace)
		defer timer.Stop()
		for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			select {
			case <-p.ended:
			case <-timer.C:
				p.signal(signal)
				timer.Reset(Grace)
			}
		}
		<-p.ended
		_ = p.Stdout.Close()
		p.stderr.close()
	})
}

// signal is for the group, whose number is the program's own until it was waited for.
func (p *Piped) signal(signal syscall.Signal) {
	select {
	case <-p.ended:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, signal)
	}
}

// Ending returns how the program ended, such as "exit status 1", and the last line that it has written to standard error,
// as it was written; where npm says what went wrong, the first line of that. It waits for the end for at most the given time; ended is false if it still runs then. Of one that has
// ended it waits for the rest of what it has written, for at most [Grace]: a process that left its group may still write.
func (p *Piped) Ending(wait time.Duration) (how, last string, ended bool) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		select {
		case <-p.ended: // both had come
		default:
			return "", "", false
		}
	}
	p.stderr.wait()
	return p.cmd.ProcessState.String(), p.stderr.last(), true
}

// maxTail is how much of standard error is kept.
const maxTail = 4 << 10

// tail is the end of what a program writes to standard error.
type tail struct {
	from *os.File
	read chan struct{} // closed when there is no more to read

	mu   sync.Mutex
	text []byte
}

func newTail(from *os.File) *tail { return &tail{from: from, read: make(chan struct{})} }

// follow reads until the end, or until the file is closed.
func (t *tail) follow() {
	defer close(t.read)
	_, _ = io.Copy(t, t.from)
}

// wait waits for the end for at most the grace.
func (t *tail) wait() {
	timer := time.NewTimer(Grace)
	defer timer.Stop()
	select {
	case <-t.read:
	case <-timer.C:
	}
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
	t.wait()
	_ = t.from.Close()
	<-t.read
}

// npmFields are what npm says of a failure before it says in words what it is.
var npmFields = []string{"code", "errno", "syscall", "path", "signal", "command"}

// npmError returns what npm says in words of a failure; "" if this is not a line with such words. Its last line names only a file.
func npmError(line string) string {
	said, is := strings.CutPrefix(line, "npm error ")
	if !is {
		said, is = strings.CutPrefix(line, "npm ERR! ")
	}
	words := strings.Fields(said)
	if !is || len(words) < 2 || slices.Contains(npmFields, words[0]) {
		return ""
	}
	return line
}

// last is the last line; of what npm has written, the first that says what went wrong.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	for line := range strings.Lines(text) {
		if found := npmError(strings.TrimSpace(line)); found != "" {
			return found
		}
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}
