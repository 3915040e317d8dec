package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// asksMany opens a question for each of the folders a, b and c, in this order, each with two equal files.
func asksMany(t *testing.T) (s *scene, runs map[string]*process) {
	t.Helper()
	counts(t)
	s = sceneOf(t, map[string]string{"a/1": "a", "a/2": "a", "b/1": "b", "b/2": "b", "c/1": "c", "c/2": "c"})
	s.up()
	runs = map[string]*process{}
	for _, name := range []string{"a", "b", "c"} {
		args := s.answering([]string{"--json"})
		runs[name] = start(t, options{data: s.data, args: append([]string{"tidy", filepath.Join(s.folder, name)}, args...)})
		runs[name].await(asked)
	}
	return s, runs
}

// filesIn is how many files a folder of asksMany has.
func (s *scene) filesIn(name string) int {
	s.t.Helper()
	all, err := os.ReadDir(filepath.Join(s.folder, name))
	must(s.t, err)
	return len(all)
}

// TestReplyMany: several questions are answered in one act, each by itself; what is not open, or was answered before,
// is told and holds up no other. Each can be taken back by itself.
func TestReplyMany(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, runs := asksMany(t)
	s.does(0, "set", "undo-time", "2m") // a machine may take longer than usual between the accepts and what takes them back
	contains(t, s.does(2, "reply", "1-3", "perhaps"), "several questions together take accept or reject")
	contains(t, s.does(2, "reply", "1-3", "accept"), "the questions have not been shown here", "hint: see `earshot pending`, then name each: `earshot reply 1,2,3 accept`")
	contains(t, s.does(3, "reply", "7-9", "reject"), "none of these questions is open")
	contains(t, s.does(3, "reply", "1,3,9", "accept"), "Recorded: question 1 is accepted. Starts in 2 minutes. `earshot undo 1` takes it back.",
		"Recorded: question 3 is accepted. Starts in 2 minutes. `earshot undo 3` takes it back.", "Question 9: not recorded: question 9 is not open.", "2 of 3 questions are answered as asked.")
	if open := s.pending(); len(open) != 1 || open[0].Number != 2 {
		t.Errorf("open are %+v", open)
	}
	contains(t, s.does(0, "undo", "3"), "question 3")
	runs["c"].ends(3)
	contains(t, s.does(0, "reply", "1-3", "reject", "--json"), `"question": 2, "resolution": "rejected"`)
	runs["b"].ends(3)
	contains(t, s.does(0, "undo", "1"), "question 1")
	runs["a"].ends(3)
	if s.filesIn("a") != 2 || s.filesIn("b") != 2 || s.filesIn("c") != 2 {
		t.Errorf("there are %d, %d and %d files", s.filesIn("a"), s.filesIn("b"), s.filesIn("c"))
	}
}

// TestReplySpanShown: a span is accepted on a terminal once each of its questions was shown, by one word.
func TestReplySpanShown(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, runs := asksMany(t)
	for _, row := range []struct {
		typed string
		code  int
	}{{"yes\n", 3}, {"accept\n", 0}} {
		p := s.answers(200, "", "1-3", "accept")
		for _, part := range []string{"Question 1, tidy", "Question 2, tidy", "Question 3, tidy", "to accept all 3: questions 1, 2, 3."} {
			p.await(part)
		}
		_, err := p.input.Write([]byte(row.typed))
		must(t, err)
		p.ends(row.code)
		if row.code != 0 {
			contains(t, p.prompt.String(), "nothing is recorded: the questions stay open")
			if open := s.pending(); len(open) != 3 {
				t.Errorf("open are %+v", open)
			}
		}
	}
	for name, run := range runs {
		run.ends(0)
		if s.filesIn(name) != 1 {
			t.Errorf("%s has %d files", name, s.filesIn(name))
		}
	}
	l := readLedger(t, s.data)
	l.consented(1)
	if n := l.one(`SELECT count(*) FROM receipts`); n != "3" {
		t.Errorf("there are %s receipts, want 3", n)
	}
}
