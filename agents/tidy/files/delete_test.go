//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

func TestDeleteKeepsOneOfEach(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.write("sub/deep/c", "same")
	f.write("x\ny", "more")
	f.write("z", "more")
	f.write("alone", "alone")
	got := f.remove(set("same", "a", "b", "sub/deep/c"), set("more", "x\ny", "z"))
	if got.Deleted != 3 || got.Bytes != 12 || len(got.Refused) != 0 || len(got.Unclear) != 0 || got.NotReached != 0 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "alone ---------- alone", "x\ny ---------- more")
	f.wantNoPrivate()
}

func TestDeleteRemovesNamesWithNewline(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b\n\"c\t", "same")
	if got := f.remove(set("same", "a", "b\n\"c\t")); got.Deleted != 1 {
		t.Errorf("result is %+v", got)
	}
}

// Each row brings one file into a state in which it must stay.
func TestDeleteRefuses(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		prepare func(f *fixture)
		set     files.Set
		code    files.Code
	}{
		{"vanished", func(f *fixture) { must(f.t, os.Remove(f.path("b"))) }, set("same", "a", "b"), files.CodeVanished},
		{"folder vanished", nil, set("same", "a", "none/b"), files.CodeVanished},
		{"a file where a folder was", nil, set("same", "a", "a/b"), files.CodeVanished},
		{"another size", func(f *fixture) { f.write("b", "samesame") }, set("same", "a", "b"), files.CodeChanged},
		{"another content", func(f *fixture) { f.write("b", "SAME") }, set("same", "a", "b"), files.CodeChanged},
		{"a set of another size", nil, files.Set{SHA256: sum("same"), Size: 5, Survivor: "a", Delete: []string{"b"}}, files.CodeChanged},
		{"a folder", func(f *fixture) { f.swap("b", func(p string) error { return os.Mkdir(p, 0o755) }) }, set("same", "a", "b"), files.CodeNotRegular},
		{"a link", func(f *fixture) { f.swap("b", func(p string) error { return os.Symlink("a", p) }) }, set("same", "a", "b"), files.CodeNotRegular},
		{"a pipe", func(f *fixture) { f.swap("b", func(p string) error { return syscall.Mkfifo(p, 0o600) }) }, set("same", "a", "b"), files.CodeNotRegular},
		{"absolute", nil, set("same", "a", "/etc/hostname"), files.CodeEscapesRoot},
		{"dots", nil, set("same", "a", "../outside"), files.CodeEscapesRoot},
		{"dots inside", nil, set("same", "a", "sub/../b"), files.CodeEscapesRoot},
		{"another spelling", nil, set("same", "a", "./b"), files.CodeEscapesRoot},
		{"the root", nil, set("same", "a", "."), files.CodeEscapesRoot},
		{"no name", nil, set("same", "a", ""), files.CodeEscapesRoot},
		{"a zero byte", nil, set("same", "a", "b\x00"), files.CodeEscapesRoot},
		{"not UTF-8", func(f *fixture) { f.write("b\xff", "same") }, set("same", "a", "b\xff"), files.CodeEscapesRoot},
		{"a folder that is a link", func(f *fixture) {
			f.write("sub/b", "same")
			must(f.t, os.Symlink("sub", f.path("link")))
		}, set("same", "a", "link/b"), files.CodeEscapesRoot},
		{"a link out of the root", func(f *fixture) {
			must(f.t, os.WriteFile(filepath.Join(filepath.Dir(f.root), "b"), []byte("same"), 0o600))
			must(f.t, os.Symlink("..", f.path("out")))
		}, set("same", "a", "out/b"), files.CodeEscapesRoot},
		{"a private folder", func(f *fixture) { f.write(".earshot-tc_0/1", "same") }, set("same", "a", ".earshot-tc_0/1"), files.CodeEscapesRoot},
		{"survivor missing", func(f *fixture) { must(f.t, os.Remove(f.path("a"))) }, set("same", "a", "b"), files.CodeSurvivorMissing},
		{"survivor in no folder", nil, set("same", "none/a", "b"), files.CodeSurvivorMissing},
		{"survivor changed", func(f *fixture) { f.write("a", "SAME") }, set("same", "a", "b"), files.CodeSurvivorChanged},
		{"survivor longer", func(f *fixture) { f.write("a", "same same") }, set("same", "a", "b"), files.CodeSurvivorChanged},
		{"survivor is a link", func(f *fixture) { f.swap("a", func(p string) error { return os.Symlink("b", p) }) }, set("same", "a", "b"), files.CodeSurvivorChanged},
		{"survivor is a pipe", func(f *fixture) { f.swap("a", func(p string) error { return syscall.Mkfifo(p, 0o600) }) }, set("same", "a", "b"), files.CodeSurvivorChanged},
		{"survivor is the file itself", nil, set("same", "b", "b"), files.CodeSurvivorChanged},
		{"survivor is another name of it", func(f *fixture) {
			f.swap("b", func(p string) error { return os.Link(f.path("a"), p) })
		}, set("same", "a", "b"), files.CodeSurvivorChanged},
		{"survivor outside", func(f *fixture) {
			must(f.t, os.WriteFile(filepath.Join(filepath.Dir(f.root), "keep"), []byte("same"), 0o600))
		}, set("same", "../keep", "b"), files.CodeEscapesRoot},
		{"survivor behind a link", func(f *fixture) {
			f.write("sub/a", "same")
			must(f.t, os.Symlink("sub", f.path("link")))
		}, set("same", "link/a", "b"), files.CodeEscapesRoot},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("a", "same")
			f.write("b", "same")
			if row.prepare != nil {
				row.prepare(f)
			}
			f.OnStep(func(point, path string) {
				if path == "" {
					return
				}
				t.Errorf("came to %q: what is wrong from the start is not even moved", point)
			})
			rest := func() []string {
				return slices.DeleteFunc(tree(t, filepath.Dir(f.root)), func(line string) bool { return strings.HasPrefix(line, "journal/") })
			}
			before := rest()
			f.wantRefused(f.remove(row.set), row.set.Delete[0], row.code)
			after := rest()
			if !slices.Equal(before, after) {
				t.Errorf("tree was\n%q\nis\n%q", before, after)
			}
		})
	}
}

// A survivor that was read for one file is still compared with each further one.
func TestDeleteRefusesTheSurvivorsOtherName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	must(t, os.Link(f.path("a"), f.path("c")))
	f.OnStep(func(point, path string) {
		if path == "c" {
			t.Errorf("c came to %q", point)
		}
	})
	got := f.remove(set("same", "a", "b", "c"))
	if got.Deleted != 1 || !slices.Equal(got.Refused, []files.Refusal{{Path: "c", Code: files.CodeSurvivorChanged}}) {
		t.Errorf("result is %+v", got)
	}
}

// swap puts something else in a file's place.
func (f *fixture) swap(name string, with func(path string) error) {
	f.t.Helper()
	must(f.t, os.Remove(f.path(name)))
	must(f.t, with(f.path(name)))
}

func TestDeleteRefusesOtherFilesystem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.MoveRootToOtherDevice()
	f.wantRefused(f.remove(set("same", "a", "b")), "b", files.CodeEscapesRoot)
}

// Without a survivor that the call leaves alone, the whole group would go.
func TestDeleteRefusesSurvivorOnAnyList(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	got := f.remove(set("same", "a", "b"), set("same", "b", "a"))
	want := []files.Refusal{{Path: "b", Code: files.CodeSurvivorChanged}, {Path: "a", Code: files.CodeSurvivorChanged}}
	if got.Deleted != 0 || !slices.Equal(got.Refused, want) {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "b ---------- same")
}

func TestDeleteCountsNoBytesForAFurtherName(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	must(t, os.Link(f.path("b"), f.path("c")))
	if got := f.remove(set("same", "a", "b")); got.Deleted != 1 || got.Bytes != 0 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "c ---------- same")
}

func TestDeleteRefusesBadArguments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	good := set("same", "a", "b")
	upper, short, empty := good, good, good
	upper.SHA256 = strings.ToUpper(good.SHA256)
	short.SHA256 = "ab"
	empty.Size = 0
	rows := []struct {
		name string
		call string
		set  files.Set
	}{
		{"upper case", "tc_1", upper},
		{"short sum", "tc_1", short},
		{"no size", "tc_1", empty},
		{"no call", "", good},
		{"a call that is a path", "../tc_1", good},
	}
	for _, row := range rows {
		got, err := f.Delete(context.Background(), f.args(row.set), files.CallOptions{Call: row.call})
		failure := failureOf(t, err, files.ErrBadArgs)
		if got.NotReached != 1 || failure.Effect {
			t.Errorf("%s: result is %+v, effect %v", row.name, got, failure.Effect)
		}
	}
	if left, err := filepath.Glob(filepath.Join(f.journal, "*.jsonl")); len(left) != 0 || err != nil {
		t.Errorf("journals were made: %q", left)
	}
}

func TestDeleteStartsOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.remove(set("same", "a", "b"))
	f.write("b", "same")
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
	if failure := failureOf(t, err, files.ErrSecondStart); failure.SafeToRetry() || got.NotReached != 1 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "b ---------- same")
}

// A reconciliation that comes before the first line is written decides that nothing has begun; then nothing may begin.
func TestDeleteGivesWayToAReconciliation(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	args := f.args(set("same", "a", "b"))
	f.OnStep(func(point, _ string) {
		if point != "journal" {
			t.Errorf("came to %q", point)
		}
		outcome, _, err := f.Reconcile(context.Background(), "tc_1", args)
		if outcome != files.NotBegun || err != nil {
			t.Errorf("reconciled as %v, %v", outcome, err)
		}
	})
	_, err := f.Delete(context.Background(), args, files.CallOptions{Call: "tc_1"})
	wantCode(t, err, files.ErrSecondStart)
	f.wantTree("a ---------- same", "b ---------- same")
}

func TestDeleteChecksTheClockOnceBeforeTheFirstEffect(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		f.write(name, "same")
	}
	must(t, os.Remove(f.path("b"))) // refused, so no effect yet
	asked := 0
	f.OnStep(func(point, path string) {
		if (point == "before" || point == "moved") && asked != 1 {
			t.Errorf("%s of %s, and the clock was asked %d times", point, path, asked)
		}
	})
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "b", "c", "d")), files.CallOptions{
		Call: "tc_1", Before: func() error { asked++; f.wantNoPrivate(); return nil },
	})
	must(t, err)
	if got.Deleted != 2 || asked != 1 {
		t.Errorf("result is %+v, asked %d times", got, asked)
	}
}

func TestDeleteTooLate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	call := callMade(time.Now())
	late := errors.New("start_by has passed")
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{
		Call: call, Before: func() error { return late },
	})
	failure := failureOf(t, err, files.ErrTooLate)
	if !errors.Is(err, late) || failure.Effect || failure.SafeToRetry() || got.NotReached != 1 || got.Deleted != 0 {
		t.Errorf("result is %+v, error %v", got, err)
	}
	f.wantTree("a ---------- same", "b ---------- same")
	f.wantNoPrivate()
	if outcome, _, err := f.Reconcile(context.Background(), call, f.args(set("same", "a", "b"))); outcome != files.NotBegun || err != nil {
		t.Errorf("outcome is %v, %v", outcome, err)
	}
}

func TestDeleteReachesItsPoints(t *testing.T) {
	t.Parallel()
	for count, middle := range map[int]int{1: 1, 2: 1, 5: 3} {
		f := newFixture(t)
		f.write("a", "same")
		names := []string{"b", "c", "d", "e", "f"}[:count]
		for _, name := range names {
			f.write(name, "same")
		}
		var points []string
		_, err := f.Delete(context.Background(), f.args(set("same", "a", names...)), files.CallOptions{
			Call: "tc_1", Reached: func(point string) {
				points = append(points, point)
				gone := 0
				for _, name := range names {
					if f.content(name) == "(none)" {
						gone++
					}
				}
				if want := map[string]int{"delete.middle": middle, "delete.done": count}[point]; gone != want {
					t.Errorf("at %s %d of %d are gone, want %d", point, gone, count, want)
				}
			},
		})
		must(t, err)
		if !slices.Equal(points, []string{"delete.middle", "delete.done"}) {
			t.Errorf("points are %q", points)
		}
	}
}

func TestDeleteReportsProgress(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.write("c", "diff")
	var last, end int64
	_, err := f.Delete(context.Background(), f.args(set("same", "a", "b", "c")), files.CallOptions{
		Call: "tc_1", Progress: func(done, total int64) {
			if done <= last || done > total {
				t.Errorf("progress from %d to %d of %d", last, done, total)
			}
			last, end = done, total
		},
	})
	must(t, err)
	if last != 16 || end != 16 {
		t.Errorf("progress ended at %d of %d", last, end)
	}
}

// A stop in the middle of an item puts its file back; what went before is counted exactly.
func TestDeleteStops(t *testing.T) {
	t.Parallel()
	rows := []struct {
		point   string
		deleted int
	}{{"checked", 1}, {"before", 1}, {"moved", 1}, {"read", 1}, {"leaving", 1}, {"gone", 2}}
	for _, row := range rows {
		t.Run(row.point, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for _, name := range []string{"a", "b", "c", "d"} {
				f.write(name, "same")
			}
			ctx, cancel := context.WithCancel(context.Background())
			f.OnStep(func(point, path string) {
				if path == "c" && point == row.point {
					cancel()
				}
			})
			args := f.args(set("same", "a", "b", "c", "d"))
			got, err := f.Delete(ctx, args, files.CallOptions{Call: "tc_1"})
			failure := failureOf(t, err, files.ErrStopped)
			if !errors.Is(err, context.Canceled) || !failure.Effect {
				t.Errorf("error is %v, effect %v", err, failure.Effect)
			}
			if got.Deleted != row.deleted || got.NotReached != 3-row.deleted || len(got.Refused)+len(got.Unclear) != 0 {
				t.Errorf("result is %+v", got)
			}
			if row.deleted == 1 {
				f.wantTree("a ---------- same", "c ---------- same", "d ---------- same")
			} else {
				f.wantTree("a ---------- same", "d ---------- same")
			}
			f.wantNoPrivate()
			outcome, again, err := f.Reconcile(context.Background(), "tc_1", args)
			if outcome != files.Done || err != nil || again.Deleted != got.Deleted || again.NotReached != got.NotReached {
				t.Errorf("reconciled as %v %+v %v", outcome, again, err)
			}
			for _, rest := range [][]files.Span{got.Rest, again.Rest} {
				if want := (files.Span{From: row.deleted, To: 3}); len(rest) != 1 || rest[0] != want {
					t.Errorf("the rest is %v, want %v", rest, want)
				}
			}
		})
	}
}
