package command_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// needs ends the test if one of several steps has failed.
func needs(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// replace puts another file in the place of one, as an installer does.
func replace(path, lines string) error {
	return errors.Join(writeScript(path+".new", lines), os.Rename(path+".new", path))
}

// TestChangedSinceReview: a program that is another one when the call starts does not run, whatever was done to it; one that was
// only touched does.
func TestChangedSinceReview(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(t *testing.T, program, dir string) error
		want   string // "" runs
	}{
		{"untouched", func(*testing.T, string, string) error { return nil }, ""},
		{"touched", func(_ *testing.T, program, _ string) error {
			return os.Chtimes(program, time.Time{}, time.Unix(1e9, 0))
		}, ""},
		{"replaced by the same", func(_ *testing.T, program, _ string) error { return replace(program, "echo reviewed") }, ""},
		{"replaced", func(_ *testing.T, program, _ string) error { return replace(program, "echo swapped!") }, "program changed since review."},
		{"written", func(_ *testing.T, program, _ string) error { return writeScript(program, "echo swapped!") }, "program changed since review."},
		{"written, with the old time", func(t *testing.T, program, _ string) error {
			t.Helper()
			info, err := os.Stat(program)
			needs(t, err)
			return errors.Join(writeScript(program, "echo rewriten"), os.Chtimes(program, time.Time{}, info.ModTime()))
		}, "program changed since review."},
		{"one byte more", func(_ *testing.T, program, _ string) error { return writeScript(program, "echo reviewed ") }, "program changed since review."},
		{"a link to another", func(_ *testing.T, program, dir string) error {
			return errors.Join(writeScript(filepath.Join(dir, "other"), "echo swapped!"), os.Remove(program), os.Symlink("other", program))
		}, "program changed since review."},
		{"with rights of its own", func(_ *testing.T, program, _ string) error {
			return chmod(program, 0o755|os.ModeSetuid)
		}, "program changed since review."},
		{"gone", func(_ *testing.T, program, _ string) error { return os.Remove(program) }, "there is no "},
		{"a folder", func(_ *testing.T, program, _ string) error {
			return errors.Join(os.Remove(program), os.Mkdir(program, 0o755))
		}, "is not a program"},
		{"a pipe", func(_ *testing.T, program, _ string) error {
			return errors.Join(os.Remove(program), syscall.Mkfifo(program, 0o755))
		}, "is not a program"},
		{"its group may write", func(_ *testing.T, program, _ string) error { return chmod(program, 0o775) }, "its group can change the program"},
		{"everybody may write", func(_ *testing.T, program, _ string) error { return chmod(program, 0o757) }, "everybody can change the program"},
		{"everybody may write the folder", func(_ *testing.T, _, dir string) error { return chmod(dir, 0o777) }, "everybody can change the folder"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			program := script(t, "echo reviewed")
			made := service(t, parts{program: program, class: "irreversible"}, nil)
			needs(t, row.change(t, program, filepath.Dir(program)))
			got := call(within(t), t, made, `{}`)
			if row.want == "" {
				if got.text != "reviewed\n" || got.err != nil {
					t.Errorf("it said %q, %v", got.text, got.err)
				}
				return
			}
			if got.text != "" || got.err == nil || got.err.Code != utp.CodeChangedSinceReview || !got.err.IsUntouched() || got.status == utp.StatusSuccess {
				t.Fatalf("%s, %q, %v", got.status, got.text, got.err)
			}
			for _, want := range []string{row.want, "changed since review", "Nothing was run.", "`earshot tools review desk.do`"} {
				if !strings.Contains(got.err.Message, want) {
					t.Errorf("the error says %q, without %q", got.err.Message, want)
				}
			}
		})
	}
}

// TestChangedAfterACall: the same between two calls, and a program that is put back runs again.
func TestChangedAfterACall(t *testing.T) {
	t.Parallel()
	program := script(t, "echo reviewed")
	made := service(t, parts{program: program}, nil)
	for _, row := range []struct{ lines, want string }{{"echo reviewed", "reviewed\n"}, {"echo swapped!", ""}, {"echo reviewed", "reviewed\n"}} {
		needs(t, replace(program, row.lines))
		got := call(within(t), t, made, `{}`)
		if got.text != row.want || (got.err == nil) != (row.want != "") {
			t.Errorf("with %q it said %q, %v", row.lines, got.text, got.err)
		}
	}
}

// TestChangedWhileItRuns: what runs is a private copy. A shell reads its script as it goes, and would go on with the lines that
// were written meanwhile.
func TestChangedWhileItRuns(t *testing.T) {
	t.Parallel()
	dir := ownFolder(t)
	begun, goOn := filepath.Join(dir, "begun"), filepath.Join(dir, "go-on")
	needs(t, syscall.Mkfifo(begun, 0o600), syscall.Mkfifo(goOn, 0o600))
	lines := "echo >" + begun + "\nread x <" + goOn + "\necho reviewed"
	program := script(t, lines)
	made := service(t, parts{program: program}, nil)
	swapped := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(begun)
		err = errors.Join(err, writeScript(program, strings.Replace(lines, "echo reviewed", "echo swapped!", 1)))
		swapped <- errors.Join(err, os.WriteFile(goOn, []byte("\n"), 0o600))
	}()
	if got := call(within(t), t, made, `{}`); got.text != "reviewed\n" {
		t.Errorf("it said %q, %v", got.text, got.err)
	}
	needs(t, <-swapped)
}

// copiesIn are the files below a folder of private copies that are not links and no folders.
func copiesIn(t *testing.T, private string) []string {
	t.Helper()
	var found []string
	needs(t, filepath.WalkDir(private, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			found = append(found, path)
		}
		return err
	}))
	return found
}

// TestCopyIsChecked: a copy that is not what was bound is made again, and does not run.
func TestCopyIsChecked(t *testing.T) {
	t.Parallel()
	private := filepath.Join(ownFolder(t), "private")
	made := serviceAt(t, parts{program: script(t, "echo reviewed")}, nil, private)
	call(within(t), t, made, `{}`)
	copies := copiesIn(t, private)
	if len(copies) != 1 {
		t.Fatalf("the copies are %q", copies)
	}
	needs(t, chmod(copies[0], 0o700), writeScript(copies[0], "echo swapped!"))
	if got := call(within(t), t, made, `{}`); got.text != "reviewed\n" {
		t.Errorf("it said %q, %v", got.text, got.err)
	}
}

// TestCopiesArePrivate: nobody else can enter the folder of the copies, nobody writes to a copy, and they go with the service. What a
// process that was killed has left is removed by the next, and what another one uses stays.
func TestCopiesArePrivate(t *testing.T) {
	t.Parallel()
	private := filepath.Join(ownFolder(t), "private")
	left, used := filepath.Join(private, "earshot-programs-left"), filepath.Join(private, "earshot-programs-used")
	needs(t, os.MkdirAll(filepath.Join(left, "usr"), 0o700), os.Mkdir(used, 0o700), os.Chmod(filepath.Join(left, "usr"), 0o500))
	held, err := os.Open(used)
	needs(t, err)
	defer func() { _ = held.Close() }()
	needs(t, syscall.Flock(int(held.Fd()), syscall.LOCK_EX))
	s, err := loadAt(parts{program: script(t, "echo reviewed")}.file(), nil, private)
	needs(t, err)
	call(within(t), t, s.Tools()[0], `{}`)
	folders, err := filepath.Glob(filepath.Join(private, "*"))
	needs(t, err)
	if len(folders) != 2 {
		t.Errorf("there are %q", folders)
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", folder, info, err)
		}
	}
	for _, file := range copiesIn(t, private) {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o500 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
		if info, err := os.Stat(filepath.Dir(file)); err != nil || info.Mode().Perm() != 0o500 {
			t.Errorf("the folder of %s: %v, %v", file, info.Mode(), err)
		}
	}
	s.Close()
	folders, err = filepath.Glob(filepath.Join(private, "*"))
	if needs(t, err); len(folders) != 1 || folders[0] != used {
		t.Errorf("after the end there are %q", folders)
	}
	// A service that is used again makes them again.
	if got := call(within(t), t, s.Tools()[0], `{}`); got.text != "reviewed\n" {
		t.Errorf("it said %q, %v", got.text, got.err)
	}
	s.Close()
}

// TestNoPlaceForCopies: where no copy can be made, or others could put another one in its place, nothing runs, and the error says why.
func TestNoPlaceForCopies(t *testing.T) {
	t.Parallel()
	dir := ownFolder(t)
	file, open := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	needs(t, os.WriteFile(file, nil, 0o600), os.Mkdir(open, 0o700), chmod(open, 0o777))
	for private, want := range map[string]string{
		file: "a part of " + file + " is not a folder", filepath.Join(open, "below"): "everybody can change the folder " + open,
	} {
		got := call(within(t), t, serviceAt(t, parts{program: script(t, "echo reviewed")}, nil, private), `{}`)
		if got.text != "" || got.err == nil || got.err.Code != utp.CodeUpstreamUnavailable || !got.err.IsUntouched() ||
			!strings.Contains(got.err.Message, "was not run: no private copy of it can be made: "+want) {
			t.Errorf("%s: %q, %v", private, got.text, got.err)
		}
	}
}

// TestScriptFindsItsNeighbours: $0 ends in the path of the script, and leads to what lies beside it and beside the folders above it,
// also to what has come there since, and also where the program is a link.
func TestScriptFindsItsNeighbours(t *testing.T) {
	t.Parallel()
	dir := ownFolder(t)
	program := filepath.Join(dir, "app", "bin", "tool")
	needs(t, os.MkdirAll(filepath.Join(dir, "app", "bin"), 0o755), os.MkdirAll(filepath.Join(dir, "app", "share"), 0o755), os.Mkdir(filepath.Join(dir, "links"), 0o755),
		writeScript(filepath.Join(dir, "app", "bin", "lib.sh"), "greet() { echo \"hello $1\"; }"),
		os.WriteFile(filepath.Join(dir, "app", "share", "words"), []byte("shared\n"), 0o600),
		os.Symlink("../app/bin/tool", filepath.Join(dir, "links", "other-name")), os.Symlink("links", filepath.Join(dir, "way")),
		writeScript(program, `. "$(dirname "$(readlink -f "$0")")/lib.sh"
greet "$(basename "$0")"
cat "$(dirname "$(readlink -f "$0")")/../share/words"
cat "$(dirname "$0")/later" 2>/dev/null
cat "$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd -P)/share/words"
echo "$EARSHOT_PROGRAM"
case "$0" in *"$EARSHOT_PROGRAM"|*/links/other-name) echo named;; *) echo "$0";; esac`))
	direct, linked := service(t, parts{program: program}, nil), service(t, parts{program: filepath.Join(dir, "way", "other-name")}, nil)
	for _, later := range []string{"", "later\n"} {
		if later != "" {
			needs(t, os.WriteFile(filepath.Join(dir, "app", "bin", "later"), []byte(later), 0o600), os.WriteFile(filepath.Join(dir, "links", "later"), []byte(later), 0o600))
		}
		for _, row := range []struct{ got, want string }{
			{call(within(t), t, direct, `{}`).text, "hello tool\nshared\n" + later + "shared\n" + program + "\nnamed\n"},
			{call(within(t), t, linked, `{}`).text, "hello other-name\nshared\n" + later + "shared\n" + filepath.Join(dir, "way", "other-name") + "\nnamed\n"},
		} {
			if row.got != row.want {
				t.Errorf("it said\n%swant\n%s", row.got, row.want)
			}
		}
	}
}

// TestSeveralAtOnce: the first calls of a program may come together, and a program may start another one of the same file that was
// never called itself.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	dir := ownFolder(t)
	needs(t, writeScript(filepath.Join(dir, "first"), `"$(dirname "$0")/second"`), writeScript(filepath.Join(dir, "second"), "echo second"))
	text := parts{program: filepath.Join(dir, "first")}.file() + "    - {tool: desk.second, description: Do it., class: read, program: " + filepath.Join(dir, "second") + ", argv: []}\n"
	s, err := loadAt(text, nil, filepath.Join(ownFolder(t), "private"))
	needs(t, err)
	t.Cleanup(s.Close)
	for round := range 2 {
		var calls sync.WaitGroup
		for i := range 8 {
			calls.Go(func() {
				if got := call(within(t), t, s.Tools()[i%(round+1)], `{}`); got.text != "second\n" || got.err != nil {
					t.Errorf("call %d said %q, %v", i, got.text, got.err)
				}
			})
		}
		calls.Wait()
	}
}

// TestScriptWritesNothingBesideItself: what a script wrote beside its copy would be lost, so it is refused.
func TestScriptWritesNothingBesideItself(t *testing.T) {
	t.Parallel()
	program := script(t, `touch "$(dirname "$0")/state" && echo written; ls -ld "$(dirname "$0")" | cut -c1-10`)
	got := call(within(t), t, service(t, parts{program: program}, nil), `{}`)
	want := "dr-x------\n"
	if os.Geteuid() == 0 {
		want = "written\n" + want // whom no mode keeps from anything
	}
	if got.text != want {
		t.Errorf("it said %q, %q", got.text, got.Errors)
	}
}

// TestBinaryFindsItsNeighbours: a binary is called by its own path, and finds by the system's word on it what lies beside it.
func TestBinaryFindsItsNeighbours(t *testing.T) {
	t.Parallel()
	if os.Getenv("EARSHOT_TEST_NEIGHBOUR") != "" {
		own, err := os.Executable()
		raw, rerr := os.ReadFile(filepath.Join(filepath.Dir(own), "..", "share", "words"))
		needs(t, err, rerr, os.WriteFile(os.Getenv("EARSHOT_TEST_NEIGHBOUR"), []byte(os.Args[0]+" "+string(raw)), 0o600))
		return
	}
	dir := ownFolder(t)
	program, out := filepath.Join(dir, "bin", "checker"), filepath.Join(dir, "out")
	raw, err := os.ReadFile(os.Args[0])
	needs(t, err, os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Mkdir(filepath.Join(dir, "share"), 0o755),
		os.WriteFile(program, raw, 0o755), os.WriteFile(filepath.Join(dir, "share", "words"), []byte("shared"), 0o600))
	p := parts{program: program, argv: "[-test.run=^TestBinaryFindsItsNeighbours$]", more: "environment: {EARSHOT_TEST_NEIGHBOUR: " + out + "}\n"}
	got := call(within(t), t, service(t, p, nil), `{}`)
	mapped, err := os.ReadFile(out)
	if err != nil || string(mapped) != program+" shared" || got.err != nil {
		t.Errorf("it said %q, %v, %v", mapped, err, got.err)
	}
}

// TestProgramWithRightsOfItsOwn: a copy would lose them, so the file itself runs, and is read at each call.
func TestProgramWithRightsOfItsOwn(t *testing.T) {
	t.Parallel()
	program := script(t, `echo "$0"`)
	needs(t, chmod(program, 0o755|os.ModeSetuid))
	made := service(t, parts{program: program}, nil)
	if got := call(within(t), t, made, `{}`); got.text != program+"\n" {
		t.Errorf("it said %q, %v", got.text, got.err)
	}
	needs(t, writeScript(program, "echo swapped!"), chmod(program, 0o755|os.ModeSetuid))
	if got := call(within(t), t, made, `{}`); got.text != "" || got.err == nil || got.err.Code != utp.CodeChangedSinceReview {
		t.Errorf("it said %q, %v", got.text, got.err)
	}
}

// TestProgramIsInItsDefinition: people can read which program was bound.
func TestProgramIsInItsDefinition(t *testing.T) {
	t.Parallel()
	program := script(t, "echo reviewed")
	sum, err := exec.Command("sha256sum", program).Output()
	needs(t, err)
	got := settings.ProgramOf(service(t, parts{program: program}, nil).Definition)
	if want := (settings.Program{Path: program, SHA256: strings.Fields(string(sum))[0]}); got != want {
		t.Errorf("bound is %+v, want %+v", got, want)
	}
}

// TestNotStarted: why a program was not started is said in words, without the private copy's name.
func TestNotStarted(t *testing.T) {
	t.Parallel()
	dir := ownFolder(t)
	for name, row := range map[string]struct{ content, want string }{
		"no interpreter": {"#!/nowhere/sh\n", "the interpreter that its first line names is not there"},
		"no program":     {"echo\n", "it is not a program for this machine"},
	} {
		program := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		needs(t, os.WriteFile(program, []byte(row.content), 0o755))
		got := call(within(t), t, service(t, parts{program: program}, nil), `{}`)
		if got.err == nil || !got.err.IsUntouched() || !strings.HasPrefix(got.err.Message, program+" did not start: "+row.want) {
			t.Errorf("%s: %v", name, got.err)
		}
	}
}
