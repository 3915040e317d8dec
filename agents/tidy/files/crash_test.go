//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// A test binary that is told to crash carries out one removal and kills itself at the point: no deferred call runs.
const (
	crashFolder = "FILES_TEST_CRASH_FOLDER"
	crashOp     = "FILES_TEST_CRASH_OP"
	crashPoint  = "FILES_TEST_CRASH_POINT"
	crashPath   = "FILES_TEST_CRASH_PATH"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashFolder); dir != "" {
		crash(dir)
		os.Exit(3) // the point was never reached
	}
	if dir := os.Getenv(limitFolder); dir != "" {
		limited(dir)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func crash(dir string) {
	root := filepath.Join(dir, "root")
	allowed, err := files.Allow(root)
	if err != nil {
		panic(err)
	}
	service, err := files.New(files.Options{
		Allowed: allowed, Journal: filepath.Join(dir, "journal"), HomeTrash: filepath.Join(dir, "home", "Trash"),
	})
	if err != nil {
		panic(err)
	}
	die := func(point, path string) {
		if point == os.Getenv(crashPoint) && (path == "" || path == os.Getenv(crashPath)) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal arrives
		}
		// The survivor goes before the point at which a file is put back.
		if os.Getenv(crashPoint) == "restoring" && point == "moved" && path == os.Getenv(crashPath) {
			_ = os.Rename(filepath.Join(root, "a"), filepath.Join(dir, "a"))
		}
	}
	service.OnStep(die)
	options := files.CallOptions{Call: "tc_1", Reached: func(point string) { die(point, "") }}
	run := service.Delete
	if os.Getenv(crashOp) == "trash" {
		run = service.Trash
	}
	if _, err := run(context.Background(), crashArgs(root), options); err != nil {
		panic(err)
	}
}

// crashArgs has a file in the middle, "c", at which the process dies; "x" is refused.
func crashArgs(root string) files.DeleteArgs {
	return files.DeleteArgs{Root: root, Sets: []files.Set{set("same", "a", "b", "x", "c", "d", "e")}}
}

// crashed runs a removal to its death and returns a service on what it left.
func crashed(t *testing.T, op, point string) *fixture {
	t.Helper()
	dir := tempDir(t)
	f := openFixture(t, dir)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		f.write(name, "same")
	}
	f.write("x", "else")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashFolder+"="+dir, crashOp+"="+op, crashPoint+"="+point, crashPath+"=c")
	out, err := cmd.CombinedOutput()
	exit := &exec.ExitError{}
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process did not die at %s: %v\n%s", point, err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err == nil {
		must(t, os.Rename(filepath.Join(dir, "a"), f.path("a")))
	}
	return f
}

func TestReconcileAfterCrash(t *testing.T) {
	t.Parallel()
	// Of b, x, c, d, e: b was removed and x refused before, d and e come after c, which is in hand.
	rows := []struct {
		point   string
		deleted int
		refused int // x counts once its line was written
		left    int // not reached
	}{
		{"checked", 1, 0, 4},
		{"before", 1, 1, 3},
		{"moved", 1, 1, 3},
		{"read", 1, 1, 3},
		{"leaving", 1, 1, 3},
		{"restoring", 1, 1, 3},
		{"gone", 2, 1, 2},
		{"middle", 2, 1, 2},
		{"done", 4, 1, 0},
	}
	for _, op := range []string{"delete", "trash"} {
		for _, row := range rows {
			t.Run(op+" "+row.point, func(t *testing.T) {
				t.Parallel()
				point := row.point
				if point == "middle" || point == "done" {
					point = op + "." + point
				}
				f := crashed(t, op, point)
				args := crashArgs(f.root)
				var first files.DeleteResult
				for again := range 3 {
					outcome, got, err := f.Reconcile(context.Background(), "tc_1", args)
					must(t, err)
					if outcome != files.Done || got.Deleted != row.deleted || got.Bytes != int64(4*row.deleted) ||
						len(got.Refused) != row.refused || got.NotReached != row.left || len(got.Unclear) != 0 {
						t.Errorf("reconciled as %v %+v", outcome, got)
					}
					if again > 0 && fmt.Sprint(first) != fmt.Sprint(got) {
						t.Errorf("first %+v, then %+v", first, got)
					}
					first = got
				}
				f.wantNoPrivate()
				present := 0
				for _, name := range []string{"b", "c", "d", "e"} {
					if f.content(name) == "same" {
						present++
					}
				}
				if present != 4-row.deleted || f.content("a") != "same" || f.content("x") != "else" {
					t.Errorf("%d of 4 are left, want %d; tree %q", present, 4-row.deleted, tree(t, f.root))
				}
				if op == "trash" {
					f.wantTrashed(row.deleted)
				}
			})
		}
	}
}

// wantTrashed demands as many files as info files, and no more.
func (f *fixture) wantTrashed(count int) {
	f.t.Helper()
	var names, infos []string
	for _, line := range tree(f.t, f.trash) {
		name, _, _ := strings.Cut(line, " -")
		if rest, ok := strings.CutPrefix(name, "files/"); ok {
			names = append(names, rest)
		}
		if rest, ok := strings.CutPrefix(name, "info/"); ok {
			infos = append(infos, strings.TrimSuffix(rest, ".trashinfo"))
		}
	}
	slices.Sort(infos)
	slices.Sort(names)
	if len(names) != count || !slices.Equal(names, infos) {
		f.t.Errorf("trash holds %q with infos %q, want %d", names, infos, count)
	}
}

// A crash before anything was touched leaves a call that may be started.
func TestReconcileNotBegun(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	call := callMade(time.Now())
	args := f.args(set("same", "a", "b"))
	outcome, got, err := f.Reconcile(context.Background(), call, args)
	must(t, err)
	if outcome != files.NotBegun || got.NotReached != 1 {
		t.Errorf("without a journal: %v %+v", outcome, got)
	}
	f.at("checked", "b", func() { panic("crash") })
	f.diesAs(call, args)
	for range 2 {
		outcome, got, err = f.Reconcile(context.Background(), call, args)
		must(t, err)
		if outcome != files.NotBegun || got.NotReached != 1 {
			t.Errorf("after the first line: %v %+v", outcome, got)
		}
	}
	if result, err := f.Delete(context.Background(), args, files.CallOptions{Call: call}); result.Deleted != 1 || err != nil {
		t.Errorf("started again: %+v, %v", result, err)
	}
}

// dies runs a removal that a hook ends by a panic. The lock goes with it, as with a process.
func (f *fixture) dies(args files.DeleteArgs) {
	f.t.Helper()
	f.diesAs("tc_1", args)
}

func (f *fixture) diesAs(call string, args files.DeleteArgs) {
	f.t.Helper()
	defer func() {
		if recover() == nil {
			f.t.Error("the removal did not die")
		}
		f.OnStep(func(string, string) {})
	}()
	_, _ = f.Delete(context.Background(), args, files.CallOptions{Call: call})
}
