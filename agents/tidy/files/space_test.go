//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// However the room is limited, the person hears that there is none, and how to get some.
func TestNoRoomIsSaid(t *testing.T) {
	t.Parallel()
	rows := []struct {
		cause error
		hint  string
		room  bool
	}{
		{syscall.ENOSPC, "make room on the disk", true},
		{syscall.EDQUOT, "quota", true},
		{syscall.EFBIG, "ulimit -f", true},
		{syscall.EIO, "make the folder writable", false},
	}
	for _, row := range rows {
		for _, kind := range []string{"begin", "before", "leave", "end"} {
			f := newFixture(t)
			f.write("a", "same")
			f.write("b", "same")
			f.OnAppend(func(file *os.File, line []byte) error {
				if strings.Contains(string(line), `"k":"`+kind+`"`) {
					return row.cause
				}
				return files.AppendLine(file, line)
			})
			_, err := f.Delete(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
			failure := failureOf(t, err, files.ErrJournal)
			if !errors.Is(err, row.cause) || !strings.Contains(failure.Hint, row.hint) || strings.Contains(failure.Found, "no room is left") != row.room {
				t.Errorf("%v at %q: %v", row.cause, kind, err)
			}
		}
	}
}

// The trash has the same words, and the file goes back.
func TestNoRoomInTheTrash(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.OnLink(func(root *os.Root, from, to string) error {
		if strings.HasPrefix(filepath.Base(to), "b") && strings.Contains(to, "files/") {
			return syscall.EDQUOT
		}
		return root.Link(from, to)
	})
	_, err := f.Trash(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
	if failure := failureOf(t, err, files.ErrBroken); !strings.Contains(failure.Found, "no room is left") || !strings.Contains(failure.Hint, "quota") {
		t.Errorf("error is %v", err)
	}
	f.wantTree("a ---------- same", "b ---------- same")
	f.wantNoPrivate()
}

const limitFolder = "FILES_TEST_LIMIT_FOLDER"

// limited removes files in a process that may not write a longer file than a journal's first lines.
func limited(dir string) {
	allowed, err := files.Allow(filepath.Join(dir, "root"))
	if err != nil {
		panic(err)
	}
	service, err := files.New(files.Options{Allowed: allowed, Journal: filepath.Join(dir, "journal"), HomeTrash: filepath.Join(dir, "home", "Trash")})
	if err != nil {
		panic(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 600, Max: 600}); err != nil {
		panic(err)
	}
	got, err := service.Delete(context.Background(), crashArgs(filepath.Join(dir, "root")), files.CallOptions{Call: "tc_1"})
	_, _ = fmt.Fprintf(os.Stdout, "%d deleted, %d not reached, %d others: %v\n", got.Deleted, got.NotReached, len(got.Refused)+len(got.Unclear), err)
}

// A real limit on the size of a file: the signal that comes with it kills nobody, and the books agree with the tree.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	f := openFixture(t, dir)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		f.write(name, "same")
	}
	f.write("x", "else")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), limitFolder+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"no room is left", "ulimit -f"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the process said %s, want %q", out, want)
		}
	}
	var deleted, notReached int
	if _, err := fmt.Sscanf(string(out), "%d deleted, %d not reached", &deleted, &notReached); err != nil || deleted < 1 || notReached < 1 {
		t.Errorf("the process said %s", out)
	}
	gone := 0
	for _, name := range []string{"b", "c", "d", "e"} {
		if f.content(name) == "(none)" {
			gone++
		}
	}
	outcome, got, err := f.Reconcile(context.Background(), "tc_1", crashArgs(f.root))
	must(t, err)
	if outcome != files.Done || gone != deleted || got.Deleted != deleted || got.Deleted+len(got.Refused)+got.NotReached != 5 {
		t.Errorf("%d are gone of %d, reconciled as %v %+v", gone, deleted, outcome, got)
	}
	f.wantNoPrivate()
}
