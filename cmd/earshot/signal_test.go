package main_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestTerminalSignals: a signal is a stop, and the exit code tells which it was. The
// session has its last event before the program ends.
func TestTerminalSignals(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		send func(*process)
		code int
	}{
		{"control C", func(p *process) { _, err := io.WriteString(p.input, "\x03"); must(p.t, err) }, 130},
		{"interrupt", func(p *process) { p.signal(os.Interrupt) }, 130},
		{"terminate", func(p *process) { p.signal(syscall.SIGTERM) }, 143},
		{"hang up", func(p *process) { p.signal(syscall.SIGHUP) }, 129},
		{"twice", func(p *process) { p.signal(syscall.SIGTERM); _ = p.cmd.Process.Signal(syscall.SIGTERM) }, 143},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p := s.sit(80)
			p.await(asked)
			row.send(p)
			p.ends(row.code)
			s.untouched("after a signal")
			p.readable(80)
			if row.name == "twice" {
				return // the second may be faster than the last event; the next run makes up for it
			}
			if l := s.proved(); l.one(`SELECT type FROM events ORDER BY seq DESC LIMIT 1`) != "aaep:agent.session.cancelled" {
				t.Error("the session did not end as cancelled")
			}
		})
	}
}

// TestTerminalHangup: when the terminal goes away the turn is stopped, whatever can no
// longer be written to it, and the session has its last event: in the ledger, and in a
// file of events where there is one.
func TestTerminalHangup(t *testing.T) {
	t.Parallel()
	slow := slowToStart(t)
	for _, row := range []struct {
		name  string
		talk  func(*process)
		codes []int
	}{
		{"at the question", func(*process) {}, []int{129}},
		{"after a yes", func(p *process) { p.say("accept"); p.await("Type undo") }, []int{129}},
		{"with a signal to end", func(p *process) { p.signal(syscall.SIGTERM) }, []int{129, 143}}, // whichever comes first
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			told := filepath.Join(filepath.Dir(s.data), "events.jsonl")
			p := sit(t, 80, options{data: s.data, args: []string{"tidy", s.folder, "--json", "--policy", slow}, into: told})
			p.await(asked)
			row.talk(p)
			p.hangUp()
			if code := p.wait(); !slices.Contains(row.codes, code) {
				t.Errorf("the exit code is %d, want one of %d:\n%s", code, row.codes, p.prompt)
			}
			s.untouched("after a hangup")
			l := s.proved()
			if l.one(`SELECT type FROM events ORDER BY seq DESC LIMIT 1`) != "aaep:agent.session.cancelled" {
				t.Error("the session did not end as cancelled")
			}
			raw, err := os.ReadFile(told)
			must(t, err)
			if got := jsonLines(string(raw)); !slices.Equal(got, l.bodies(l.sessions()[0])) {
				t.Errorf("the file is not what the ledger has:\n%s", raw)
			}
		})
	}
}

// TestTerminalHangupIgnored: who runs it with nohup wants it to outlive the terminal.
// What was accepted goes on, and what can no longer be said to anybody hinders nothing.
func TestTerminalHangupIgnored(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	p := sit(t, 80, options{data: s.data, args: []string{"tidy", s.folder}, nohup: true})
	p.await(asked)
	p.say("accept")
	p.await("Type undo")
	p.hangUp()
	p.ends(0)
	if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
		t.Errorf("gone are %v", gone)
	}
	s.proved()
}
