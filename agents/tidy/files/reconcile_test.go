//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// What somebody does between a crash and the reconciliation is told apart from what the call did.
func TestReconcileLooks(t *testing.T) {
	t.Parallel()
	unlog := func(kind string) func(f *fixture) {
		return func(f *fixture) {
			f.editJournal(func(line string) bool { return !strings.Contains(line, `"k":"`+kind+`"`) })
		}
	}
	rows := []struct {
		name    string
		point   string // of the crash, at b
		then    func(f *fixture)
		want    files.DeleteResult
		tree    []string
		private bool // the private folder has to stay
	}{
		{
			"removed by somebody, never moved", "before",
			func(f *fixture) { must(f.t, os.Remove(f.path("b"))) },
			files.DeleteResult{Unclear: []string{"b"}, NotReached: 1},
			[]string{"a ---------- same", "c ---------- same"},
			false,
		},
		{
			"replaced by somebody, never moved", "before",
			func(f *fixture) {
				f.write("new", "same")
				must(f.t, os.Rename(f.path("new"), f.path("b")))
			},
			files.DeleteResult{Unclear: []string{"b"}, NotReached: 1},
			[]string{"a ---------- same", "b ---------- same", "c ---------- same"},
			false,
		},
		{
			"written by somebody, never moved", "before",
			func(f *fixture) { f.write("b", "SAME") },
			files.DeleteResult{Refused: []files.Refusal{{Path: "b", Code: files.CodeChanged}}, NotReached: 1},
			[]string{"a ---------- same", "b ---------- SAME", "c ---------- same"},
			false,
		},
		{
			"moved, and the place taken", "moved",
			func(f *fixture) { f.write("b", "newer") },
			files.DeleteResult{Refused: []files.Refusal{{Path: "b", Code: files.CodeChanged, Remains: ".earshot-tc_1/0"}}, NotReached: 1},
			[]string{".earshot-tc_1/0 ---------- same", "a ---------- same", "b ---------- newer", "c ---------- same"},
			true,
		},
		{
			"moved, and gone without the last line", "gone", unlog("leave"),
			files.DeleteResult{Unclear: []string{"b"}, NotReached: 1},
			[]string{"a ---------- same", "c ---------- same"},
			false,
		},
		{
			"removed, and a new file in the place", "gone",
			func(f *fixture) { f.write("b", "newer") },
			files.DeleteResult{Deleted: 1, Bytes: 4, NotReached: 1},
			[]string{"a ---------- same", "b ---------- newer", "c ---------- same"},
			false,
		},
		{
			"removed, and a new file got its inode number", "gone",
			func(f *fixture) {
				f.write("b", "newer")
				info, err := os.Lstat(f.path("b"))
				must(f.t, err)
				data, err := os.ReadFile(f.journalFile())
				must(f.t, err)
				ino := fmt.Sprintf(`"ino":%d`, info.Sys().(*syscall.Stat_t).Ino)
				must(f.t, os.WriteFile(f.journalFile(), regexp.MustCompile(`"ino":\d+`).ReplaceAll(data, []byte(ino)), 0o600))
			},
			files.DeleteResult{Deleted: 1, Bytes: 4, NotReached: 1},
			[]string{"a ---------- same", "b ---------- newer", "c ---------- same"},
			false,
		},
		{
			"put back, and removed by somebody", "restored",
			func(f *fixture) { must(f.t, os.Remove(f.path("b"))) },
			files.DeleteResult{Refused: []files.Refusal{{Path: "b", Code: files.CodeChanged}}, NotReached: 1},
			[]string{"c ---------- same"},
			false,
		},
		{
			"the last line is torn", "gone",
			func(f *fixture) { f.appendJournal(`{"k":"after","n":0,"by`) },
			files.DeleteResult{Deleted: 1, Bytes: 4, NotReached: 1},
			[]string{"a ---------- same", "c ---------- same"},
			false,
		},
		{
			"a power cut brings the file back", "gone",
			func(f *fixture) {
				f.appendJournal(`{"k":"after","bytes":4}` + "\n")
				must(f.t, os.WriteFile(f.path(".earshot-tc_1/0"), []byte("same"), 0o600))
			},
			files.DeleteResult{NotReached: 2},
			[]string{"a ---------- same", "b ---------- same", "c ---------- same"},
			false,
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for _, name := range []string{"a", "b", "c"} {
				f.write(name, "same")
			}
			args := f.args(set("same", "a", "b", "c"))
			f.OnStep(func(point, path string) {
				if path == "b" && point == row.point {
					panic("crash")
				}
			})
			if row.point == "restored" {
				f.OnStep(f.restoredThenDead())
			}
			f.dies(args)
			row.then(f)
			for range 2 {
				outcome, got, err := f.Reconcile(context.Background(), "tc_1", args)
				must(t, err)
				f.wantRest(args, got)
				if outcome != files.Done || got.Deleted != row.want.Deleted || got.Bytes != row.want.Bytes || got.NotReached != row.want.NotReached ||
					!slices.Equal(got.Refused, row.want.Refused) || !slices.Equal(got.Unclear, row.want.Unclear) {
					t.Errorf("reconciled as %v %+v, want %+v", outcome, got, row.want)
				}
			}
			f.wantTree(row.tree...)
			if !row.private {
				f.wantNoPrivate()
			}
		})
	}
}

// restoredThenDead loses the survivor of b, lets b be put back, and dies before the line about it is written.
func (f *fixture) restoredThenDead() func(point, path string) {
	return func(point, path string) {
		if point == "moved" && path == "b" {
			must(f.t, os.Remove(f.path("a")))
		}
		if point == "restoring" {
			must(f.t, os.Rename(f.path(".earshot-tc_1/0"), f.path("b")))
			panic("crash")
		}
	}
}

func (f *fixture) journalFile() string { return filepath.Join(f.journal, "tc_1.jsonl") }

func (f *fixture) editJournal(keep func(line string) bool) {
	f.t.Helper()
	data, err := os.ReadFile(f.journalFile())
	must(f.t, err)
	var kept strings.Builder
	for line := range strings.Lines(string(data)) {
		if keep(line) {
			kept.WriteString(line)
		}
	}
	must(f.t, os.WriteFile(f.journalFile(), []byte(kept.String()), 0o600))
}

func (f *fixture) appendJournal(text string) {
	f.t.Helper()
	file, err := os.OpenFile(f.journalFile(), os.O_WRONLY|os.O_APPEND, 0)
	must(f.t, err)
	_, err = file.WriteString(text)
	must(f.t, err)
	must(f.t, file.Close())
}

// A journal that does not tell leads to Unknown, and to nothing else.
func TestReconcileUnknown(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name string
		then func(f *fixture, args *files.DeleteArgs, call *string)
		code files.ErrorCode
	}{
		{"other arguments", func(_ *fixture, args *files.DeleteArgs, _ *string) { args.Sets[0].Survivor = "c" }, files.ErrJournal},
		{"another call's journal", func(f *fixture, _ *files.DeleteArgs, call *string) {
			*call = "tc_2"
			must(f.t, os.Rename(f.journalFile(), filepath.Join(f.journal, "tc_2.jsonl")))
		}, files.ErrJournal},
		{"no call", func(_ *fixture, _ *files.DeleteArgs, call *string) { *call = "a/b" }, files.ErrBadArgs},
		{"a damaged line", func(f *fixture, _ *files.DeleteArgs, _ *string) {
			f.appendJournal("damage\n{\"k\":\"end\"}\n")
		}, files.ErrJournal},
		{"a line of the future", func(f *fixture, _ *files.DeleteArgs, _ *string) { f.appendJournal("{\"k\":\"later\"}\n") }, files.ErrJournal},
		{"an item beyond the list", func(f *fixture, _ *files.DeleteArgs, _ *string) {
			f.appendJournal("{\"k\":\"after\",\"n\":9}\n")
		}, files.ErrJournal},
		{"no first line", func(f *fixture, _ *files.DeleteArgs, _ *string) {
			f.editJournal(func(line string) bool { return !strings.Contains(line, "begin") })
		}, files.ErrJournal},
		{"an unreadable journal", func(f *fixture, _ *files.DeleteArgs, _ *string) {
			must(f.t, os.Remove(f.journalFile()))
			must(f.t, os.Mkdir(f.journalFile(), 0o700))
		}, files.ErrJournal},
		{"no root", func(f *fixture, _ *files.DeleteArgs, _ *string) {
			must(f.t, os.Rename(f.root, f.root+"-gone"))
		}, files.ErrRootMissing},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for _, name := range []string{"a", "b", "c"} {
				f.write(name, "same")
			}
			args, call := f.args(set("same", "a", "b")), "tc_1"
			f.at("moved", "b", func() { panic("crash") })
			f.dies(args)
			row.then(f, &args, &call)
			outcome, _, err := f.Reconcile(context.Background(), call, args)
			wantCode(t, err, row.code)
			if outcome != files.Unknown {
				t.Errorf("reconciled as %v", outcome)
			}
		})
	}
}

// While the call's process lives, nobody settles it for it, be its journal there or not.
func TestReconcileWhileItRuns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	args := f.args(set("same", "a", "b"))
	f.at("moved", "b", func() {
		for range 2 {
			outcome, got, err := f.Reconcile(context.Background(), "tc_1", args)
			wantCode(t, err, files.ErrBusy)
			if outcome != files.Unknown || len(got.Unclear) != 0 {
				t.Errorf("reconciled as %v %+v", outcome, got)
			}
			must(t, os.RemoveAll(f.journalFile()))
		}
	})
	if got := f.remove(args.Sets...); got.Deleted != 1 {
		t.Errorf("result is %+v", got)
	}
}

func TestOutcomeNames(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[files.Outcome]string{
		files.Unknown: "unknown", files.NotBegun: "not begun", files.Done: "done", 7: "outcome 7",
	} {
		if got := outcome.String(); got != want {
			t.Errorf("%d is %q", int(outcome), got)
		}
	}
}
