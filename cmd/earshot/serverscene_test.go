package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
)

// up starts the server on the scene, and waits until it serves.
func (s *scene) up(args ...string) *process {
	s.t.Helper()
	return s.upWith(options{args: args})
}

// upApart is up in a process of its own: the test kills it, or sends it a real signal.
func (s *scene) upApart(args ...string) *process {
	s.t.Helper()
	return s.upWith(options{args: args, process: true})
}

func (s *scene) upWith(o options) *process {
	s.t.Helper()
	o.verb, o.data = "up", s.data
	o.args = append([]string{"--root", s.folder, "--http", "127.0.0.1:0"}, o.args...)
	p := start(s.t, o)
	p.hears("Control C ends it")
	return p
}

// hears waits until text is on standard output.
func (p *process) hears(text string) {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for over := false; ; {
		all, news := p.out.now()
		if strings.Contains(all, text) {
			return
		}
		if over {
			p.t.Fatalf("waited for %q in vain; standard output:\n%s\nstandard error:\n%s", text, p.out, p.prompt)
		}
		select {
		case <-news:
		case <-p.ended:
			over = true
		case <-timer.C:
			over = true
		}
	}
}

// does runs a command on the scene's data to its end.
func (s *scene) does(code int, verb string, args ...string) string {
	s.t.Helper()
	if verb == "reply" && args[len(args)-1] != "reject" { // the tests answer as a script does, on purpose
		args = append([]string{"--token-file", s.approver()}, args...)
	}
	if verb == "doctor" { // which tries the usual port, as another one may at this moment
		p := start(s.t, options{verb: verb, data: s.data, args: args, nobody: true, env: []string{"EARSHOT_HTTP=127.0.0.1:0"}})
		p.ends(code)
		return p.out.String() + p.prompt.String()
	}
	out, said := s.here(code, verb, args...)
	return out + said
}

// here runs a command on the scene's data to its end, and returns what is on standard output and standard error.
func (s *scene) here(code int, verb string, args ...string) (out, said string) {
	s.t.Helper()
	p := startHere(s.t, options{verb: verb, data: s.data, args: args, nobody: true})
	if got := p.wait(); got != code {
		s.t.Errorf("%s %q ended with %d, expected %d; standard output:\n%s\nstandard error:\n%s", verb, args, got, code, p.out, p.prompt)
	}
	return p.out.String(), p.prompt.String()
}

// pending lists the open questions.
func (s *scene) pending() []api.OpenQuestion {
	s.t.Helper()
	listed, _ := s.here(0, "pending", "--json")
	var open []api.OpenQuestion
	must(s.t, json.Unmarshal([]byte(listed), &open))
	return open
}

// place is where the server of the scene is.
func (s *scene) place() client.ServerInfo {
	s.t.Helper()
	place, err := client.ReadServerFile(filepath.Join(s.data, "server.json"))
	must(s.t, err)
	return place
}

// contains demands a text, whatever its lines are.
func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(squeeze(text), want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// approver makes a token that answers, once, and returns its file.
func (s *scene) approver() string {
	s.t.Helper()
	s.approving.Do(func() {
		made, _ := s.here(0, "token", "add", "tests", "--role", "approver,operator", "--surface", "terminal")
		must(s.t, os.WriteFile(s.approverFile(), []byte(made), 0o600))
	})
	return s.approverFile()
}

func (s *scene) approverFile() string { return s.data + "-approver.token" }

// dials reaches the server of the scene as a program that answers on purpose.
func (s *scene) dials() *client.Client {
	s.t.Helper()
	return s.dialsWith(s.approver())
}

func (s *scene) dialsWith(token string) *client.Client {
	s.t.Helper()
	remote, err := client.Dial(s.t.Context(), client.Options{ServerFile: filepath.Join(s.data, "server.json"), TokenFile: token})
	must(s.t, err)
	return remote
}
