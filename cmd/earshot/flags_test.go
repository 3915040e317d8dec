package main_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// piped runs the agent with these lines on standard input, and nothing after them.
func (s *scene) piped(lines string, args ...string) *process {
	s.t.Helper()
	p := s.run(args...)
	_, err := io.WriteString(p.input, lines)
	must(s.t, err)
	p.closeInput()
	return p
}

// events demands that standard output is the events of the only session, all of them
// in their order, and nothing else.
func (s *scene) events(p *process) {
	s.t.Helper()
	l := s.proved()
	if got := jsonLines(p.out.String()); !slices.Equal(got, l.bodies(l.sessions()[0])) {
		s.t.Errorf("standard output is not what the ledger has:\n%s", p.out)
	}
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	nothing := func(t *testing.T) *scene {
		t.Helper()
		return sceneOf(t, map[string]string{"a": "one", "b": "two", "c": "three"})
	}
	for _, row := range []struct {
		name  string
		scene func(*testing.T) *scene
		lines string
		args  []string
		code  int
		says  string
		gone  bool
	}{
		{"nothing to do", nothing, "", nil, 0, "No duplicates were found among 3 files.", false},
		{"empty folder", emptyScene, "", nil, 0, "There is no file to compare in ", false},
		{"accepted", newScene, "accept\n", nil, 0, "Deleted 15 files.", true},
		{"accepted in other letters", newScene, "  ACCEPT 1 \r\n", nil, 0, "Deleted 15 files.", true},
		{"accepted without a line end", newScene, "accept", nil, 0, "Deleted 15 files.", true},
		{"rejected", newScene, "reject\naccept\n", nil, 3, "You said no. Nothing was deleted.", false},
		{"listed, then rejected", newScene, "list\nwhy\n\nreject\n", nil, 3, "You said no.", false},
		{"stopped", newScene, "stop\naccept\n", nil, 3, "Cancelled: Stopped", false},
		{"undone", newScene, "accept\nundo\n", nil, 3, "Nothing was done.", false},
		{"no answer in the input", newScene, "", nil, 3, "cannot be answered here, because there is no more input.", false},
		{"only noise in the input", newScene, "yes\ny\nok\n", nil, 3, "“ok” does not answer question 1. Type accept or reject.", false},
		{"an answer for another question", newScene, "accept 2\n", nil, 3, "Question 2 is not open.", false},
		{"noise without an end", newScene, strings.Repeat("yes\n", 5000), nil, 3, "the input is no longer read", false},
		{"no input", newScene, "accept\n", []string{"--no-input"}, 3, "Without an answer it is not done. Nobody could answer question 1, because of --no-input, so it is not done. Output: ", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, asJSON := range []bool{false, true} {
				s := row.scene(t)
				args := row.args
				if asJSON {
					args = append(slices.Clone(args), "--json")
				}
				p := s.piped(row.lines, args...)
				p.ends(row.code)
				said := p.out
				if asJSON {
					said = p.prompt
					s.events(p)
				}
				if !strings.Contains(squeeze(said.String()), row.says) {
					t.Errorf("it does not say %q:\n%s", row.says, said)
				}
				if !row.gone {
					s.untouched("at the end")
				} else if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
					t.Errorf("gone are %v", gone)
				}
				s.tidied()
				s.proved()
			}
		})
	}
}

// TestAnswerWithin lets a question expire: silence is not consent.
func TestAnswerWithin(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.run("--answer-within", "1s")
	p.ends(3)
	s.untouched("after silence")
	if l := s.proved(); l.one(`SELECT state FROM questions`) != "expired" || l.one(`SELECT count(*) FROM receipts`) != "0" {
		t.Errorf("the question is %s", l.one(`SELECT state FROM questions`))
	}
}

// TestAnswerTime: both ends of what can be said are taken as they are. What is said
// here counts for more than the policy's timeout, and that for more than the default.
func TestAnswerTime(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, row := range []struct {
		flag, policy string
		want         time.Duration
	}{
		{"1s", "", time.Second},
		{"90s", "", 90 * time.Second},
		{"24h", "", 24 * time.Hour},
		{"", "", 5 * time.Minute},
		{"", "7m", 7 * time.Minute},
		{"40s", "7m", 40 * time.Second},
	} {
		t.Run(row.flag+" "+row.policy, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			var args []string
			if row.flag != "" {
				args = append(args, "--answer-within", row.flag)
			}
			if row.policy != "" {
				args = append(args, "--policy", s.policy("rules: [{tool: files.delete, decide: ask, timeout: "+row.policy+"}]\n"))
			}
			s.piped("reject\n", args...).ends(3)
			const micro = `SELECT deadline - (SELECT at FROM events WHERE type = 'aaep:agent.awaiting.confirmation') FROM questions`
			if got, err := time.ParseDuration(s.proved().one(micro) + "us"); err != nil || got != row.want {
				t.Errorf("the question is open for %s, want %s", got, row.want)
			}
		})
	}
}

// TestChangedBeforeAccept: what is no more as it was listed is left alone, and what was
// accepted and not done shows in the exit code.
func TestChangedBeforeAccept(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, row := range []struct {
		name   string
		change func(s *scene)
		says   string
		gone   []string
	}{
		{"a file", func(s *scene) { s.write("b", "SAME") }, "Left alone: 1 file, reason changed", []string{"c"}},
		{"a file is gone", func(s *scene) { must(s.t, os.Remove(filepath.Join(s.folder, "b"))) }, "reason vanished", []string{"c"}},
		{"a file became a link", func(s *scene) {
			must(s.t, os.Remove(filepath.Join(s.folder, "b")))
			must(s.t, os.Symlink("a", filepath.Join(s.folder, "b")))
		}, "reason not_regular", []string{"c"}},
		{"the survivor", func(s *scene) { s.write("a", "SAME") }, "reason keep_changed", nil},
		{"the survivor is gone", func(s *scene) { must(s.t, os.Remove(filepath.Join(s.folder, "a"))) }, "reason keep_missing", nil},
		{"the folder is gone", func(s *scene) { must(s.t, os.Rename(s.folder, s.folder+" elsewhere")) }, "Nothing was deleted.", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := sceneOf(t, map[string]string{"a": "same", "b": "same", "c": "same", "d": "alone"})
			p := s.run()
			await(p.out, p, asked)
			row.change(s)
			if _, err := os.Stat(s.folder); err == nil {
				s.before = content(t, s.folder)
			}
			p.say("accept")
			p.ends(1)
			if !strings.Contains(squeeze(p.out.String()), row.says) {
				t.Errorf("it does not say %q:\n%s", row.says, p.out)
			}
			s.proved()
			if _, err := os.Stat(s.folder); err != nil {
				must(t, os.Rename(s.folder+" elsewhere", s.folder))
			}
			if gone := s.gone(); !slices.Equal(gone, row.gone) {
				t.Errorf("gone are %v, want %v", gone, row.gone)
			}
			s.tidied()
		})
	}
}

// await waits on a stream that is not where questions are put.
func await(stream *heard, p *process, text string) {
	p.t.Helper()
	other := *p
	other.prompt, other.from = stream, 0
	other.await(text)
}

// TestTrash moves instead of deleting: it asks too, says that it can be undone, and what
// it moved can be put back.
func TestTrash(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	home := filepath.Join(filepath.Dir(s.data), "share")
	must(t, os.Mkdir(home, 0o700))
	p := start(t, options{data: s.data, args: []string{"tidy", "--trash", s.folder, "--json"}, env: []string{"XDG_DATA_HOME=" + home}})
	p.await("Move 15 duplicate files under")
	p.await("This can be undone.")
	p.await(asked)
	s.untouched("before the answer")
	p.say("accept")
	p.ends(0)
	s.events(p)
	if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
		t.Errorf("gone are %v", gone)
	}
	s.tidied()
	if n := s.restore(filepath.Join(home, "Trash")); n != len(s.duplicates()) {
		t.Errorf("the trash had %d files, want %d", n, len(s.duplicates()))
	}
	s.untouched("after everything was put back")
	if class := readLedger(t, s.data).one(`SELECT class FROM calls WHERE tool = 'files.trash'`); class != "reversible" {
		t.Errorf("the class is %s", class)
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	s := emptyScene(t)
	p := start(t, options{data: s.data, args: []string{"tidy", "--sample", "--json"}})
	p.await(asked)
	p.say("accept")
	p.ends(0)
	made := regexp.MustCompile(`(?m)^Sample: (\S+)$`).FindStringSubmatch(p.prompt.String())
	if made == nil {
		t.Fatalf("it does not say where the sample is:\n%s", p.prompt)
	}
	sample, err := tidy.MakeSample(t.TempDir())
	must(t, err)
	const passed = 3 // the empty file, the hard link and what is in .git
	if left := content(t, made[1]); len(left) != sample.Files-sample.Duplicates+passed {
		t.Errorf("%d files are left: %v", len(left), left)
	}
	s.events(p)
}

// TestDataDirectory finds the ledger where it was asked to be.
func TestDataDirectory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		env  func(dir string) []string
		want string
	}{
		{"EARSHOT_DATA", func(dir string) []string {
			return []string{"EARSHOT_DATA=" + dir + "/own", "XDG_DATA_HOME=" + dir + "/x"}
		}, "own"},
		{"XDG_DATA_HOME", func(dir string) []string { return []string{"XDG_DATA_HOME=" + dir + "/x"} }, "x/earshot"},
		{"XDG_DATA_HOME is not absolute", func(dir string) []string { return []string{"XDG_DATA_HOME=x", "HOME=" + dir} }, ".local/share/earshot"},
		{"HOME", func(dir string) []string { return []string{"HOME=" + dir} }, ".local/share/earshot"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := emptyScene(t)
			dir := filepath.Dir(s.data)
			start(t, options{args: []string{"tidy", s.folder}, env: row.env(dir)}).ends(0)
			data := filepath.Join(dir, row.want)
			info, err := os.Stat(data)
			must(t, err)
			if info.Mode().Perm() != 0o700 {
				t.Errorf("%s has the mode %s", data, info.Mode())
			}
			for _, file := range []string{"ledger.db", "key", "lock"} {
				info, err := os.Stat(filepath.Join(data, file))
				must(t, err)
				if info.Mode().Perm() != 0o600 {
					t.Errorf("%s has the mode %s", file, info.Mode())
				}
			}
			readLedger(t, data).ended()
		})
	}
}

// TestRestoredLedger goes on with a ledger from before a removal that has happened: it
// shows, nothing is removed again, and a person is asked.
func TestRestoredLedger(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.left()
	ledger := filepath.Join(s.data, "ledger.db")
	backup := map[string][]byte{}
	for _, file := range []string{ledger, ledger + "-wal"} {
		raw, err := os.ReadFile(file)
		must(t, err)
		backup[file] = raw
	}
	p := s.resume()
	p.await(asked)
	p.say("accept")
	p.ends(0)
	gone := s.gone()

	must(t, os.RemoveAll(ledger+"-shm"))
	for file, raw := range backup {
		must(t, os.WriteFile(file, raw, 0o600))
	}
	p = s.resume()
	p.await("Ledger: it is older than when it was last used here")
	p.await("Type leave, ask again,")
	p.say("leave")
	p.ends(1)
	s.events(p)
	if after := s.gone(); !slices.Equal(gone, after) {
		t.Errorf("gone were %v, now %v", gone, after)
	}
	if n := readLedger(t, s.data).one(`SELECT count(*) FROM grants JOIN calls USING (call_id) WHERE class <> 'read'`); n != "0" {
		t.Errorf("%s starts after the restore", n)
	}
	s.resume().ends(2)
}

// left starts a run and kills it at its question; it returns the session.
func (s *scene) left() string {
	s.t.Helper()
	p := s.runApart("--json")
	p.await(asked)
	p.kill()
	p.wait()
	all := readLedger(s.t, s.data).sessions()
	return all[len(all)-1]
}

// TestResume goes on with what was left: with the only one, or with the one that is named.
func TestResume(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.complains(s.resume(), 2, "there is nothing to resume", "start a new one")

	first := s.left()
	s.complains(s.resume("sess_0"), 1, `there is no unfinished session "sess_0" here`, "leave the name out")
	s.complains(s.resume("tidy", s.folder), 2, "--resume takes one session at most", "earshot run --resume")
	second := s.left()
	s.complains(s.resume(), 2, "several sessions did not end: "+first, "name one")

	p := s.resume(second)
	p.await("Question 2, tidy 2, 001/photos:")
	p.await(asked)
	p.say("reject")
	p.ends(3)
	p = s.resume("turn" + strings.TrimPrefix(first, "sess"))
	p.await("Question 1, tidy, 001/photos:")
	p.await(asked)
	p.say("reject")
	p.ends(3)
	s.untouched("after two refusals")
	s.complains(s.resume(first), 2, "there is nothing to resume", "start a new one")
	s.proved()
}

// TestResumeIsOffered: a new run says that an old one did not end, and leaves it alone.
func TestResumeIsOffered(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.left()
	p := s.run("--no-input")
	p.ends(3)
	if want := "Note: " + first + " did not end; `earshot run --resume " + first + "` goes on with it."; !strings.Contains(p.prompt.String(), want) {
		t.Errorf("it does not say %q:\n%s", want, p.prompt)
	}
	p = s.resume()
	p.await(asked)
	p.say("accept")
	p.ends(0)
	if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
		t.Errorf("gone are %v", gone)
	}
	s.proved()
}

// TestResumeWithoutTheFolder cannot go on, and changes nothing: with the folder it can.
func TestResumeWithoutTheFolder(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.left()
	must(t, os.Rename(s.folder, s.folder+" elsewhere"))
	s.complains(s.resume(), 2, "there is no folder", "check the name")
	must(t, os.Rename(s.folder+" elsewhere", s.folder))
	p := s.resume()
	p.await(asked)
	p.say("reject")
	p.ends(3)
	s.proved()
}

// TestFaultsAreIgnored: the program as it ships has no fault points.
func TestFaultsAreIgnored(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, point := range []string{"question.saved", "delete.middle"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--json"}, env: []string{"EARSHOT_FAULT=" + point}, process: true})
			p.await(asked)
			p.say("accept")
			p.ends(0)
			s.proved()
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"help", "run"}, {"run", "--help"}, {"version"}, {"version", "--json"}, {}} {
		p := plain(t, args...)
		p.ends(0)
		if p.out.String() == "" || p.prompt.String() != "" {
			t.Errorf("%v says %q and, on standard error, %q", args, p.out, p.prompt)
		}
	}
}
