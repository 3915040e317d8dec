//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// scanAll goes through all pages; between is called before each further one.
func (f *fixture) scanAll(between func(page int)) ([]files.File, map[string]int) {
	f.t.Helper()
	var list []files.File
	skipped := map[string]int{}
	args := files.ScanArgs{Root: f.root}
	for page := 0; ; page++ {
		got, err := f.Scan(context.Background(), args)
		must(f.t, err)
		if data, err := json.Marshal(got); err != nil || len(data) > 256<<10 {
			f.t.Fatalf("page of %d bytes, %v", len(data), err)
		}
		list = append(list, got.Files...)
		for reason, count := range got.Skipped {
			skipped[reason] += count
		}
		if got.Next == "" {
			return list, skipped
		}
		args.Cursor = got.Next
		if between != nil {
			between(page)
		}
	}
}

func TestScanSkips(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.write("sub/.git/config", "git")
	f.write("module/.git", "gitdir: elsewhere")
	f.write("empty", "")
	must(t, os.Symlink("a", f.path("link")))
	must(t, os.Symlink("nowhere", f.path("broken")))
	must(t, os.Symlink("sub", f.path("folder link")))
	must(t, os.Link(f.path("a"), f.path("sub/again")))
	must(t, os.Link(f.path("a"), f.path("again")))
	must(t, syscall.Mkfifo(f.path("pipe"), 0o600))
	socket, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", f.path("socket"))
	must(t, err)
	defer func() { _ = socket.Close() }()
	f.write("bad\xff", "1")
	f.write("bad\xfe/inside", "1")
	f.write(".earshot-tc_0/1", "1")
	f.write("sub/.earshot-tc_0/1", "1")
	f.write(".earshot-list", "not the user's either")
	f.write(".Trash-1000/files/x", "1")
	f.write(".Trash/1000/files/x", "1")
	f.write(".Trash-list", "a file of this name is a file")
	got, skipped := f.scanAll(nil)
	want := []files.File{{Path: ".Trash-list", Size: 29}, {Path: "a", Size: 1}}
	if !slices.Equal(got, want) {
		t.Errorf("files are %+v", got)
	}
	wantSkipped := map[string]int{
		files.SkipGit: 2, files.SkipEmpty: 1, files.SkipSymlink: 3, files.SkipHardLink: 2, files.SkipSpecial: 2,
		files.SkipNotUTF8: 2, files.SkipPrivate: 1, files.SkipUnfinished: 2, files.SkipTrash: 2,
	}
	if !maps.Equal(skipped, wantSkipped) {
		t.Errorf("skipped %v, want %v", skipped, wantSkipped)
	}
}

func TestScanSkipsTheHomeTrash(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	allowed, err := files.Allow(dir)
	must(t, err)
	home := filepath.Join(dir, "share", "Trash")
	service, err := files.New(files.Options{Allowed: allowed, Journal: filepath.Join(dir, "journal"), HomeTrash: home})
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(home, "files"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, "files", "a"), []byte("same"), 0o600))
	page, err := service.Scan(context.Background(), files.ScanArgs{Root: dir})
	must(t, err)
	if len(page.Files) != 0 || page.Skipped[files.SkipTrash] != 1 {
		t.Errorf("page is %+v", page)
	}
}

func TestScanSkipsOtherFilesystems(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "1")
	f.write("sub/b", "1")
	f.MoveRootToOtherDevice()
	got, skipped := f.scanAll(nil)
	if len(got) != 0 || !maps.Equal(skipped, map[string]int{files.SkipOtherFilesystem: 2}) {
		t.Errorf("files %+v, skipped %v", got, skipped)
	}
}

// The order is that of whole paths as bytes, so "a.txt" comes before "a/x".
func TestScanOrder(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	want := []string{"a b", "a-", "a.txt", "a/b/c", "a/b0", "a0", "aa", "b", "ü", "ü/"}
	want[len(want)-1] = "ü1/x"
	for _, name := range want {
		f.write(name, "1")
	}
	got, _ := f.scanAll(nil)
	var names []string
	for _, file := range got {
		names = append(names, file.Path)
	}
	if !slices.Equal(names, want) || !slices.IsSorted(names) {
		t.Errorf("order is %q, want %q", names, want)
	}
}

// longName fills pages with few files.
var longName = strings.Repeat("x", 200)

// bigTree has enough long paths for several pages, and things to skip between them.
func bigTree(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t)
	for folder := range 20 {
		for n := range 50 {
			f.write(fmt.Sprintf("f%02d/%s/%s/%s%03d", folder, longName, longName, longName, n), "1")
		}
		must(t, os.Symlink("a", f.path(fmt.Sprintf("f%02d/link", folder))))
		must(t, os.Link(f.path(fmt.Sprintf("f00/%s/%s/%s000", longName, longName, longName)), f.path(fmt.Sprintf("f%02d/again", folder))))
	}
	return f
}

func TestScanPages(t *testing.T) {
	t.Parallel()
	f := bigTree(t)
	pages := 0
	whole, skipped := f.scanAll(func(int) {
		pages++
		if f.Scans() != 1 {
			t.Errorf("%d scans are remembered", f.Scans())
		}
	})
	if pages < 3 || len(whole) != 1000 || f.Scans() != 0 {
		t.Fatalf("%d further pages, %d files, %d scans remembered", pages, len(whole), f.Scans())
	}
	// The inode is listed under its first name, "f00/again"; the other 20 names are left out.
	if whole[0].Path != "f00/again" || !maps.Equal(skipped, map[string]int{files.SkipSymlink: 20, files.SkipHardLink: 20}) {
		t.Errorf("first is %q, skipped %v", whole[0].Path, skipped)
	}
	again, skippedAgain := f.scanAll(func(int) { f.ForgetScans() })
	if !slices.Equal(whole, again) || !maps.Equal(skipped, skippedAgain) {
		t.Errorf("after restarts %d files, skipped %v", len(again), skippedAgain)
	}
}

// The same page can be asked for twice, also when the walk has gone on.
func TestScanPageAgain(t *testing.T) {
	t.Parallel()
	f := bigTree(t)
	ctx := context.Background()
	first, err := f.Scan(ctx, files.ScanArgs{Root: f.root})
	must(t, err)
	args := files.ScanArgs{Root: f.root, Cursor: first.Next}
	second, err := f.Scan(ctx, args)
	must(t, err)
	again, err := f.Scan(ctx, args)
	must(t, err)
	if !slices.Equal(second.Files, again.Files) || second.Next != again.Next || !maps.Equal(second.Skipped, again.Skipped) {
		t.Error("the page came out differently")
	}
}

func TestScanRemembersFew(t *testing.T) {
	t.Parallel()
	f := bigTree(t)
	for range 12 {
		page, err := f.Scan(context.Background(), files.ScanArgs{Root: f.root})
		must(t, err)
		for range 2 {
			page, err = f.Scan(context.Background(), files.ScanArgs{Root: f.root, Cursor: page.Next})
			must(t, err)
		}
	}
	for folder := range 12 {
		cursor := fmt.Sprintf("f%02d/link", folder)
		_, err := f.Scan(context.Background(), files.ScanArgs{Root: f.root, Cursor: cursor})
		must(t, err)
	}
	if f.Scans() != 8 {
		t.Errorf("%d scans are remembered", f.Scans())
	}
}

// A walk that waited too long holds old names; it is made again.
func TestScanForgetsOldWalks(t *testing.T) {
	t.Parallel()
	base := bigTree(t)
	now := time.Unix(1e9, 0)
	allowed, err := files.Allow(base.root)
	must(t, err)
	service, err := files.New(files.Options{Allowed: allowed, Journal: base.journal, Now: func() time.Time { return now }})
	must(t, err)
	page, err := service.Scan(context.Background(), files.ScanArgs{Root: base.root})
	must(t, err)
	must(t, os.WriteFile(base.path("zz"), []byte("new"), 0o600))
	now = now.Add(time.Hour)
	last := files.File{}
	for page.Next != "" {
		page, err = service.Scan(context.Background(), files.ScanArgs{Root: base.root, Cursor: page.Next})
		must(t, err)
	}
	if len(page.Files) > 0 {
		last = page.Files[len(page.Files)-1]
	}
	if last.Path != "zz" {
		t.Errorf("last is %q", last.Path)
	}
}

// What disappears between two pages is counted, and what appears out of order is not listed.
func TestScanVanished(t *testing.T) {
	t.Parallel()
	f := bigTree(t)
	_, skipped := f.scanAll(func(page int) {
		if page > 0 {
			return
		}
		must(t, os.RemoveAll(f.path("f18")))
		must(t, os.RemoveAll(f.path("f19")))
		f.write("f19", "a file now")
	})
	if skipped[files.SkipVanished] != 2 {
		t.Errorf("skipped %v", skipped)
	}
}

// The folder in which a page ended is exchanged for a link to itself elsewhere: what was left in it counts as vanished.
func TestScanFolderExchanged(t *testing.T) {
	t.Parallel()
	f := bigTree(t)
	ctx := context.Background()
	page, err := f.Scan(ctx, files.ScanArgs{Root: f.root})
	must(t, err)
	gone, _, _ := strings.Cut(page.Next, "/")
	must(t, os.Rename(f.path(gone), f.path("../moved")))
	must(t, os.Symlink("../moved", f.path(gone)))
	vanished := 0
	for page.Next != "" {
		page, err = f.Scan(ctx, files.ScanArgs{Root: f.root, Cursor: page.Next})
		must(t, err)
		vanished += page.Skipped[files.SkipVanished]
		for _, file := range page.Files {
			if strings.HasPrefix(file.Path, gone+"/") {
				t.Fatalf("%s was listed through a link", file.Path)
			}
		}
	}
	if vanished == 0 {
		t.Errorf("nothing vanished in %s", gone)
	}
}

func TestScanDeepTree(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	deep := strings.TrimSuffix(strings.Repeat("d/", 100), "/")
	f.write(deep+"/x", "1")
	for depth := 1; depth < 100; depth += 10 {
		f.write(strings.Repeat("d/", depth)+"y", "1")
	}
	got, skipped := f.scanAll(nil)
	if len(got) != 11 || len(skipped) != 0 {
		t.Errorf("%d files, skipped %v", len(got), skipped)
	}
}

func TestScanStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := f.Scan(ctx, files.ScanArgs{Root: f.root})
	if failure := failureOf(t, err, files.ErrStopped); !failure.SafeToRetry() {
		t.Error("a scan is always safe to retry")
	}
}

func TestScanRefusesCursors(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, cursor := range []string{"/a", "../a", "a/../../b", "a/", "b\xff"} {
		_, err := f.Scan(context.Background(), files.ScanArgs{Root: f.root, Cursor: cursor})
		wantCode(t, err, files.ErrBadArgs)
	}
}

// long makes folders with a path of so many bytes below the root, one by one: the system takes no such path as a whole.
func (f *fixture) long(bytes int) (*os.Root, string) {
	f.t.Helper()
	at, err := os.OpenRoot(f.root)
	must(f.t, err)
	path := ""
	for len(path) < bytes {
		name := strings.Repeat("x", min(200, bytes-len(path)))
		must(f.t, at.Mkdir(name, 0o755))
		next, err := at.OpenRoot(name)
		must(f.t, err)
		must(f.t, at.Close())
		at, path = next, path+name+"/"
	}
	return at, path
}

// TestScanLongPaths: a path that no other call could name is left out and counted, a folder once; one that just fits is listed.
func TestScanLongPaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	at, path := f.long(files.MaxPath - 3)
	defer func() { _ = at.Close() }()
	fits := path + strings.Repeat("y", files.MaxPath-len(path))
	must(t, at.WriteFile(strings.TrimPrefix(fits, path), []byte("same"), 0o600))
	must(t, at.WriteFile(strings.TrimPrefix(fits, path)+"y", []byte("same"), 0o600))
	must(t, at.Mkdir("folder", 0o755))
	must(t, at.WriteFile("folder/b", []byte("same"), 0o600))
	got, skipped := f.scanAll(nil)
	if want := []files.File{{Path: "a", Size: 4}, {Path: fits, Size: 4}}; !slices.Equal(got, want) || len(fits) != files.MaxPath {
		t.Errorf("%d files; the long one has %d bytes", len(got), len(fits))
	}
	if !maps.Equal(skipped, map[string]int{files.SkipLongPath: 2}) {
		t.Errorf("skipped %v", skipped)
	}
	hashed, err := f.Hash(context.Background(), files.HashArgs{Root: f.root, Paths: []string{"a", fits}}, nil)
	if err != nil || len(hashed.Hashes) != 2 {
		t.Errorf("hashed %d, %v", len(hashed.Hashes), err)
	}
}

// TestScanCounts: each page counts the files of all pages before it too, also after a restart between two of them.
func TestScanCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const each = 1500
	for i := range 2 * each {
		f.write(fmt.Sprintf("%s%05d", strings.Repeat("n", 120), i), "1")
	}
	for _, restart := range []bool{false, true} {
		args, sum, pages := files.ScanArgs{Root: f.root}, 0, 0
		for {
			page, err := f.Scan(context.Background(), args)
			must(t, err)
			sum += len(page.Files)
			pages++
			if page.Total != sum {
				t.Errorf("restart %v, page %d: %d files in all, listed %d", restart, pages, sum, page.Total)
			}
			if args.Cursor = page.Next; args.Cursor == "" {
				break
			}
			if restart {
				f.ForgetScans()
			}
		}
		if sum != 2*each || pages < 2 {
			t.Errorf("%d files on %d pages", sum, pages)
		}
	}
}

// TestHashCounts: a batch is counted with those before it and those that follow.
func TestHashCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	got, err := f.Hash(context.Background(), files.HashArgs{Root: f.root, Paths: []string{"a", "absent"}, Before: 1000, After: 7}, nil)
	if err != nil || got.Compared != 1001 || got.Left != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}
