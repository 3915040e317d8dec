package main_test

import (
	"bytes"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// plain starts the program with exactly these arguments.
func plain(t *testing.T, args ...string) *process {
	t.Helper()
	return start(t, options{exact: append([]string{}, args...), nobody: true})
}

// complains demands the exit code, one error and one hint, each on one line, and that
// there is nothing on standard output.
func (s *scene) complains(p *process, code int, says, hint string) {
	s.t.Helper()
	p.ends(code)
	if out := p.out.String(); out != "" {
		s.t.Errorf("standard output has %q", out)
	}
	oneComplaint(s.t, p.prompt.String(), says, hint)
}

// healthy demands that the data directory still serves a run.
func (s *scene) healthy() {
	s.t.Helper()
	s.run("--no-input").ends(3)
	s.untouched("at the end")
	s.proved()
}

func TestBadArguments(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args []string // DIR stands for the folder
		says string
		hint string
	}{
		{[]string{"run"}, "no agent is named", "earshot run tidy --sample"},
		{[]string{"run", "nobody", "DIR"}, `there is no agent "nobody"`, "the agents are: tidy"},
		{[]string{"run", "no\x1b[31mbody\n"}, "there is no agent", "the agents are: tidy"},
		{[]string{"run", "tidy"}, "none is named", "--sample"},
		{[]string{"run", "tidy", "DIR", "DIR"}, "2 are named", "once for each folder"},
		{[]string{"run", "tidy", "DIR", "--sample"}, "both --sample and a folder are named", "name one of them"},
		{[]string{"run", "tidy", "DIR", "--yes"}, "there is no flag --yes", "earshot run --help"},
		{[]string{"run", "tidy", "DIR", "--force"}, "there is no flag --force", "earshot run --help"},
		{[]string{"runn"}, `there is no command "runn"`, "did you mean run? See `earshot --help`"},
		{[]string{"zzz"}, `there is no command "zzz"`, "see `earshot --help`"},
		{[]string{"token", "ad"}, `there is no command "ad"`, "did you mean add?"},
		{[]string{"run", "tidy", "--smaple"}, "there is no flag --smaple", "did you mean --sample? See `earshot run --help`"},
		{[]string{"run", "tidy", "DIR", "--answer-within", "0s"}, "it can be 1s to 24h", "300s"},
		{[]string{"run", "tidy", "DIR", "--answer-within", "999ms"}, "it can be 1s to 24h", "300s"},
		{[]string{"run", "tidy", "DIR", "--answer-within", "-5s"}, "it can be 1s to 24h", "300s"},
		{[]string{"run", "tidy", "DIR", "--answer-within", "24h1s"}, "it can be 1s to 24h", "300s"},
		{[]string{"run", "--resume", "--answer-within", "5s"}, "--answer-within does not go with --resume", "leave --answer-within out"},
		{[]string{"run", "--resume", "--trash"}, "--trash does not go with --resume", "leave --trash out"},
		{[]string{"run", "--resume", "--sample"}, "--sample does not go with --resume", "leave --sample out"},
		{[]string{"run", "tidy", "DIR", "--answer-within", "soon"}, "it takes a time such as 30s or 5m", "earshot run --help"},
		{[]string{"run", "tidy", "DIR/nowhere"}, "there is no folder", "--sample makes a folder"},
		{[]string{"run", "tidy", "DIR/no\x1b[31mwhere"}, "there is no folder", "--sample makes a folder"},
		{[]string{"run", "tidy", ""}, "the name of the folder is empty", "the current one is called ."},
		{[]string{"run", "tidy", "DIR/file"}, "is not a folder", "name a folder"},
		{[]string{"run", "tidy", "DIR/file/below"}, "is not a folder", "name a folder"},
		{[]string{"run", "tidy", "DIR/loop"}, "cannot be read", "name a folder"},
		{[]string{"run", "tidy", "DIR/pipe"}, "is not a folder", "name a folder"},
		{[]string{"run", "tidy", "DIR", "--policy", "DIR/nowhere"}, "the policy cannot be read", "earshot help policy"},
		{[]string{"run", "tidy", "DIR", "--policy", "DIR"}, "should be a file", "earshot help policy"},
		{[]string{"run", "tidy", "DIR", "--policy", "DIR/pipe"}, "should be a file", "earshot help policy"},
	} {
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			t.Parallel()
			s := sceneOf(t, map[string]string{"file": "same", "other": "same"})
			must(t, os.Symlink("loop", filepath.Join(s.folder, "loop")))
			must(t, syscall.Mkfifo(filepath.Join(s.folder, "pipe"), 0o600))
			args := make([]string, len(row.args))
			for i, arg := range row.args {
				args[i] = strings.ReplaceAll(arg, "DIR", s.folder)
			}
			p := plain(t, slices.Concat(args, []string{"--data", s.data})...)
			if args[0] != "run" {
				p = plain(t, args...)
			}
			code := 2
			if strings.HasPrefix(row.says, "there is no agent") { // the command is right, and what it asks for is not there
				code = 1
			}
			s.complains(p, code, row.says, row.hint)
			s.untouched("after a refusal")
		})
	}
}

// TestBadPolicies: a policy that cannot be what its author meant is refused before
// anything is done.
func TestBadPolicies(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	rule := func(text string) string { return "rules:\n  - " + text + "\n" }
	for _, row := range []struct{ name, text, says string }{
		{"misspelt member", rule("{tol: files.delete, decide: ask}"), "line 2: rules[0].tol: unknown name"},
		{"misspelt rules", "rule: []\n", "line 1: rule: unknown name"},
		{"unknown decision", rule("{tool: files.delete, decide: perhaps}"), `decide is "perhaps"`},
		{"no YAML", "rules: [}", "a list does not end"},
		{"another form", "- tool\n", "line 1"},
		{"empty", "", "has no rules; where none are meant, write rules: []"},
		{"a comment and no more", "# nothing\n", "has no rules"},
		{"cut off behind its first word", "rules:\n", "has no rules"},
		{"two documents", "rules: []\n---\nrules: []\n", "several documents"},
		{"allows what is irreversible", rule("{tool: files.delete, decide: allow}"), "irreversible"},
		{"allows everything", rule(`{tool: "*", decide: allow}`), "irreversible"},
		{"allows by a prefix", rule(`{tool: "files.d*", decide: allow}`), "irreversible"},
		{"timeout too long", rule("{tool: files.delete, decide: ask, timeout: 25h}"), "timeout"},
		{"start_within too long", rule("{tool: files.delete, decide: ask, start_within: 11m}"), "start_within"},
		{"undo too short", rule("{tool: files.delete, decide: ask, undo: 1s}"), "undo is from 3s to 5m"},
		{"undo too long", rule("{tool: files.delete, decide: ask, undo: 6m}"), "undo is from 3s to 5m"},
		{"many foreign services by one star", rule(`{tool: "words.*", decide: ask, broker_only: true}`), "broker_only"},
		{"huge", "#" + strings.Repeat(" ", 1<<20) + "\n", "at most 1 MiB"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.complains(s.run("--policy", s.policy(row.text)), 2, row.says, "")
			s.healthy()
		})
	}
}

// TestPolicies are two that are good: they are obeyed.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		code       int
		says       string
	}{
		{"none", "# nothing\nrules: []\n", 3, "Nobody answered."},
		{"deny", "rules: [{tool: files.delete, decide: deny}]\n", 1, "The policy of this installation forbids it."},
		{"names a foreign service", "rules: [{tool: words.post, decide: ask, broker_only: true}]\n", 3, "Nobody answered."},
		{"ask", "rules: [{tool: files.scan, decide: ask}]\n", 3, "Nobody answered"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p := s.run("--policy", s.policy(row.text), "--no-input")
			p.ends(row.code)
			if !strings.Contains(squeeze(p.out.String()), row.says) {
				t.Errorf("it does not say %q:\n%s", row.says, p.out)
			}
			s.untouched("at the end")
			s.proved()
		})
	}
}

// TestBadData: a data directory that cannot be relied on is refused, and what is in it
// stays as it is.
func TestBadData(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	overwrite := func(name string, content []byte) func(*scene) {
		return func(s *scene) { must(s.t, os.WriteFile(filepath.Join(s.data, name), content, 0o600)) }
	}
	noise := make([]byte, 8192)
	_, _ = rand.Read(noise) // it never fails
	for _, row := range []struct {
		name       string
		harm       func(*scene)
		code       int
		says, hint string
	}{
		{"random bytes", overwrite("ledger.db", noise), 1, "damaged or is not a ledger", "restore it from a backup"},
		{"text", overwrite("ledger.db", []byte("hello\n")), 1, "damaged or is not a ledger", "restore it from a backup"},
		{"truncated", func(s *scene) { must(s.t, os.Truncate(filepath.Join(s.data, "ledger.db"), 20_000)) }, 1, "damaged or is not a ledger", "restore it from a backup"},
		{"torn in the middle", tear, 1, "ledger", ""},
		{"another program's", func(s *scene) {
			must(s.t, os.Remove(filepath.Join(s.data, "ledger.db")))
			s.sql("CREATE TABLE x (y)")
		}, 1, "another program's database", "restore it from a backup"},
		{"newer", func(s *scene) { s.sql("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)") }, 1, "schema version 99", "use the newer earshot"},
		{"key gone", func(s *scene) { must(s.t, os.Remove(filepath.Join(s.data, "key"))) }, 1, "is missing beside a ledger that is in use", "restore it from your backup"},
		{"ledger is a folder", func(s *scene) {
			must(s.t, os.Remove(filepath.Join(s.data, "ledger.db")))
			must(s.t, os.Mkdir(filepath.Join(s.data, "ledger.db"), 0o700))
		}, 1, "there is a folder where the ledger should be", "move it away"},
		{"key of another length", overwrite("key", []byte("short")), 1, "the key file", "restore it from your backup"},
		{"incarnation is not a number", overwrite("incarnation", []byte("many\n")), 1, "should hold a number", "from a backup"},
		{"journal is not a folder", func(s *scene) {
			must(s.t, os.RemoveAll(filepath.Join(s.data, "journal")))
			overwrite("journal", nil)(s)
		}, 1, "the journal folder cannot be made", "--data DIR"},
		{"others may write", func(s *scene) { must(s.t, os.Chmod(s.data, 0o770)) }, 1, "others may write to the data directory", "chmod 700"},
		{"is a file", func(s *scene) {
			must(s.t, os.RemoveAll(s.data))
			must(s.t, os.WriteFile(s.data, nil, 0o600))
		}, 1, "the data directory cannot be made", "--data DIR"},
		{"lies below a file", func(s *scene) { s.data = filepath.Join(s.folder, "notes", "empty.txt", "data") }, 1, "the data directory cannot be made", "--data DIR"},
		{"is the folder itself", func(s *scene) { s.folder = s.data }, 2, "belongs to the data directory", "a folder of your own files"},
		{"holds the folder", func(s *scene) { s.folder = filepath.Join(s.data, "journal") }, 2, "belongs to the data directory", "a folder of your own files"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.run("--no-input").ends(3) // so that there is something to harm
			folder := s.folder
			row.harm(s)
			before := bytesOf(s.data)
			s.complains(s.run(), row.code, row.says, row.hint)
			if row.name == "journal is not a folder" { // then the ledger has been opened
				if all := readLedger(t, s.data).sessions(); len(all) != 1 {
					t.Errorf("the run that was refused has left a session: %v", all)
				}
			} else if after := bytesOf(s.data); !bytes.Equal(before, after) {
				t.Errorf("the ledger has been changed")
			}
			s.folder = folder
			s.untouched("after a refusal")
		})
	}
}

// bytesOf reads the ledger as it lies there.
func bytesOf(data string) []byte {
	raw, _ := os.ReadFile(filepath.Join(data, "ledger.db")) // nothing is as good as an empty one
	return raw
}

// tear overwrites the pages in the middle of the ledger and takes away its end, as
// after a failure of the disk.
func tear(s *scene) {
	path := filepath.Join(s.data, "ledger.db")
	raw, err := os.ReadFile(path)
	must(s.t, err)
	for i := 4096; i < len(raw); i++ {
		raw[i] = 0xa5
	}
	must(s.t, os.WriteFile(path, raw, 0o600))
}

// sql changes the ledger behind the program's back.
func (s *scene) sql(statement string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.data, "ledger.db"))
	must(s.t, err)
	_, err = db.Exec(statement)
	must(s.t, err)
	must(s.t, db.Close())
}

// TestSecondProcess finds the data taken, says by whom, and leaves the first alone.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	first := s.runApart("--json")
	first.await(asked)
	s.complains(s.run(), 1, fmt.Sprintf("(process %d)", first.pid()), "wait until it has ended")
	s.complains(s.resume(), 1, "another earshot works with the data", "wait until it has ended")
	first.say("accept")
	first.ends(0)
	s.events(first)
}

// nobody is a user without rights.
const nobody = 65534

// stranger is how a run has no right to what the test makes: another user, where the
// tests run as root, and this one otherwise.
func stranger(t *testing.T, paths ...string) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, path := range paths {
		must(t, os.Chown(path, nobody, nobody))
	}
	return &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}
}

// reachable opens the folders above a scene for the stranger.
func (s *scene) reachable() {
	s.t.Helper()
	for dir := filepath.Dir(s.data); dir != filepath.Dir(os.TempDir()) && dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		must(s.t, err)
		if dir == os.TempDir() {
			return
		}
		if info.Mode()&0o055 != 0o055 { // /tmp stays as it is
			must(s.t, os.Chmod(dir, info.Mode().Perm()|0o055))
		}
	}
}

// TestWithoutRights: what may not be read or written is said before anything begins, or
// counted where it lies below.
func TestWithoutRights(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	t.Run("the folder", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		s.reachable()
		who := stranger(t, s.data)
		must(t, os.Chmod(s.folder, 0))
		p := start(t, options{data: s.data, args: []string{"tidy", s.folder}, as: who})
		s.complains(p, 2, "cannot be read", "name a folder")
		must(t, os.Chmod(s.folder, 0o755))
		s.untouched("after a refusal")
	})
	t.Run("the data directory", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		s.reachable()
		who := stranger(t, s.data, s.folder)
		must(t, os.Chmod(s.data, 0o500))
		p := start(t, options{data: s.data, args: []string{"tidy", s.folder}, as: who})
		s.complains(p, 1, "the data directory cannot be written to", "--data DIR")
		p = start(t, options{data: filepath.Join(s.data, "below"), args: []string{"tidy", s.folder}, as: who})
		s.complains(p, 1, "the data directory cannot be made", "--data DIR")
		s.untouched("after a refusal")
	})
	t.Run("somebody else's data directory", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() != 0 {
			lacks(t, "not root, and only root can make a folder that belongs to somebody else")
		}
		s := newScene(t)
		must(t, os.Chown(s.data, nobody, nobody))
		s.complains(s.run(), 1, "belongs to user 65534", "a folder of your own")
		s.untouched("after a refusal")
	})
	t.Run("below the folder", func(t *testing.T) {
		t.Parallel()
		s := sceneOf(t, map[string]string{"a": "same", "b": "same", "locked/c": "same", "sub/d": "same", "e": "same"})
		s.reachable()
		who := stranger(t, s.data, s.folder, filepath.Join(s.folder, "a"), filepath.Join(s.folder, "b"), filepath.Join(s.folder, "sub", "d"))
		must(t, os.Chmod(filepath.Join(s.folder, "locked"), 0))
		must(t, os.Chmod(filepath.Join(s.folder, "e"), 0))
		must(t, os.Chmod(filepath.Join(s.folder, "sub"), 0o555))
		p := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--json"}, as: who})
		p.await("Delete 1 duplicate file")
		p.await(asked)
		p.say("accept")
		p.ends(0)
		must(t, os.Chmod(filepath.Join(s.folder, "locked"), 0o755))
		must(t, os.Chmod(filepath.Join(s.folder, "sub"), 0o755))
		must(t, os.Chmod(filepath.Join(s.folder, "e"), 0o600))
		sub := filepath.Join(s.folder, "sub")
		first, then, _ := strings.Cut(squeeze(p.prompt.String()), "Question 1, ")
		contains(t, first, "1 duplicate file cannot be removed, because this user cannot write to "+sub+".", "The question is about the others.")
		contains(t, then, "Left alone: 1 file where this user cannot write, in "+sub+".", "unreadable")
		if gone := s.gone(); len(gone) != 1 || gone[0] != "b" {
			t.Errorf("gone are %v, want b", gone)
		}
	})
	t.Run("a folder that can only be read", func(t *testing.T) {
		t.Parallel()
		s := sceneOf(t, map[string]string{"a": "same", "b": "same", "sub/c": "same"})
		s.reachable()
		who := stranger(t, s.data, s.folder)
		must(t, os.Chmod(s.folder, 0o555))
		for _, name := range []string{"a", "b", "sub", "sub/c"} {
			stranger(t, filepath.Join(s.folder, name))
		}
		must(t, os.Chmod(filepath.Join(s.folder, "sub"), 0o555))
		p := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--json"}, as: who})
		p.ends(1)
		said := p.prompt.String()
		contains(t, said, "This user cannot write to "+s.folder+", so no duplicate can be removed. Nothing was deleted.", "Found 2 duplicate files in 1 set")
		if strings.Contains(said, "Question") {
			t.Errorf("it asks:\n%s", said)
		}
		must(t, os.Chmod(s.folder, 0o755))
		must(t, os.Chmod(filepath.Join(s.folder, "sub"), 0o755))
		s.untouched("after it could not be written")
	})
}
