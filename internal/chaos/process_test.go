package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// process is one part of the run. When it is killed, it is started again at once. It is used by one goroutine.
type process struct {
	t     *testing.T
	role  string
	name  string
	env   []string
	said  *words
	kills int

	cmd  *exec.Cmd
	hand io.WriteCloser
}

// words is what the processes have written to their standard error.
type words struct {
	mu  sync.Mutex
	all strings.Builder
}

func (w *words) Write(p []byte) (int, error) {
	const most = 1 << 20
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all.Len() < most {
		w.all.Write(p)
	}
	return len(p), nil
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.String()
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.CommandContext(context.Background(), os.Args[0])
	p.cmd.Env = append(append(os.Environ(), p.env...), roleVariable+"="+p.role, nameVariable+"="+p.name)
	p.cmd.Stderr = p.said
	var err error
	p.hand, err = p.cmd.StdinPipe()
	must(p.t, err)
	must(p.t, p.cmd.Start())
}

// kill ends it as a power cut would, and starts it again.
func (p *process) kill() {
	p.t.Helper()
	must(p.t, p.cmd.Process.Kill())
	err := p.cmd.Wait()
	var ended *exec.ExitError
	if state, is := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !errors.As(err, &ended) || !is || state.Signal() != syscall.SIGKILL {
		p.t.Fatalf("%s ended by itself: %v\n%s", p.name, err, p.said)
	}
	p.kills++
	p.start()
}

// end lets it go in peace.
func (p *process) end() error {
	if err := p.hand.Close(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return p.cmd.Wait()
}
