package main_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

var update = flag.Bool("update", false, "write the transcripts in testdata again")

// converse holds a conversation at each width.
func converse(t *testing.T, scene func(*testing.T) *scene, talk func(t *testing.T, s *scene, p *process), args ...string) {
	t.Helper()
	for _, wide := range columns() {
		t.Run(fmt.Sprint(wide), func(t *testing.T) {
			t.Parallel()
			s := scene(t)
			p := s.sit(wide, args...)
			talk(t, s, p)
			p.readable(int(wide))
		})
	}
}

// transcript is what was on the screen, in steady words.
func (s *scene) transcript(p *process) string {
	text := strings.NewReplacer("\r\n", "\n", "\u2068", "", "\u2069", "").Replace(p.prompt.String())
	return steady(text, s.folder)
}

// steady is a transcript unwrapped, from the first question on, and without what hangs on
// this machine: its paths, its clock, its user, and how many lines on tools found room.
func steady(text, folder string) string {
	var path strings.Builder
	for _, r := range folder {
		path.WriteString(regexp.QuoteMeta(string(r)) + `(?:\n  )?`)
	}
	text = regexp.MustCompile(strings.TrimSuffix(path.String(), `(?:\n  )?`)).ReplaceAllString(text, "DIR")
	text = strings.ReplaceAll(text, "\n  ", " ")
	for _, change := range [][2]string{
		{`\d\d:\d\d(:\d\d)?, in [^.\n]*\.`, "TIME."},
		{`Starts in \d seconds?\.`, "Starts in N seconds."},
		{`\d+ lines? held; type go on\.\n`, ""},
		{`, tidy, \w+/photos`, ", tidy, NAME"},
		{`(?m)^(Tool|Result[^:\n]*|Progress|Started|Sample|Meanwhile): .*\n`, ""},
	} {
		text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
	}
	return text
}

// golden compares a transcript with the one that was looked at.
func (s *scene) golden(p *process, name string) {
	s.t.Helper()
	got := s.transcript(p)
	file := filepath.Join("testdata", "transcript", name+".txt")
	if *update {
		must(s.t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(s.t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	must(s.t, err)
	if got != string(want) {
		s.t.Errorf("%s says otherwise; look at it, then run with -update\n%s", file, got)
	}
}

func TestTerminalAccept(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	converse(t, newScene, func(t *testing.T, s *scene, p *process) {
		p.await(asked)
		s.untouched("before the answer")
		p.say("accept")
		p.await("Recorded: question 1 is accepted.")
		p.await("Type undo to take it back.")
		p.await("Deleted 15 files.")
		p.ends(0)
		if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
			t.Errorf("gone are %v, want %v", gone, s.duplicates())
		}
		s.tidied()
		s.proved()
		s.golden(p, "accept")
	})
}

func TestTerminalReject(t *testing.T) {
	t.Parallel()
	converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
		p.await(asked)
		p.say("reject")
		p.await("Recorded: question 1 is rejected.")
		p.ends(3)
		s.untouched("after a no")
		s.proved()
		s.golden(p, "reject")
	})
}

// TestTerminalEnter: Enter repeats the question, however often, and answers nothing.
func TestTerminalEnter(t *testing.T) {
	t.Parallel()
	converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
		p.await(asked)
		for range 3 {
			p.say("")
			p.await("Question 1, tidy, 001/photos: Delete 15 duplicate files")
			p.await(asked)
		}
		p.say("reject")
		p.ends(3)
		s.untouched("after Enter alone")
		if l := s.proved(); l.one(`SELECT count(*) FROM receipts`) != "1" {
			s.t.Error("Enter has left a receipt")
		}
		s.golden(p, "enter")
	})
}

// TestTerminalTypedAhead: what was typed before the question was shown does not count,
// neither a whole line nor the beginning of one.
func TestTerminalTypedAhead(t *testing.T) {
	t.Parallel()
	converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
		p.say("accept")
		_, err := io.WriteString(p.input, "acc")
		must(s.t, err)
		p.await(asked)
		p.say("ept")
		p.await("Not understood: ept.")
		p.say("")
		p.await(asked)
		p.say("reject")
		p.await("Recorded: question 1 is rejected.")
		p.ends(3)
		s.untouched("after typing ahead")
		s.proved()
	})
}

// TestTerminalMoreTime: near the end a warning comes, and more time can be had: under the
// same number, until later.
func TestTerminalMoreTime(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	deadline := regexp.MustCompile(`nswer by (\d\d:\d\d:\d\d)`)
	converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
		p.await(asked)
		p.await("seconds left to answer question 1. Without an answer it is not done. Type more time to get more.")
		p.say("more time")
		said := p.from
		p.await("Recorded: question 1 has more time.")
		p.from = said // the two may come in either order
		p.await("Question 1 has more time. Answer by")
		p.say("")
		p.await(asked)
		until := deadline.FindAllStringSubmatch(squeeze(p.prompt.String()), -1)
		if first, last := until[0][1], until[len(until)-1][1]; first == last {
			s.t.Errorf("more time was asked for, and the question still ends at %s", first)
		}
		p.say("accept 1")
		p.await("Recorded: question 1 is accepted.")
		p.say("undo")
		p.ends(3)
		s.untouched("after an undo")
		l := s.proved()
		if n := l.one(`SELECT count(*) FROM questions`); n != "1" {
			s.t.Errorf("there are %s questions, want 1 with one number", n)
		}
		if n := l.one(`SELECT count(*) FROM tokens`); n != "2" {
			s.t.Errorf("there were %s tokens, want a new one for the extension", n)
		}
	}, "--answer-within", "26s", "--policy", slowToStart(t))
}

// TestTerminalList pages through what the question is about.
func TestTerminalList(t *testing.T) {
	t.Parallel()
	many := func(t *testing.T) *scene {
		t.Helper()
		files := map[string]string{}
		for i := range 46 {
			files[fmt.Sprintf("copy %02d.txt", i)] = "the same"
		}
		return sceneOf(t, files)
	}
	converse(t, many, func(_ *testing.T, s *scene, p *process) {
		p.await(asked)
		p.say("list")
		p.await("page 1 of 3")
		p.await("1. copy 01.txt, 8 bytes")
		p.await("Type list for the next page")
		p.say("list 1")
		p.await("page 2 of 3")
		p.await("Type list for the next page")
		p.say("LIST")
		p.await("page 3 of 3")
		p.await("45. copy 45.txt")
		p.await("End of the list.")
		p.say("list")
		p.await("page 1 of 3")
		p.await("Type list for the next page")
		p.say("reject")
		p.ends(3)
		s.untouched("after looking at the list")
		s.golden(p, "list")
	})
}

// TestTerminalWords: why and help say more, a word that is none is told so, and neither
// that nor another question's number answers anything.
func TestTerminalWords(t *testing.T) {
	t.Parallel()
	converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
		p.await(asked)
		p.say("why")
		p.await("Why question 1: After you accept, you have 8 seconds to take it back. The tool is files.delete.")
		p.await("Risk: high.")
		p.say("help")
		p.await("Words about a question: accept, reject, more time, list, list all, why, stop, undo.")
		p.say("yes")
		p.await("“yes” does not answer question 1. Type accept or reject.")
		p.say("n")
		p.await("“n” does not answer question 1. Type accept or reject.")
		p.say("accept!")
		p.await("Not understood: accept!.")
		p.say("accept 7")
		p.await("Question 7 is not open. Question 1 is open.")
		p.say("undo")
		p.await("There is nothing to undo.")
		p.say("\x1b[A")
		p.await("Not understood:")
		p.say("go on")
		p.await("No lines are held.")
		p.say("reject 1")
		p.ends(3)
		s.untouched("after words that answer nothing")
		s.proved()
	})
}

func TestTerminalStopBefore(t *testing.T) {
	t.Parallel()
	converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
		p.await(asked)
		p.say("stop")
		p.await("Recorded: stop.")
		p.ends(3)
		s.untouched("after a stop")
		if l := s.proved(); l.one(`SELECT type FROM events ORDER BY seq DESC LIMIT 1`) != "aaep:agent.session.cancelled" {
			s.t.Error("the session did not end as cancelled")
		}
	})
}

// TestTerminalUndo takes a yes back in the time that there is for it, by undo and by a
// reject.
func TestTerminalUndo(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	policy := slowToStart(t)
	for _, word := range []string{"undo", "reject"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
				p.await(asked)
				p.say("accept")
				p.await("Type undo to take it back.")
				s.untouched("in the time to take it back")
				p.say(word)
				p.await("Recorded: the yes to question 1 is taken back.")
				p.ends(3)
				s.untouched("after an undo")
				if l := s.proved(); l.one(`SELECT count(*) FROM grants g JOIN calls USING (call_id) WHERE tool = 'files.delete'`) != "0" {
					s.t.Error("the removal was started")
				}
			}, "--policy", policy)
		})
	}
}

// slowToStart is a policy that leaves so much time to take a yes back that no machine is too slow.
func slowToStart(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	must(t, os.WriteFile(file, []byte("rules: [{tool: files.delete, decide: ask, start_within: 10m, undo: 5m}]\n"), 0o600))
	return file
}

// hostile are names that would act on a terminal, or pass for something else.
func hostile(t *testing.T) *scene {
	t.Helper()
	names := []string{
		"red \x1b[31m and \x07bell", "line\nQuestion 1: fake. Type accept", "turned \u202egpj.exe", "marks \u200e\u200f\u2066x", "tab\tand\rreturn",
		"del \x7f c1 \u009b31m", "separators \u2028\u2029", "invisible \u200b\u00ad\ufeff", "wide 日本語の写真", "tags \U000e0041\U000e0042", "-rf", "né\u0301e",
		strings.Repeat("long", 60),
	}
	files := map[string]string{}
	for _, name := range names {
		files["a/"+name], files["b/"+name] = "copy of "+name, "copy of "+name
	}
	s := emptyScene(t)
	s.folder += " \x1b]0;title\x07\n\u202e"
	for path, text := range files {
		s.write(path, text)
	}
	s.before = content(t, s.folder)
	return s
}

// TestTerminalHostileNames: no name acts on the terminal, and every one can be told.
func TestTerminalHostileNames(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	converse(t, hostile, func(t *testing.T, s *scene, p *process) {
		p.await(asked)
		p.say("list")
		p.await("End of the list.")
		p.say("why")
		p.await("Risk: high.")
		p.say("accept")
		p.await("Done:")
		p.ends(0)
		if gone := s.gone(); len(gone) != 13 {
			t.Errorf("gone are %q", gone)
		}
		s.proved()
	})
}
