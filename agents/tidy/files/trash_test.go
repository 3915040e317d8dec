//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

func (f *fixture) throw(sets ...files.Set) files.DeleteResult {
	f.t.Helper()
	result, err := f.Trash(context.Background(), f.args(sets...), files.CallOptions{Call: "tc_1"})
	must(f.t, err)
	return result
}

// The trash of the home, as a desktop finds it.
func TestTrashHome(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	now := time.Date(2026, 3, 4, 5, 6, 7, 8, time.Local)
	allowed, err := files.Allow(f.root)
	must(t, err)
	f.Service, err = files.New(files.Options{Allowed: allowed, Journal: f.journal, HomeTrash: f.trash, Now: func() time.Time { return now }})
	must(t, err)
	long := strings.Repeat("ü", 120)
	for _, name := range []string{"a", "b", "sub/b", "sub/deep/b", "100% sure;\nü?#[1].txt", long} {
		f.write(name, "same")
	}
	got := f.throw(set("same", "a", "b", "sub/b", "sub/deep/b", "100% sure;\nü?#[1].txt", long))
	if got.Deleted != 5 || got.Bytes != 20 || len(got.Refused)+len(got.Unclear) != 0 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same")
	f.wantNoPrivate()
	f.wantTrashed(5)
	info := func(path string) string {
		return "[Trash Info]\nPath=" + filepath.ToSlash(f.root) + "/" + path + "\nDeletionDate=2026-03-04T05:06:07\n"
	}
	for name, want := range map[string]string{
		"b":                      info("b"),
		"b.2":                    info("sub/b"),
		"b.3":                    info("sub/deep/b"),
		"100% sure;\nü?#[1].txt": info("100%25%20sure;%0A%C3%BC%3F%23%5B1%5D.txt"),
		long[:200]:               info(strings.Repeat("%C3%BC", 120)),
	} {
		data, err := os.ReadFile(filepath.Join(f.trash, "info", name+".trashinfo"))
		must(t, err)
		if string(data) != want {
			t.Errorf("%s: info is %q, want %q", name, data, want)
		}
		if content, err := os.ReadFile(filepath.Join(f.trash, "files", name)); string(content) != "same" || err != nil {
			t.Errorf("%s holds %q, %v", name, content, err)
		}
	}
	if st, err := os.Stat(f.trash); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("trash has mode %v, %v", st.Mode(), err)
	}
}

// Files without info and infos without files keep their names.
func TestTrashOverwritesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	must(t, os.MkdirAll(filepath.Join(f.trash, "files"), 0o700))
	must(t, os.MkdirAll(filepath.Join(f.trash, "info"), 0o700))
	must(t, os.WriteFile(filepath.Join(f.trash, "files", "b"), []byte("old"), 0o600))
	must(t, os.WriteFile(filepath.Join(f.trash, "info", "b.2.trashinfo"), []byte("old"), 0o600))
	if got := f.throw(set("same", "a", "b")); got.Deleted != 1 {
		t.Errorf("result is %+v", got)
	}
	for name, want := range map[string]string{"files/b": "old", "info/b.2.trashinfo": "old", "files/b.3": "same"} {
		if data, err := os.ReadFile(filepath.Join(f.trash, name)); string(data) != want || err != nil {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
}

// The same checks hold as for a deletion, and a refused file leaves no trace in the trash.
func TestTrashRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.at("leaving", "b", func() { must(t, os.Remove(f.path("a"))) })
	f.wantRefused(f.throw(set("same", "a", "b")), "b", files.CodeSurvivorMissing)
	f.wantTree("b ---------- same")
	f.wantTrashed(0)
}

func TestTrashWithoutLinks(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.OnLink(func(*os.Root, string, string) error { return syscall.EPERM })
	f.write("a", "same")
	f.write("b", "same")
	if got := f.throw(set("same", "a", "b")); got.Deleted != 1 {
		t.Errorf("result is %+v", got)
	}
	f.wantTrashed(1)
}

// The trash lies behind another mount of the same device: nothing is copied, the file goes back, the call ends.
func TestTrashNeverCopies(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.OnLink(func(root *os.Root, from, to string) error {
		if strings.Contains(to, "Trash") {
			return syscall.EXDEV
		}
		return root.Link(from, to)
	})
	for _, name := range []string{"a", "b", "c"} {
		f.write(name, "same")
	}
	got, err := f.Trash(context.Background(), f.args(set("same", "a", "b", "c")), files.CallOptions{Call: "tc_1"})
	wantCode(t, err, files.ErrBroken)
	if got.Deleted != 0 || got.NotReached != 2 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "b ---------- same", "c ---------- same")
	f.wantNoPrivate()
	f.wantTrashed(0)
}

func TestTrashReachesItsPoints(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	var points []string
	_, err := f.Trash(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{
		Call: "tc_1", Reached: func(point string) { points = append(points, point) },
	})
	must(t, err)
	if !slices.Equal(points, []string{"trash.middle", "trash.done"}) {
		t.Errorf("points are %q", points)
	}
}

// A disk of its own: /dev/shm is one on Linux, so the home trash does not count there.
func TestTrashOfTheDisk(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, top string)
		where   string
	}{
		{"alone", func(*testing.T, string) {}, ".Trash-" + strconv.Itoa(os.Getuid())},
		{"shared", func(t *testing.T, top string) {
			t.Helper()
			must(t, os.Mkdir(filepath.Join(top, ".Trash"), 0o777))
			must(t, os.Chmod(filepath.Join(top, ".Trash"), 0o777|os.ModeSticky))
		}, ".Trash/" + strconv.Itoa(os.Getuid())},
		{"shared, not sticky", func(t *testing.T, top string) {
			t.Helper()
			must(t, os.Mkdir(filepath.Join(top, ".Trash"), 0o777))
		}, ".Trash-" + strconv.Itoa(os.Getuid())},
		{"shared, a link", func(t *testing.T, top string) {
			t.Helper()
			must(t, os.Mkdir(filepath.Join(top, "elsewhere"), 0o777|os.ModeSticky))
			must(t, os.Symlink("elsewhere", filepath.Join(top, ".Trash")))
		}, ".Trash-" + strconv.Itoa(os.Getuid())},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.DiskStartsAt(filepath.Dir(f.root))
			test.prepare(t, filepath.Dir(f.root))
			f.write("a", "same")
			f.write("sub/b c", "same")
			if got := f.throw(set("same", "a", "sub/b c")); got.Deleted != 1 {
				t.Errorf("result is %+v", got)
			}
			trash := filepath.Join(filepath.Dir(f.root), test.where)
			data, err := os.ReadFile(filepath.Join(trash, "info", "b c.trashinfo"))
			must(t, err)
			if !strings.HasPrefix(string(data), "[Trash Info]\nPath=root/sub/b%20c\nDeletionDate=") {
				t.Errorf("info is %q", data)
			}
			if content, err := os.ReadFile(filepath.Join(trash, "files", "b c")); string(content) != "same" || err != nil {
				t.Errorf("trash holds %q, %v", content, err)
			}
		})
	}
}

func TestTrashThatIsNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.DiskStartsAt(filepath.Dir(f.root))
	f.write("a", "same")
	f.write("b", "same")
	must(t, os.WriteFile(filepath.Join(filepath.Dir(f.root), ".Trash-"+strconv.Itoa(os.Getuid())), nil, 0o600))
	got, err := f.Trash(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
	if failure := failureOf(t, err, files.ErrTrash); failure.Effect || !failure.SafeToRetry() || got.NotReached != 1 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "b ---------- same")
}
