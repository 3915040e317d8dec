//go:build !faults

package main_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// records starts `earshot capture` of the scene's server, as somebody who may listen and not answer, and
// waits for its first line.
func (s *scene) records(token string) *process {
	s.t.Helper()
	p := plain(s.t, "capture", s.place().URL, "--token-file", token)
	p.hears(`{"type":"subscription.accepted",`)
	return p
}

// listener makes a token with which one may listen.
func (s *scene) listener() string {
	s.t.Helper()
	p := start(s.t, options{verb: "token", data: s.data, args: []string{"add", "recorder", "--role", "listener"}, nobody: true})
	p.ends(0)
	name := filepath.Join(filepath.Dir(s.data), "recorder.token")
	must(s.t, os.WriteFile(name, []byte(p.out.String()), 0o600))
	return name
}

// faultless demands that a recording is judged without any finding, as a stream too.
func faultless(t *testing.T, recording, sessions string) {
	t.Helper()
	p := piped(t, 0, recording, "--stream")
	messages := strings.Count(recording, "\n")
	if want := fmt.Sprintf("%d messages: %d valid, 0 errors, 0 warnings, %s.\n", messages, messages, sessions); remarks(p) != want {
		t.Errorf("judged as\n%s\nexpected\n%s\nThe recording:\n%s", p.out, want, recording)
	}
}

// remarks are what the judge says, but for that the end of a question is critical here, which is
// documented (ENV-36).
func remarks(p *process) string {
	return regexp.MustCompile(`(?m)^.* info: ENV-36 at /urgency: found urgency "critical", usual is normal;.*\n`).ReplaceAllString(p.out.String(), "")
}

// TestOwnRecordings: what Earshot sends passes before its own judge, without a word: `earshot capture URL |
// earshot validate --stream`, from the beginning, from the middle of a session, and cut off in it.
func TestOwnRecordings(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up()
	token := s.listener()
	whole := s.records(token)

	first := s.run("--json")
	first.await(asked)
	cut := s.records(token) // a question is open
	cut.hears("agent.awaiting.confirmation")
	cut.signal(os.Interrupt)
	cut.ends(0)
	first.say("reject")
	first.ends(3)

	second := s.run("--json")
	second.await(asked)
	late := s.records(token)
	late.hears("agent.awaiting.confirmation")
	second.say("more time")
	late.hears("asked again with more time")
	second.say("accept")
	second.ends(0)

	lines := strings.SplitAfter(second.out.String(), "\n")
	for _, p := range []*process{whole, late} {
		p.hears(lines[len(lines)-2]) // the end of the second session
		p.signal(os.Interrupt)
		p.ends(0)
	}
	if text := whole.out.String(); strings.Count(text, "agent.session.completed") != 2 || strings.Count(text, "agent.awaiting.confirmation") < 3 {
		t.Errorf("recorded\n%s", text)
	}
	faultless(t, whole.out.String(), "2 sessions")
	faultless(t, late.out.String(), "1 session")
	faultless(t, cut.out.String(), "1 session")
	written := first.out.String() + second.out.String() // by `earshot run --json`
	faultless(t, written, "2 sessions")

	_, at := plays(t, "--http", "127.0.0.1:0", "--speed", "max", file(t, written))
	for _, address := range []string{"http://" + at, "ws://" + at + "/ws", "ws://" + at + "/aaep/v1/ws"} {
		again := plain(t, "capture", address)
		again.ends(0)
		faultless(t, again.out.String(), "2 sessions")
	}
}

// TestRecordingPiped: the two commands of the manual, one into the other.
func TestRecordingPiped(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up()
	read, write, err := os.Pipe()
	must(t, err)
	judge := &process{t: t, cmd: command(t, options{}), out: newHeard(), prompt: newHeard(), ended: make(chan struct{})}
	judge.cmd.Args = []string{program(t), "validate", "--stream"}
	judge.cmd.Stdin, judge.cmd.Stdout, judge.cmd.Stderr = read, judge.out, judge.prompt
	must(t, judge.cmd.Start())
	judge.own()
	must(t, read.Close())

	recorder := &process{t: t, cmd: command(t, options{}), out: newHeard(), prompt: newHeard(), ended: make(chan struct{})}
	recorder.cmd.Args = []string{program(t), "capture", s.place().URL, "--token-file", s.listener()}
	recorder.cmd.Stdout, recorder.cmd.Stderr = io.MultiWriter(recorder.out, write), recorder.prompt
	must(t, recorder.cmd.Start())
	recorder.own()
	recorder.hears("subscription.accepted")

	run := s.run("--json")
	run.await(asked)
	run.say("accept")
	run.ends(0)
	recorder.hears("agent.session.completed")
	recorder.signal(os.Interrupt)
	recorder.ends(0)
	must(t, write.Close())
	judge.ends(0)
	if text := remarks(judge); !strings.Contains(text, " valid, 0 errors, 0 warnings, 1 session.\n") || strings.Count(text, "\n") != 1 {
		t.Errorf("judged as\n%s", text)
	}
}
