//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// A process died with a file in hand, and its journal does not tell any more. Whatever else is unknown, the file in the
// private folder is put back, or named.
func TestReconcileRescues(t *testing.T) {
	t.Parallel()
	gone := func(f *fixture) { must(f.t, os.Remove(f.journalFile())) }
	held := []string{".earshot-tc_1/0"}
	rows := []struct {
		name    string
		then    func(f *fixture, args *files.DeleteArgs)
		unclear []string
		tree    []string
	}{
		{
			"the journal is gone",
			func(f *fixture, _ *files.DeleteArgs) { gone(f) },
			nil,
			[]string{"a ---------- same", "sub/b ---------- same"},
		},
		{
			"the journal is damaged",
			func(f *fixture, _ *files.DeleteArgs) { f.appendJournal("damage\n") },
			nil,
			[]string{"a ---------- same", "sub/b ---------- same"},
		},
		{
			"the journal is empty",
			func(f *fixture, _ *files.DeleteArgs) { must(f.t, os.Truncate(f.journalFile(), 0)) },
			nil,
			[]string{"a ---------- same", "sub/b ---------- same"},
		},
		{
			"all journals are gone",
			func(f *fixture, _ *files.DeleteArgs) {
				must(f.t, os.RemoveAll(f.journal))
				must(f.t, os.Mkdir(f.journal, 0o700))
			},
			nil,
			[]string{"a ---------- same", "sub/b ---------- same"},
		},
		{
			"its place is taken",
			func(f *fixture, _ *files.DeleteArgs) {
				gone(f)
				f.write("sub/b", "newer")
			},
			held,
			[]string{".earshot-tc_1/0 ---------- same", "a ---------- same", "sub/b ---------- newer"},
		},
		{
			"its place is gone",
			func(f *fixture, _ *files.DeleteArgs) {
				gone(f)
				must(f.t, os.Remove(f.path("sub")))
			},
			held,
			[]string{".earshot-tc_1/0 ---------- same", "a ---------- same"},
		},
		{
			"its place became a link to outside",
			func(f *fixture, _ *files.DeleteArgs) {
				gone(f)
				must(f.t, os.Remove(f.path("sub")))
				must(f.t, os.Symlink(f.journal, f.path("sub")))
			},
			held,
			[]string{".earshot-tc_1/0 ---------- same", "a ---------- same", "sub L---------"},
		},
		{
			"it is not what the list says",
			func(f *fixture, _ *files.DeleteArgs) {
				gone(f)
				f.write(".earshot-tc_1/0", "SAME")
			},
			held,
			[]string{".earshot-tc_1/0 ---------- SAME", "a ---------- same"},
		},
		{
			"the journal belongs to another list",
			func(_ *fixture, args *files.DeleteArgs) { args.Sets[0].Delete[0] = "c" },
			held,
			[]string{".earshot-tc_1/0 ---------- same", "a ---------- same"},
		},
		{
			"there is more in the folder",
			func(f *fixture, _ *files.DeleteArgs) {
				gone(f)
				f.write(".earshot-tc_1/mine", "mine")
				f.write(".earshot-tc_1/01", "mine")
				f.write(".earshot-tc_1/7/x", "mine")
			},
			[]string{".earshot-tc_1/01", ".earshot-tc_1/7", ".earshot-tc_1/mine"},
			[]string{
				".earshot-tc_1/01 ---------- mine", ".earshot-tc_1/7/x ---------- mine", ".earshot-tc_1/mine ---------- mine",
				"a ---------- same", "sub/b ---------- same",
			},
		},
		{
			"the folder cannot be opened",
			func(f *fixture, _ *files.DeleteArgs) {
				gone(f)
				must(f.t, os.Rename(f.path(".earshot-tc_1"), f.path("was")))
				must(f.t, os.Symlink("was", f.path(".earshot-tc_1")))
			},
			[]string{".earshot-tc_1"},
			[]string{".earshot-tc_1 L---------", "a ---------- same", "was/0 ---------- same"},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("a", "same")
			f.write("sub/b", "same")
			args := f.args(set("same", "a", "sub/b"))
			f.at("moved", "sub/b", func() { panic("crash") })
			f.dies(args)
			row.then(f, &args)
			for range 2 {
				outcome, got, err := f.Reconcile(context.Background(), "tc_1", args)
				if err == nil || outcome != files.Unknown || !slices.Equal(got.Unclear, row.unclear) {
					t.Errorf("reconciled as %v, unclear %q, want %q: %v", outcome, got.Unclear, row.unclear, err)
				}
				if len(row.unclear) > 0 && err != nil && !strings.Contains(err.Error(), ".earshot-tc_1") {
					t.Errorf("the error does not say where: %v", err)
				}
			}
			f.wantTree(row.tree...)
			if len(row.unclear) == 0 {
				f.wantNoPrivate()
			}
			_, err := f.Delete(context.Background(), args, files.CallOptions{Call: "tc_1"})
			wantCode(t, err, files.ErrSecondStart)
		})
	}
}

// The private folder alone proves that a call had begun, whatever its id and the mark say.
func TestReconcileBelievesThePrivateFolder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	call, args := callMade(time.Now()), f.args(set("same", "a", "b"))
	must(t, os.Mkdir(f.path(".earshot-"+call), 0o700))
	for range 2 { // the second time the folder is gone, and the line stays
		outcome, _, err := f.Reconcile(context.Background(), call, args)
		if wantCode(t, err, files.ErrJournal); outcome != files.Unknown {
			t.Errorf("reconciled as %v", outcome)
		}
		if left, _ := filepath.Glob(f.path(".earshot-*")); len(left) != 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// With a whole journal, too, everything in the private folder is put back or named.
func TestReconcileNamesStrays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		f.write(name, "same")
	}
	args := f.args(set("same", "a", "b", "c"))
	f.at("moved", "b", func() { panic("crash") })
	f.dies(args)
	f.write(".earshot-tc_1/mine", "mine")
	must(t, os.Rename(f.path("c"), f.path(".earshot-tc_1/1"))) // the line before its move was lost with the power
	for range 2 {
		outcome, got, err := f.Reconcile(context.Background(), "tc_1", args)
		must(t, err)
		if outcome != files.Done || got.NotReached != 2 || !slices.Equal(got.Unclear, []string{".earshot-tc_1/mine"}) {
			t.Errorf("reconciled as %v %+v", outcome, got)
		}
	}
	f.wantTree(".earshot-tc_1/mine ---------- mine", "a ---------- same", "b ---------- same", "c ---------- same")
}

// A power cut right after the end brings a removed file back into the private folder, and the folder itself.
func TestReconcileLooksBehindTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		f.write(name, "same")
	}
	args := f.args(set("same", "a", "b", "c"))
	f.remove(args.Sets...)
	f.write(".earshot-tc_1/1", "same")
	must(t, os.Chmod(f.path(".earshot-tc_1"), 0o700))
	for range 2 {
		outcome, got, err := f.Reconcile(context.Background(), "tc_1", args)
		must(t, err)
		if outcome != files.Done || got.Deleted != 1 || got.Bytes != 4 || got.NotReached != 1 || len(got.Refused)+len(got.Unclear) != 0 {
			t.Errorf("reconciled as %v %+v", outcome, got)
		}
	}
	f.wantTree("a ---------- same", "c ---------- same")
	f.wantNoPrivate()
}

// Until then, a scan says that a folder was left, and lists nothing in it.
func TestScanTellsAnUnfinishedRemoval(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("sub/b", "same")
	args := f.args(set("same", "a", "sub/b"))
	f.at("moved", "sub/b", func() { panic("crash") })
	f.dies(args)
	got, skipped := f.scanAll(nil)
	if !slices.Equal(got, []files.File{{Path: "a", Size: 4}}) || skipped[files.SkipUnfinished] != 1 || len(skipped) != 1 {
		t.Errorf("found %+v, skipped %v", got, skipped)
	}
	outcome, _, err := f.Reconcile(context.Background(), "tc_1", args)
	must(t, err)
	if got, skipped := f.scanAll(nil); outcome != files.Done || len(got) != 2 || len(skipped) != 0 {
		t.Errorf("after %v found %+v, skipped %v", outcome, got, skipped)
	}
}

// The product's own data may lie in the tree under such a name; it is not an unfinished removal.
func TestScanKnowsTheDataFolder(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	allowed, err := files.Allow(dir)
	must(t, err)
	service, err := files.New(files.Options{Allowed: allowed, Journal: filepath.Join(dir, ".earshot-data")})
	must(t, err)
	page, err := service.Scan(context.Background(), files.ScanArgs{Root: dir})
	must(t, err)
	if page.Skipped[files.SkipPrivate] != 1 || len(page.Skipped) != 1 {
		t.Errorf("skipped %v", page.Skipped)
	}
}
