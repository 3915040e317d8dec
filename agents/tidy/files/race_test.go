//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// at runs an action once, when the removal of the file comes to the point.
func (f *fixture) at(point, path string, act func()) {
	f.OnStep(func(p, at string) {
		if act != nil && p == point && at == path {
			now := act
			act = nil
			now()
		}
	})
}

// Somebody works in the tree while a file is removed. "kept" is where a file has to wait because its place is taken.
func TestDeleteRaces(t *testing.T) {
	t.Parallel()
	replace := func(f *fixture, name, content string) {
		f.write("new", content)
		must(f.t, os.Rename(f.path("new"), f.path(name)))
	}
	rows := []struct {
		name  string
		point string
		act   func(f *fixture)
		code  files.Code
		kept  string
		tree  []string
	}{
		{
			"replaced by other content", "before",
			func(f *fixture) { replace(f, "b", "mine") },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b ---------- mine", "sub/x ---------- same"},
		},
		{
			"replaced by equal content", "before",
			func(f *fixture) { replace(f, "b", "same") },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b ---------- same", "sub/x ---------- same"},
		},
		{
			"replaced by a link", "before",
			func(f *fixture) { f.swap("b", func(p string) error { return os.Symlink("a", p) }) },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b L---------", "sub/x ---------- same"},
		},
		{
			"replaced by a link to outside", "before",
			func(f *fixture) { f.swap("b", func(p string) error { return os.Symlink("../outside", p) }) },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b L---------", "sub/x ---------- same"},
		},
		{
			"replaced by a pipe", "before",
			func(f *fixture) { f.swap("b", func(p string) error { return syscall.Mkfifo(p, 0o600) }) },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b p---------", "sub/x ---------- same"},
		},
		{
			"replaced by a folder", "before",
			func(f *fixture) {
				must(f.t, os.Remove(f.path("b")))
				f.write("b/inner", "mine")
			},
			files.CodeChanged, "",
			[]string{"a ---------- same", "b/inner ---------- mine", "sub/x ---------- same"},
		},
		{
			"removed", "before",
			func(f *fixture) { must(f.t, os.Remove(f.path("b"))) },
			files.CodeVanished, "",
			[]string{"a ---------- same", "sub/x ---------- same"},
		},
		{
			"written before the move", "before",
			func(f *fixture) { f.write("b", "SAME") },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b ---------- SAME", "sub/x ---------- same"},
		},
		{
			"written after the move", "moved",
			func(f *fixture) { must(f.t, os.WriteFile(f.path(".earshot-tc_1/0"), []byte("SAME"), 0o600)) },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b ---------- SAME", "sub/x ---------- same"},
		},
		{
			"written at the last moment", "leaving",
			func(f *fixture) { must(f.t, os.WriteFile(f.path(".earshot-tc_1/0"), []byte("SAME"), 0o600)) },
			files.CodeChanged, "",
			[]string{"a ---------- same", "b ---------- SAME", "sub/x ---------- same"},
		},
		{
			"written, and its place taken", "moved",
			func(f *fixture) {
				must(f.t, os.WriteFile(f.path(".earshot-tc_1/0"), []byte("SAME"), 0o600))
				f.write("b", "newer")
			},
			files.CodeChanged, ".earshot-tc_1/0",
			[]string{".earshot-tc_1/0 ---------- SAME", "a ---------- same", "b ---------- newer", "sub/x ---------- same"},
		},
		{
			"survivor gone, and the place taken", "moved",
			func(f *fixture) {
				must(f.t, os.Remove(f.path("a")))
				f.write("b", "newer")
			},
			files.CodeChanged, ".earshot-tc_1/0",
			[]string{".earshot-tc_1/0 ---------- same", "b ---------- newer", "sub/x ---------- same"},
		},
		{
			"survivor gone before the move", "checked",
			func(f *fixture) { must(f.t, os.Remove(f.path("a"))) },
			files.CodeSurvivorMissing, "",
			[]string{"b ---------- same", "sub/x ---------- same"},
		},
		{
			"survivor gone after the move", "moved",
			func(f *fixture) { must(f.t, os.Remove(f.path("a"))) },
			files.CodeSurvivorMissing, "",
			[]string{"b ---------- same", "sub/x ---------- same"},
		},
		{
			"survivor gone at the last moment", "leaving",
			func(f *fixture) { must(f.t, os.Remove(f.path("a"))) },
			files.CodeSurvivorMissing, "",
			[]string{"b ---------- same", "sub/x ---------- same"},
		},
		{
			"survivor written at the last moment", "leaving",
			func(f *fixture) { f.write("a", "SAME") },
			files.CodeSurvivorChanged, "",
			[]string{"a ---------- SAME", "b ---------- same", "sub/x ---------- same"},
		},
		{
			"survivor becomes a name of the file", "read",
			func(f *fixture) {
				f.swap("a", func(p string) error { return os.Link(f.path(".earshot-tc_1/0"), p) })
			},
			files.CodeSurvivorChanged, "",
			[]string{"a ---------- same", "b ---------- same", "sub/x ---------- same"},
		},
		{
			"survivor becomes a link to the file", "read",
			func(f *fixture) {
				f.swap("a", func(p string) error { return os.Symlink(".earshot-tc_1/0", p) })
			},
			files.CodeSurvivorChanged, "",
			[]string{"a L---------", "b ---------- same", "sub/x ---------- same"},
		},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.write("a", "same")
			f.write("b", "same")
			f.write("sub/x", "same")
			must(t, os.WriteFile(filepath.Join(filepath.Dir(f.root), "outside"), []byte("same"), 0o600))
			f.at(row.point, "b", func() { row.act(f) })
			got := f.remove(set("same", "a", "b"))
			want := []files.Refusal{{Path: "b", Code: row.code, Remains: row.kept}}
			if got.Deleted != 0 || !slices.Equal(got.Refused, want) || len(got.Unclear) != 0 {
				t.Errorf("result is %+v, want %+v", got, want)
			}
			f.wantTree(row.tree...)
			if row.kept == "" {
				f.wantNoPrivate()
			}
			if data, err := os.ReadFile(filepath.Join(filepath.Dir(f.root), "outside")); string(data) != "same" || err != nil {
				t.Errorf("outside holds %q, %v", data, err)
			}
		})
	}
}

// The folder on the way becomes a link to another folder of the root: what is fetched there is not what was checked, and goes back.
func TestDeleteDoesNotFollowAFolderSwappedForALink(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("one/x", "same")
	f.write("two/x", "same")
	f.at("before", "one/x", func() {
		must(t, os.Rename(f.path("one"), f.path("moved")))
		must(t, os.Symlink("two", f.path("one")))
	})
	got := f.remove(set("same", "a", "one/x"))
	want := []files.Refusal{{Path: "one/x", Code: files.CodeChanged, Remains: ".earshot-tc_1/0"}}
	if got.Deleted != 0 || !slices.Equal(got.Refused, want) {
		t.Errorf("result is %+v", got)
	}
	f.wantTree(".earshot-tc_1/0 ---------- same", "a ---------- same", "moved/x ---------- same", "one L---------")
}

// The folder becomes a link to outside: os.Root refuses to go there.
func TestDeleteDoesNotLeaveTheRoot(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	outside := filepath.Join(filepath.Dir(f.root), "outside")
	must(t, os.Mkdir(outside, 0o755))
	must(t, os.WriteFile(filepath.Join(outside, "x"), []byte("same"), 0o600))
	f.write("a", "same")
	f.write("one/x", "same")
	f.write("z", "same")
	f.at("before", "one/x", func() {
		must(t, os.Rename(f.path("one"), f.path("moved")))
		must(t, os.Symlink(outside, f.path("one")))
	})
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "one/x", "z")), files.CallOptions{Call: "tc_1"})
	wantCode(t, err, files.ErrBroken)
	if got.Deleted != 0 || got.NotReached != 2 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "moved/x ---------- same", "one L---------", "z ---------- same")
	if data, err := os.ReadFile(filepath.Join(outside, "x")); string(data) != "same" || err != nil {
		t.Errorf("outside holds %q, %v", data, err)
	}
}

// Two calls that name each other's survivors never remove both files, however they are woven.
func TestDeleteOfEachOthersSurvivors(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"checked", "before", "moved", "read", "leaving"} {
		f := newFixture(t)
		f.write("a", "same")
		f.write("b", "same")
		var second files.DeleteResult
		f.at(point, "b", func() {
			var err error
			second, err = f.Delete(context.Background(), f.args(set("same", "b", "a")), files.CallOptions{Call: "tc_2"})
			must(t, err)
		})
		first := f.remove(set("same", "a", "b"))
		if first.Deleted+second.Deleted > 1 {
			t.Errorf("at %s both went: %+v %+v", point, first, second)
		}
		if f.content("a") != "same" && f.content("b") != "same" {
			t.Errorf("at %s nothing is left", point)
		}
	}
}

// Where a file system has no links, the file goes back by a move, and still over nothing.
func TestDeletePutsBackWithoutLinks(t *testing.T) {
	t.Parallel()
	for _, taken := range []string{"", "by a file", "by an empty file"} {
		f := newFixture(t)
		f.OnLink(func(*os.Root, string, string) error { return syscall.EPERM })
		f.write("a", "same")
		f.write("b", "same")
		f.at("moved", "b", func() {
			must(t, os.Remove(f.path("a")))
			if taken != "" {
				f.write("b", map[string]string{"by a file": "newer"}[taken])
			}
		})
		got := f.remove(set("same", "a", "b"))
		if taken == "" {
			f.wantRefused(got, "b", files.CodeSurvivorMissing)
			f.wantTree("b ---------- same")
			continue
		}
		if got.Refused[0].Remains != ".earshot-tc_1/0" {
			t.Errorf("result is %+v", got)
		}
		f.wantTree(".earshot-tc_1/0 ---------- same", "b ---------- "+f.content("b"))
	}
}

// Somebody takes the file out of the private folder: it is not claimed to be gone, and the call ends.
func TestDeleteReportsAFileTakenFromIt(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		f.write(name, "same")
	}
	f.at("moved", "b", func() { must(t, os.Rename(f.path(".earshot-tc_1/0"), f.path("taken"))) })
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "b", "c")), files.CallOptions{Call: "tc_1"})
	wantCode(t, err, files.ErrPrivateFolder)
	if got.Deleted != 0 || !slices.Equal(got.Unclear, []string{"b"}) || got.NotReached != 1 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "c ---------- same", "taken ---------- same")
}

func TestDeleteRefusesAPrivateFolderThatExists(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	must(t, os.Mkdir(f.path(".earshot-tc_1"), 0o700))
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
	if failure := failureOf(t, err, files.ErrPrivateFolder); failure.Effect || !failure.SafeToRetry() || got.NotReached != 1 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "b ---------- same")
}
