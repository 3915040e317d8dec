//go:build !faults

package main_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/text/width"
)

var update = flag.Bool("update", false, "write the transcripts in testdata anew")

// columns are the widths at which every conversation is held.
func columns() []uint16 { return []uint16{80, 40} }

// sit starts the program on a terminal of its own.
func sit(t *testing.T, wide uint16, o options) *process {
	t.Helper()
	p := &process{t: t, cmd: command(t, o), ended: make(chan struct{})}
	p.prompt = newHeard()
	p.out = p.prompt
	if o.into != "" {
		file, err := os.Create(o.into)
		must(t, err)
		defer func() { _ = file.Close() }() // the program has its own
		p.cmd.Stdout = file
	}
	master := screen(t, p, wide, o.ahead)
	p.input = master
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(p.prompt, master) // ends with an error when the other side is closed
	}()
	go func() {
		_ = p.cmd.Wait() // the state says how it ended
		<-read
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
		if err := master.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	})
	return p
}

// screen starts the program and returns the other end of its terminal, which can be
// closed while it is being read, and which no other program inherits.
func screen(t *testing.T, p *process, wide uint16, ahead string) *os.File {
	t.Helper()
	blocking, tty, err := pty.Open()
	must(t, err)
	must(t, pty.Setsize(blocking, &pty.Winsize{Rows: 50, Cols: wide}))
	_, err = blocking.WriteString(ahead)
	must(t, err)
	p.cmd.Stdin, p.cmd.Stderr = tty, tty
	if p.cmd.Stdout == nil {
		p.cmd.Stdout = tty
	}
	if p.cmd.SysProcAttr == nil {
		p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	p.cmd.SysProcAttr.Setsid, p.cmd.SysProcAttr.Setctty = true, true
	must(t, p.cmd.Start())
	must(t, tty.Close())
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	must(t, err)
	must(t, blocking.Close())
	must(t, unix.SetNonblock(fd, true))
	return os.NewFile(uintptr(fd), "terminal")
}

// sit starts the agent on the folder, on a terminal.
func (s *scene) sit(wide uint16, args ...string) *process {
	s.t.Helper()
	return sit(s.t, wide, options{data: s.data, args: append([]string{"tidy", s.folder}, args...)})
}

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

// readable demands of everything on the screen that no line is wider than the terminal,
// and that nothing in it can move the cursor or turn the text round.
func (p *process) readable(wide int) {
	p.t.Helper()
	text := strings.ReplaceAll(p.prompt.String(), "\r\n", "\n")
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "^C") {
			continue // the terminal's own echo
		}
		if n := columnsOf(line); n > wide {
			p.t.Errorf("a line has %d columns of %d: %q", n, wide, line)
		}
		depth := 0
		for _, r := range line {
			switch {
			case r == '\u2068':
				depth++
			case r == '\u2069':
				depth--
			case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', r == unicode.ReplacementChar:
				p.t.Errorf("%U is in the line %q", r, line)
			}
		}
		if depth != 0 {
			p.t.Errorf("isolates do not close in %q", line)
		}
	}
}

// columnsOf counts as a plain terminal does.
func columnsOf(line string) int {
	n := 0
	for _, r := range line {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case kind == width.EastAsianWide, kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
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
		{`\d\d:\d\d:\d\d, in [^.\n]*\.`, "TIME."},
		{`Starts in \d seconds?;`, "Starts in N seconds;"},
		{`\d+ lines? held; type go on\.\n`, ""},
		{`(?m)^(Tool|Result[^:\n]*|Progress|Started|Sample): .*\n`, ""},
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

// proved closes a conversation: the ledger is whole.
func (s *scene) proved() *ledger {
	s.t.Helper()
	l := readLedger(s.t, s.data)
	l.ended()
	l.consented(1)
	return l
}

func TestTerminalAccept(t *testing.T) {
	t.Parallel()
	converse(t, newScene, func(t *testing.T, s *scene, p *process) {
		p.await(asked)
		s.untouched("before the answer")
		p.say("accept")
		p.await("Recorded: accept question 1.")
		p.await("type undo.")
		s.untouched("in the time to take it back")
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
		p.await("Recorded: reject question 1.")
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
			p.await("Question 1: Delete 15 duplicate files")
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
		p.await("Recorded: reject question 1.")
		p.ends(3)
		s.untouched("after typing ahead")
		s.proved()
	})
}

// TestTerminalMoreTime: near the end a warning comes, and more time can be had: under the
// same number, until later.
func TestTerminalMoreTime(t *testing.T) {
	t.Parallel()
	deadline := regexp.MustCompile(`nswer until (\d\d:\d\d:\d\d)`)
	converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
		p.await(asked)
		p.await("seconds left to answer question 1. Type more time to get more.")
		p.say("more time")
		said := p.from
		p.await("Recorded: more time for question 1.")
		p.from = said // the two may come in either order
		p.await("Question 1: answer until")
		p.say("")
		p.await(asked)
		until := deadline.FindAllStringSubmatch(squeeze(p.prompt.String()), -1)
		if first, last := until[0][1], until[len(until)-1][1]; first == last {
			s.t.Errorf("more time was asked for, and the question still ends at %s", first)
		}
		p.say("accept 1")
		p.await("Recorded: accept question 1.")
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
		p.await("Type list for the next page.")
		p.say("list 1")
		p.await("page 2 of 3")
		p.await("Type list for the next page.")
		p.say("LIST")
		p.await("page 3 of 3")
		p.await("45. copy 45.txt")
		p.await("End of the list.")
		p.say("list")
		p.await("page 1 of 3")
		p.await("Type list for the next page.")
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
		p.await("Why question 1: After accept there are 3 seconds to take it back. The tool is files.delete, with root:")
		p.await("Risk: high.")
		p.say("help")
		p.await("Words: accept, reject, more time, list, why, go on, stop, undo, help.")
		p.say("yes")
		p.await("Not understood: yes.")
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
	policy := slowToStart(t)
	for _, word := range []string{"undo", "reject"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			converse(t, newScene, func(_ *testing.T, s *scene, p *process) {
				p.await(asked)
				p.say("accept")
				p.await("type undo.")
				p.say(word)
				p.await("Recorded: undo question 1.")
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

// manyFiles makes so many duplicates that a removal can be stopped on its way.
func manyFiles(t *testing.T) *scene {
	t.Helper()
	files := map[string]string{}
	for i := range 4000 {
		files[fmt.Sprintf("%04d", i)] = fmt.Sprintf("pair %d", i/2)
	}
	return sceneOf(t, files)
}

// underWay waits until the removal has taken some files.
func (s *scene) underWay(p *process) {
	s.t.Helper()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		left, err := os.ReadDir(s.folder)
		must(s.t, err)
		if len(left) < len(s.before)-5 {
			return
		}
		select {
		case <-look.C:
		case <-p.ended:
			s.t.Fatalf("the program ended before it removed anything:\n%s", p.prompt)
		}
	}
}

// grouped writes a number below a million as the program does.
func grouped(n int) string {
	return regexp.MustCompile(`(\d)(\d{3})$`).ReplaceAllString(fmt.Sprint(n), "$1,$2")
}

// stoppedOnTheWay proves that what is said to be gone is gone, and nothing else.
func (s *scene) stoppedOnTheWay(p *process) {
	s.t.Helper()
	gone := s.gone()
	if len(gone) == 0 || len(gone) == len(s.duplicates()) {
		s.t.Errorf("%d files are gone: the removal was not stopped on its way", len(gone))
	}
	said := squeeze(p.prompt.String())
	if !strings.Contains(said, "Deleted "+grouped(len(gone))+" files and freed") {
		s.t.Errorf("%d files are gone; said was: %s", len(gone), said[max(0, len(said)-1500):])
	}
	all := slices.Concat(slices.Collect(maps.Values(s.removed()))...)
	slices.Sort(all)
	if !slices.Equal(all, gone) {
		s.t.Errorf("the journal has %d files, %d are gone", len(all), len(gone))
	}
	s.tidied()
}

func TestTerminalStopWhileDeleting(t *testing.T) {
	t.Parallel()
	s := manyFiles(t)
	p := s.sit(80)
	p.await(asked)
	p.say("accept")
	p.await("Tool: Now: Delete 2,000 duplicate files")
	s.underWay(p)
	p.say("stop")
	p.ends(1)
	s.stoppedOnTheWay(p)
	if l := s.proved(); l.one(`SELECT type FROM events ORDER BY seq DESC LIMIT 1`) != "aaep:agent.session.cancelled" {
		t.Error("the session did not end as cancelled")
	}
	p.readable(80)
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
