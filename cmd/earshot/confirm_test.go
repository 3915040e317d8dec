package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// asks opens a question at a server, and says how to end its run.
func asks(t *testing.T) (s *scene, run *process) {
	t.Helper()
	s = newScene(t)
	s.up()
	run = s.run("--json")
	run.await(asked)
	return s, run
}

// answers starts `earshot reply` on a terminal of its own.
func (s *scene) answers(wide uint16, into string, args ...string) *process {
	s.t.Helper()
	return sit(s.t, wide, options{verb: "reply", data: s.data, args: append([]string{"--token-file", s.approver()}, args...), into: into})
}

// TestReplyUnseen: nobody accepts a question without its number that they have not seen. Without
// a terminal that is refused; a number, or a no, needs nothing more.
func TestReplyUnseen(t *testing.T) {
	t.Parallel()
	s, run := asks(t)
	contains(t, s.does(2, "reply", "accept"), "error: question 1 has not been shown here, and what was not seen is not accepted "+
		"hint: see `earshot pending 1`, then say which: `earshot reply 1 accept`")
	contains(t, s.does(2, "reply", "--json", "ACCEPT"), "has not been shown here")
	if open := s.pending(); len(open) != 1 {
		t.Errorf("open are %+v", open)
	}
	s.untouched("after an accept of what was not seen")
	contains(t, s.does(0, "pending"), "This cannot be undone.")
	contains(t, s.does(0, "reply", "reject"), "question 1 is rejected")
	run.ends(3)
	s.untouched("after a no")
}

// TestReplyUnseenToken: a token names a question as a number does.
func TestReplyUnseenToken(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, run := asks(t)
	contains(t, s.does(0, "reply", s.pending()[0].Token, "accept"), "question 1 is accepted")
	run.ends(0)
}

// TestReplyShown: on a terminal the question is shown in full, and the word asked for; only
// that word accepts, and nothing that was typed before.
func TestReplyShown(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, row := range []struct {
		name, typed string
		code        int
	}{
		{"accept", "accept\n", 0},
		{"accept in other letters", "  Accept \r\n", 0},
		{"enter", "\n", 3},
		{"another word", "yes\n", 3},
		{"more than the word", "accept 2\n", 3},
		{"end of input", "\x04", 3},
		{"a word without its end", "accept\x04\x04", 3},
	} {
		for _, wide := range columns() {
			t.Run(fmt.Sprintf("%s, %d", row.name, wide), func(t *testing.T) {
				t.Parallel()
				s, run := asks(t)
				p := sit(t, wide, options{verb: "reply", data: s.data, args: []string{"--token-file", s.approver(), "accept"}, ahead: "accept\n"})
				for _, part := range []string{
					"Question 1, tidy, 001/photos: Delete 15 duplicate files under", "What happens: The files are gone for good.", "How many: 15 items, 35,108 bytes",
					"This cannot be undone.", "Answer by", "Type accept, then press Enter.", "Anything else leaves question 1 open.",
				} {
					p.await(part)
				}
				_, err := p.input.Write([]byte(row.typed))
				must(t, err)
				p.ends(row.code)
				p.readable(int(wide))
				if row.code == 0 {
					contains(t, p.prompt.String(), "Recorded: question 1 is accepted.")
					run.ends(0)
					if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
						t.Errorf("gone are %v", gone)
					}
					return
				}
				contains(t, p.prompt.String(), "error: nothing is recorded: question 1 stays open")
				if open := s.pending(); len(open) != 1 {
					t.Errorf("open are %+v", open)
				}
				s.untouched("without the word")
			})
		}
	}
}

// TestReplyShownAsJSON: standard output holds the answer and nothing else.
func TestReplyShownAsJSON(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s, run := asks(t)
	file := filepath.Join(filepath.Dir(s.data), "answer.json")
	p := s.answers(80, file, "accept", "--json")
	p.await("Anything else leaves question 1 open.")
	p.say("accept")
	p.ends(0)
	raw, err := os.ReadFile(file)
	must(t, err)
	if text := squeeze(string(raw)); !strings.HasPrefix(text, `{ "question": 1, "resolution": "accepted"`) {
		t.Errorf("standard output holds %s", raw)
	}
	run.ends(0)
}

// TestReplyShownTooLate: what is accepted is what was shown. A question that has got more time
// since, or that somebody else has answered, takes no late word.
func TestReplyShownTooLate(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for name, meanwhile := range map[string][]string{"answered": {"reply", "1", "reject"}, "more time": {"extend"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := asks(t)
			p := s.answers(80, "", "accept")
			p.await("Anything else leaves question 1 open.")
			s.does(0, meanwhile[0], meanwhile[1:]...)
			p.say("accept")
			p.ends(3)
			contains(t, p.prompt.String(), "error: question 1")
			s.untouched("after a late word")
		})
	}
}
