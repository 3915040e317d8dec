package files_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// nobody runs the function without root's rights to read everything, on a thread of its own that ends with it.
func nobody(t *testing.T, f *fixture, run func()) {
	t.Helper()
	if os.Getuid() != 0 {
		run()
		return
	}
	const uid = 65534
	f.ActAs(uid)
	dir := filepath.Dir(f.root)
	must(t, os.Chmod(dir, 0o755)) // the way to the root
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread keeps the other user and is thrown away
		if err := syscall.Setfsuid(uid); err != nil {
			t.Error(err)
			return
		}
		run()
	}()
	<-done
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.write("closed/c", "same")
	f.write("blind/d", "same")
	must(t, os.Chmod(f.path("b"), 0o200))
	must(t, os.Chmod(f.path("closed"), 0))
	must(t, os.Chmod(f.path("blind"), 0o444)) // its names can be read, and nothing else
	t.Cleanup(func() {
		_ = os.Chmod(f.path("closed"), 0o700)
		_ = os.Chmod(f.path("blind"), 0o700)
	})
	nobody(t, f, func() {
		page, err := f.Scan(context.Background(), files.ScanArgs{Root: f.root})
		if err != nil || !slices.Equal(page.Files, []files.File{{Path: "a", Size: 4, Fixed: os.Getuid() == 0}}) ||
			!maps.Equal(page.Skipped, map[string]int{files.SkipUnreadable: 3}) {
			t.Errorf("page is %+v, %v", page, err)
		}
		hashed, err := f.Hash(context.Background(), files.HashArgs{Root: f.root, Paths: []string{"a", "b", "closed/c", "blind/d"}}, nil)
		want := []files.Refusal{
			{Path: "b", Code: files.CodeUnreadable}, {Path: "closed/c", Code: files.CodeUnreadable}, {Path: "blind/d", Code: files.CodeUnreadable},
		}
		if err != nil || len(hashed.Hashes) != 1 || !slices.Equal(hashed.Refused, want) {
			t.Errorf("hashed %+v, %v", hashed, err)
		}
	})
}

func TestUnreadableRoot(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	must(t, os.Chmod(f.root, 0))
	t.Cleanup(func() { _ = os.Chmod(f.root, 0o700) })
	nobody(t, f, func() {
		_, err := f.Scan(context.Background(), files.ScanArgs{Root: f.root})
		if failure := (&files.Error{}); !errors.As(err, &failure) || failure.Code != files.ErrRootUnreadable || !failure.SafeToRetry() {
			t.Errorf("error is %v", err)
		}
	})
}

// A folder that this user may read and not change.
func TestDeleteNotPermitted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("sub/b", "same")
	must(t, os.Chmod(f.root, 0o777))
	must(t, os.Chmod(f.path("sub"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(f.path("sub"), 0o755) })
	must(t, os.Chmod(f.journal, 0o777))
	nobody(t, f, func() {
		got, err := f.Delete(context.Background(), f.args(set("same", "a", "sub/b")), files.CallOptions{Call: "tc_1"})
		if err != nil {
			t.Error(err)
			return
		}
		f.wantRefused(got, "sub/b", files.CodeNotPermitted)
	})
	f.wantTree("a ---------- same", "sub/b ---------- same")
}

func TestDeleteInAFolderThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	must(t, os.Chmod(f.root, 0o555))
	t.Cleanup(func() { _ = os.Chmod(f.root, 0o755) })
	must(t, os.Chmod(f.journal, 0o777))
	nobody(t, f, func() {
		got, err := f.Delete(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
		failure := &files.Error{}
		if !errors.As(err, &failure) || failure.Code != files.ErrPrivateFolder || !failure.SafeToRetry() || got.NotReached != 1 {
			t.Errorf("result is %+v, %v", got, err)
		}
	})
	f.wantTree("a ---------- same", "b ---------- same")
}

// TestFixedFiles: a file that this user can read and not remove is marked: where its folder is closed to writing, and where everybody
// may only remove what is theirs.
func TestFixedFiles(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"a", "closed/b", "closed/below/c", "shared/d", "shared/mine"} {
		f.write(name, "same")
	}
	nobodys := os.Getuid() == 0
	if nobodys {
		for _, name := range []string{".", "a", "closed/below", "closed/below/c", "shared/mine"} {
			must(t, os.Chown(f.path(name), 65534, 65534))
		}
	}
	must(t, os.Chmod(f.path("closed"), 0o555))
	must(t, os.Chmod(f.path("shared"), 0o777|os.ModeSticky))
	t.Cleanup(func() { _ = os.Chmod(f.path("closed"), 0o755) })
	nobody(t, f, func() {
		got, _ := f.scanAll(nil)
		want := []files.File{
			{Path: "a", Size: 4},
			{Path: "closed/b", Size: 4, Fixed: true},
			{Path: "closed/below/c", Size: 4},
			{Path: "shared/d", Size: 4, Fixed: nobodys},
			{Path: "shared/mine", Size: 4},
		}
		if !slices.Equal(got, want) {
			t.Errorf("files are %+v, want %+v", got, want)
		}
		page, err := f.Scan(context.Background(), files.ScanArgs{Root: f.root})
		if err != nil || page.Fixed {
			t.Errorf("the root counts as closed to writing: %v", err)
		}
		below, err := f.Scan(context.Background(), files.ScanArgs{Root: f.path("closed")})
		if err != nil || !below.Fixed {
			t.Errorf("a root that is closed to writing counts as open: %v", err)
		}
	})
}
