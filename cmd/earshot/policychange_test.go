package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

const (
	// patientRules leave a yes so much time to be taken back that no machine is too slow.
	patientRules = "rules: [{tool: files.delete, decide: ask, start_within: 10m, undo: 2m}]\n"
	deniedRules  = "rules: [{tool: files.delete, decide: deny}]\n"
)

// forbids demands that nothing was done and that the yes is told not to count.
func (s *scene) forbids(run *process) {
	s.t.Helper()
	run.await("Your yes to question 1 does not count.")
	run.ends(1)
	contains(s.t, run.out.String(), "The policy has changed and does not allow the tool files.delete any more.")
	s.untouched("after a yes that the rules forbid")
	l := readLedger(s.t, s.data)
	l.ended()
	if got := l.rows(`SELECT consumed_at IS NOT NULL FROM consents`); len(got) != 1 || got[0][0] != "0" {
		s.t.Errorf("the consents are %v; want one that is unused", got)
	}
	if got := l.rows(`SELECT count(*) FROM grants WHERE call_id IN (SELECT call_id FROM consents)`); got[0][0] != "0" {
		s.t.Errorf("%v starts were granted", got)
	}
}

// TestDenyRightAfterTheYes: `deny` that is written 0 s after the yes stops the call. A comment
// before it did not.
func TestDenyRightAfterTheYes(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	run := s.run("--json", "--policy", s.policy(patientRules))
	run.await(asked)
	s.policy(patientRules + "# a comment makes no yes stale\n")
	run.say("accept 1")
	run.await("Recorded: question 1 is accepted.")
	s.policy(deniedRules)
	s.forbids(run)
}

// TestDenyWhileTheYesWaits: nor does it wait for the end of that time to say so.
func TestDenyWhileTheYesWaits(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up("--policy", s.policy(patientRules))
	run := s.run("--json")
	run.await(asked)
	run.say("accept 1")
	run.await("Recorded: question 1 is accepted.")
	s.policy(deniedRules)
	s.forbids(run)
}

// TestOtherRulesAfterTheYes: a comment, a rule about something else and a looser one leave the
// yes as it is.
func TestOtherRulesAfterTheYes(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	run := s.run("--json", "--policy", s.policy("rules: [{tool: files.delete, decide: ask, start_within: 50s}]\n"))
	run.await(asked)
	run.say("accept 1")
	run.await("Recorded: question 1 is accepted.")
	s.policy("# A comment.\nrules:\n  - {tool: mail.send, decide: deny}\n  - {tool: \"files.d*\", decide: ask, start_within: 60s}\n")
	run.ends(0)
	l := readLedger(t, s.data)
	l.ended()
	l.consented(1)
	if gone := len(s.gone()); gone != len(s.duplicates()) {
		t.Errorf("%d files are gone; want %d", gone, len(s.duplicates()))
	}
}

// TestDenyWhileAsked: a question about what the rules forbid now is withdrawn by itself.
func TestDenyWhileAsked(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up("--policy", s.policy(patientRules))
	run := s.run("--json")
	run.await(asked)
	s.policy(deniedRules)
	run.await("Question 1 is withdrawn.")
	run.ends(1)
	s.untouched("after a question that was withdrawn")
	if open := s.pending(); len(open) > 0 {
		t.Errorf("still asked: %+v", open)
	}
}

// TestSpoiltPolicy: a file that cannot be used leaves the rules from before in force, says so
// to the operator, to doctor and to who listens, and counts again once it is mended.
func TestSpoiltPolicy(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for name, spoil := range map[string]func(s *scene, file string){
		"broken":     func(s *scene, _ string) { s.policy("rules: [{tool: files.delete, decide: de") },
		"empty":      func(s *scene, _ string) { s.policy("") },
		"missing":    func(s *scene, file string) { must(s.t, os.Remove(file)) },
		"allows all": func(s *scene, _ string) { s.policy("rules: [{tool: \"*\", decide: allow}]\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			file := s.policy("rules: [{tool: files.delete, decide: ask, start_within: 10m}, {tool: files.trash, decide: deny}]\n")
			up := s.up("--policy", file)
			run := s.run("--json")
			run.await(asked)
			spoil(s, file)
			run.await("The earlier policy stays in force.")
			up.await("The rules that were read before stay in force. Mend the file; it is read again by itself.")
			if name != "allows all" { // which tools there are is known to the server alone
				contains(t, s.does(1, "doctor"), "problem: policy of the server:", "The server goes on with the rules that it read before.")
			}
			trash := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--trash"}, nobody: true})
			trash.ends(1)
			contains(t, trash.out.String(), "The policy of this installation forbids it.")
			whole := filepath.Join(filepath.Dir(file), "whole.yaml")
			must(t, os.WriteFile(whole, []byte(deniedRules), 0o600))
			must(t, os.Rename(whole, file))
			run.await("Question 1 is withdrawn.")
			run.ends(1)
			up.await("can be read again and is in force.")
			contains(t, s.does(0, "doctor"), "ok: policy of the server: The rules in "+file+" can be read.")
			s.untouched("at the end")
		})
	}
}

// TestSpoiltPolicyOfARun: anyone who sits at a run without a server hears of it there.
func TestSpoiltPolicyOfARun(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	run := s.run("--json", "--policy", s.policy(patientRules))
	run.await(asked)
	s.policy("")
	run.await("The earlier policy stays in force.")
	s.policy(patientRules)
	run.await("1 line held") // while a question is open
	run.say("reject 1")
	run.await("can be read again and is in force.")
	run.ends(3)
	s.untouched("after a no")
}
