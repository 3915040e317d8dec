package main_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
)

var terminalCode = regexp.MustCompile(`Code for the terminal pts/[0-9]+, once, within 5 minutes: ([0-9]{4}-[0-9]{4})\.`)

// line types a line.
func (p *process) line(text string) {
	p.t.Helper()
	_, err := p.input.Write([]byte(text + "\n"))
	must(p.t, err)
}

// shownCode is the last code for a terminal that the server has shown in its own.
func (p *process) shownCode() string {
	p.t.Helper()
	all := terminalCode.FindAllStringSubmatch(squeeze(p.out.String()), -1)
	if len(all) == 0 {
		p.t.Fatalf("no code is in:\n%s", p.out)
	}
	return all[len(all)-1][1]
}

// upAtTerminal starts a server at a terminal, and a run that asks a question there.
func upAtTerminal(t *testing.T) (s *scene, up, run *process) {
	t.Helper()
	s = newScene(t)
	up = sit(t, 200, options{verb: "up", data: s.data, args: []string{"--root", s.folder, "--http", "127.0.0.1:0"}})
	up.hears("Control C ends it")
	run = s.run("--json")
	run.await(asked)
	return s, up, run
}

// TestLogin: a terminal accepts once a person has typed there the code that is shown where the server runs. Other
// terminals, and programs without one, do not. The receipt names the terminal and the login.
func TestLogin(t *testing.T) {
	t.Parallel()
	needsProcesses(t)
	s, up, run := upAtTerminal(t)
	here := sit(t, 200, options{data: s.data, shell: `e reply 1 accept; echo "first $?"; e login; echo "login $?"; read go; e reply 1 accept; echo "second $?"; read go; e logout; e logout; echo "third $?"`})
	here.hears("Type the code, then press Enter.")
	contains(t, here.out.String(), "error: nothing is accepted or answered from here: this terminal is not logged in", "hint: `earshot login`, in a terminal of your own, and then `earshot reply 1 accept`", "first 1")
	s.untouched("without a login")
	here.line("0000-0000")
	here.hears("That code is not the right one.")
	up.hears("somebody else has.")
	here.line(up.shownCode())
	here.hears("login 0")
	contains(t, here.out.String(), "Logged in: the terminal pts/")
	up.hears("Logged in: the terminal pts/")

	there := sit(t, 200, options{data: s.data, shell: `e reply 1 accept; echo "there $?"`})
	there.hears("there 1")
	contains(t, there.out.String(), "this terminal is not logged in")
	loose := start(t, options{verb: "reply", data: s.data, args: []string{"1", "accept"}, nobody: true})
	loose.ends(1)
	contains(t, loose.prompt.String(), "nothing is accepted or answered from here: ")
	contains(t, s.does(0, "logins"), "in terminal:pts/")

	here.line("")
	here.hears("second 0")
	contains(t, here.out.String(), "Recorded: question 1 is accepted.")
	run.ends(0)
	here.line("")
	here.hears("third 1")
	contains(t, here.out.String(), "Logged out: the terminal pts/", "is not logged in")
	contains(t, s.does(0, "audit", "list"), "terminal:pts/")
	contains(t, s.does(0, "logins"), "No browser is logged in")
}

// TestLoginCutLoose: in a terminal that is logged in, nothing accepts that has left its session, or that was started by
// another program than a shell, or below an agent's host.
func TestLoginCutLoose(t *testing.T) {
	t.Parallel()
	needsProcesses(t)
	testkit.Slow(t)
	s, up, run := upAtTerminal(t)
	here := sit(t, 200, options{data: s.data, shell: `set -m; e login; echo "login $?"; ` +
		`setsid -w "$0" reply 1 accept; echo "loose $?"; ` +
		`find / -maxdepth 0 -exec "$0" reply 1 accept \;; ` + // any program that is no shell, such as an agent that nobody knows
		// The host: it has its hook ask, and once that has asked, it answers.
		`sh -c '(echo "{\"session_id\":\"1\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}" | "$0" hook claude --no-start) & ` +
		`until "$0" pending 2 >/dev/null 2>&1; do :; done; ` +
		`"$0" reply 1 accept; echo "host $?"; "$0" code; echo "code $?"; "$0" login; echo "again $?"; "$0" reply 1 reject; echo "no $?"; "$0" reply 2 reject; wait' "$0"; ` +
		`echo "the end $?"`})
	here.hears("Type the code, then press Enter.")
	up.hears("somebody else has.")
	here.line(up.shownCode())
	here.hears("the end 0")
	contains(t, here.out.String(), "login 0", "the command does not run in a terminal", "loose 1",
		"the command was started by find (process ", "and not by the shell of its terminal",
		"nothing is accepted or answered from here: it was started below sh (process ", "host 1",
		"no code is given out here: it was started below sh", "code 1", "no terminal can be logged in from here", "question 1 is rejected", "no 0")
	run.ends(3)
	s.untouched("by a program in the person's place")
}

// TestCommandTokenAcceptsNothing: the file that commands use lets a program reject, and not accept, on each path; and
// while the server has a terminal, no program gets a code.
func TestCommandTokenAcceptsNothing(t *testing.T) {
	t.Parallel()
	s, up, run := upAtTerminal(t)
	program := s.dialsWith(filepath.Join(s.data, "person.token"))
	me, err := program.Identity(t.Context())
	if err != nil || me.Accepts {
		t.Errorf("it is %+v, %v", me, err)
	}
	q := s.pending()[0]
	if _, err := program.Reply(t.Context(), q.Number, api.Reply{Token: q.Token, Decision: "accept"}); !errors.Is(err, client.ErrLogin) {
		t.Errorf("an accept is answered with %v", err)
	}
	if _, err := program.LoginTerminal(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "no terminal can be logged in from here") {
		t.Errorf("a login is answered with %v", err)
	}
	code, err := program.LoginCode(t.Context())
	if err != nil || code.Code != "" {
		t.Errorf("a program gets the code %q, %v", code.Code, err)
	}
	up.hears("has asked for it.")
	s.untouched("by a program")
	if _, err := program.Reply(t.Context(), q.Number, api.Reply{Token: q.Token, Decision: "reject"}); err != nil {
		t.Error(err)
	}
	run.ends(3)
}

// needsProcesses: only Linux tells the server which process it talks to.
func needsProcesses(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("no terminal is logged in here")
	}
}

// TestOwnUser: where Earshot has a user of its own, the user of an agent can read none of its tokens, and answers
// nothing. Only root can make that case.
func TestOwnUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		lacks(t, "not root, and only root can run a server as another user")
	}
	s := sceneOf(t, map[string]string{"a": "same", "b": "same"})
	s.reachable()
	earshot := stranger(t, s.data, s.folder, filepath.Join(s.folder, "a"), filepath.Join(s.folder, "b"))
	must(t, os.Chmod(s.data, 0o755)) // the least careful way to set it up
	agent := &syscall.Credential{Uid: nobody - 1, Gid: nobody - 1}
	s.upWith(options{as: earshot})
	run := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--json"}, as: earshot})
	run.await(asked)
	s.untouched("before any answer")

	for _, name := range []string{"server.json", "person.token", "tokens.json", "key", "ledger.db", "page"} {
		read := exec.Command("cat", filepath.Join(s.data, name))
		read.SysProcAttr = &syscall.SysProcAttr{Credential: agent}
		if text, err := read.Output(); err == nil || len(text) > 0 {
			t.Errorf("another user reads %s", name)
		}
	}
	for _, args := range [][]string{
		{"reply", "1", "accept"}, {"reply", "1", "reject"}, {"pending"}, {"code"}, {"login"}, {"token", "add", "mine", "--role", "approver"}, {"stop", "all"},
	} {
		p := start(t, options{verb: args[0], data: s.data, args: args[1:], as: agent, nobody: true})
		if code := p.wait(); code < 1 || p.out.String() != "" {
			t.Errorf("as another user, earshot %v ends with %d: %s", args, code, p.out)
		}
	}
	place := s.place()
	for _, target := range []string{"/api/v1/questions", "/api/v1/me", "/aaep/v1/sessions"} {
		answer, err := http.Get(place.URL + target)
		must(t, err)
		must(t, answer.Body.Close())
		if answer.StatusCode < http.StatusBadRequest {
			t.Errorf("without a token, %s answers %d", target, answer.StatusCode)
		}
	}
	s.untouched("by another user")
	reject := start(t, options{verb: "reply", data: s.data, args: []string{"1", "reject"}, as: earshot, nobody: true})
	reject.ends(0)
	run.ends(3)
}

// TestLoginWrongCodes: where no code is shown, the hint after the last wrong one says how to get one.
func TestLoginWrongCodes(t *testing.T) {
	t.Parallel()
	needsProcesses(t)
	s := newScene(t)
	s.up()
	here := sit(t, 200, options{data: s.data, shell: `e login; echo "login $?"`})
	here.hears("so no code is shown. `earshot code` makes one.")
	for range 3 {
		here.line("0000-0000")
	}
	here.hears("login 1")
	contains(t, here.out.String(), "error: that code is not valid, or no longer", "hint: `earshot code` makes another one; then type `earshot login` again")
}
