package main_test

import (
	"os"
	"strings"
	"testing"
	"time"

	earshot "github.com/earshot-dev/earshot/cmd/earshot"
	"github.com/earshot-dev/earshot/internal/cli"
)

// hereRun is a run of the program within the process of the tests, as main does it. Most tests start the program so, for a
// process spends a tenth of a second of processor time on its start, and a server half a second on what only the first
// one in a process has to prepare.
//
// It shares with the tests what belongs to the process: the working folder (so paths are given from the root), the
// process's id, its user and its limits. It cannot be killed, and it has no terminal.
type hereRun struct {
	signals chan os.Signal
	ended   chan struct{}
	code    int // once it has ended
}

// startHere starts a run in this process. It is ended with the test.
func startHere(t *testing.T, o options) *process {
	t.Helper()
	run := &hereRun{signals: make(chan os.Signal, 4), ended: make(chan struct{})}
	p := &process{t: t, home: t.TempDir(), here: run, out: newHeard(), prompt: newHeard(), ended: run.ended}
	m := earshot.Main{Args: o.words(), Program: o.program(p.home)}
	m.Stdout, m.Stderr, m.Signals = p.out, p.prompt, run.signals
	m.Stdin = p.keyboard(o.nobody)
	var into *os.File
	if o.into != "" {
		var err error
		into, err = os.OpenFile(o.into, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		must(t, err)
		m.Stdout = into
	}
	go func() {
		defer close(run.ended)
		run.code = m.Run(t.Context())
		_ = m.Stdin.Close() // nobody reads what is typed from now on
		if into != nil {
			_ = into.Close()
		}
	}()
	t.Cleanup(func() { <-run.ended })
	return p
}

// keyboard makes the standard input of a run: a pipe from the test, or nothing.
func (p *process) keyboard(nobody bool) *os.File {
	p.t.Helper()
	if nobody {
		nothing, err := os.Open(os.DevNull)
		must(p.t, err)
		return nothing
	}
	read, write, err := os.Pipe()
	must(p.t, err)
	p.input = write
	p.t.Cleanup(func() { _ = write.Close() }) // the test may have closed it
	return read
}

// program is the environment of a run in this process.
func (o options) program(home string) cli.Program {
	all := o.environment(home)
	known := map[string]string{}
	for _, entry := range all {
		name, value, _ := strings.Cut(entry, "=")
		known[name] = value // the last one counts, as in a process
	}
	return cli.Program{
		Getenv:    func(name string) string { return known[name] },
		LookupEnv: func(name string) (string, bool) { value, set := known[name]; return value, set },
		Environ:   func() []string { return all },
		Now:       time.Now,
		EndGrace:  time.Hour, // as with fault points: a slow machine is no failure
	}
}

// signal sends a signal to the run.
func (r *hereRun) signal(t *testing.T, s os.Signal) error {
	t.Helper()
	if s == os.Kill {
		t.Fatal("this run cannot be killed: it needs a process of its own (options.process)")
	}
	select {
	case <-r.ended:
		return os.ErrProcessDone
	default:
	}
	select {
	case r.signals <- s:
	default: // there are enough signals, and the program hears none of them yet
	}
	return nil
}
