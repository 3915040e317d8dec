package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/utp"
)

// writes asks for a line in the box, and returns how that ends.
func writes(t *testing.T, session *client.AgentSession, line string) <-chan api.AgentCall {
	t.Helper()
	done := make(chan api.AgentCall, 1)
	go func() {
		c, err := session.Call(t.Context(), api.AgentInvoke{Tool: "box.add", Args: jsontext.Value(`{"line":"` + line + `"}`)})
		if err != nil {
			t.Error(err)
		}
		done <- c
	}()
	return done
}

// standingBox is a server whose box takes lines that can be taken out again, and an agent's session with it.
func standingBox(t *testing.T) (s *scene, session *client.AgentSession, lines string) {
	t.Helper()
	counts(t)
	s = emptyScene(t)
	tools, lines := s.box()
	raw, err := os.ReadFile(tools)
	must(t, err)
	must(t, os.WriteFile(tools, []byte(strings.Replace(string(raw), "class: irreversible", "class: reversible\n      risk: medium", 1)), 0o600))
	token := s.agentToken("helper")
	s.up("--tools", tools)
	session, err = s.program(token).Open(t.Context(), api.AgentOpen{Request: "Add lines"})
	must(t, err)
	return s, session, lines
}

// TestStandingPermission: a person gives a permission at the command line; within its bounds nobody is asked, each use
// counts, and once it is revoked, which takes no login, the next call is asked about.
func TestStandingPermission(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, session, lines := standingBox(t)
	first := writes(t, session, "a one")
	s.awaitQuestion(1)
	contains(t, s.does(2, "reply", "1", "accept", "--times", "3"), "add --standing to give one")
	contains(t, s.does(2, "reply", "1", "accept", "--standing", "--where", "line=b *"), "the bound on line: the call that you accept does not meet it")
	contains(t, s.does(2, "reply", "1", "accept", "--standing", "--where", "word=*"), "the bound on word: the call that you accept has no such argument")
	contains(t, s.does(2, "reply", "1", "accept", "--standing", "--where", "line=a *"), "a standing permission has not been agreed to: for 1 hour, helper may use box.add "+
		`in this session without asking, up to 10 times, if line begins with "a ". Each use is told`, "hint: add --yes")
	if linesOf(t, lines) != "" {
		t.Error("something was done")
	}
	contains(t, s.does(0, "reply", "1", "accept", "--standing", "--times", "3", "--where", "line=a *", "--yes"), "Recorded: question 1 is accepted.",
		"Permission 1: helper may use box.add in sess_", "3 of 3 uses left", "`earshot permissions revoke 1` ends it.")
	<-first
	if c := <-writes(t, session, "a two"); c.Status != utp.StatusSuccess {
		t.Errorf("the second call ended as %+v", c)
	}
	contains(t, s.does(0, "permissions"), `Permission 1: helper may use box.add in sess_`, `if line begins with "a ". 2 of 3 uses left`, "with question 1.")
	other := writes(t, session, "b")
	s.awaitQuestion(2)
	s.does(0, "reply", "2", "reject")
	<-other
	contains(t, s.does(0, "permissions", "revoke", "1"), "Standing permission 1 is revoked. helper has to ask again for box.add.")
	contains(t, s.does(0, "permissions"), "There are no standing permissions.")
	contains(t, s.does(1, "permissions", "revoke", "9"), "there is no standing permission 9")
	third := writes(t, session, "a three")
	s.awaitQuestion(3)
	s.does(0, "reply", "3", "reject")
	<-third
	if got := linesOf(t, lines); got != "a one\na two\n" {
		t.Errorf("the lines are %q", got)
	}
	contains(t, s.does(0, "audit", "list"), "standing permission 1 by ", "used, 2 left", "ended: revoked")
	s.does(0, "audit", "verify")
}

// TestStandingAgreed: on a terminal it is said what a permission means, and only a y gives it.
func TestStandingAgreed(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, session, lines := standingBox(t)
	first := writes(t, session, "a one")
	s.awaitQuestion(1)
	for _, row := range []struct {
		typed string
		code  int
	}{{"accept\n", 3}, {"y\n", 0}} {
		p := s.answers(200, "", "1", "accept", "--standing", "--agent", "--for", "2h", "--where", "line=*")
		p.await("For 2 hours, helper may use box.add in any session without asking, up to 10 times, if line is anything. Each use is told.")
		p.await("Type y, then press Enter")
		_, err := p.input.Write([]byte(row.typed))
		must(t, err)
		p.ends(row.code)
		if row.code != 0 && len(s.pending()) != 1 {
			t.Error("the question is not open any more")
		}
	}
	<-first
	<-writes(t, session, "b two")
	if got := linesOf(t, lines); got != "a one\nb two\n" {
		t.Errorf("the lines are %q", got)
	}
	var all []api.StandingPermission
	s.reads(&all, "permissions", "--json")
	if len(all) != 1 || all[0].Left != 9 || all[0].Session != "" {
		t.Errorf("in force: %+v", all)
	}
	contains(t, s.does(0, "permissions", "revoke", "all"), "Standing permission 1 is revoked.")
}

// TestStandingTyped: in the terminal of an attached run a permission is given, listed and revoked in the same words. What it
// means is said first, and only a y gives it.
func TestStandingTyped(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := newScene(t)
	// What is accepted begins only after all that is typed, or the permission would have ended with its session.
	s.up("--policy", s.policy("rules: [{tool: files.trash, decide: ask, start_within: 10m, undo: 5m}]\n"))
	run := sit(t, 200, options{data: s.data, args: append([]string{"tidy", s.folder, "--trash"}, s.answering(nil)...), env: []string{"XDG_DATA_HOME=" + t.TempDir()}})
	types := func(words, says string) {
		t.Helper()
		_, err := run.input.Write([]byte(words + "\n"))
		must(t, err)
		run.await(says)
	}
	run.await("Type accept")
	types("accept standing where word=*", "The bound on word")
	types("accept standing --times 3 --for 2h", "up to 3 times, if everything is as in question 1. Each use is told.")
	types("accept", "Nothing is recorded: question 1 stays open.")
	s.untouched("before a y")
	types("permissions", "There are no standing permissions.")
	types("accept standing times 4 for 2h", "up to 4 times, if everything is as in question 1. Each use is told.")
	types("y", "Recorded: question 1 is accepted.")
	types("permissions", "4 of 4 uses left")
	types("permissions revoke 9", "There is no standing permission 9.")
	types("permissions revoke all", "Standing permission 1 is revoked.")
	contains(t, s.does(0, "permissions"), "There are no standing permissions.")
}
