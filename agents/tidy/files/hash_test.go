//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

func TestHash(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	big := strings.Repeat("0123456789abcdef", 64<<10) // a megabyte
	f.write("a", "one")
	f.write("sub/b", big)
	f.write("sub/c\n", "three")
	f.write("sub/folder/d", "")
	must(t, os.Symlink("a", f.path("link")))
	must(t, os.Symlink("sub", f.path("way")))
	must(t, syscall.Mkfifo(f.path("pipe"), 0o600))
	paths := []string{"a", "link", "sub/b", "none", "sub/c\n", "way/b", "pipe", "sub/folder", "../x", "/etc/hostname", "sub/folder/d"}
	var last, total int64
	got, err := f.Hash(context.Background(), files.HashArgs{Root: f.root, Paths: paths}, func(done, of int64) {
		if done <= last || done > of {
			t.Errorf("progress from %d to %d of %d", last, done, of)
		}
		last, total = done, of
	})
	must(t, err)
	want := files.HashResult{
		Hashes: []files.Hash{
			{Path: "a", SHA256: sum("one"), Size: 3},
			{Path: "sub/b", SHA256: sum(big), Size: 1 << 20},
			{Path: "sub/c\n", SHA256: sum("three"), Size: 5},
			{Path: "sub/folder/d", SHA256: sum(""), Size: 0},
		},
		Refused: []files.Refusal{
			{Path: "link", Code: files.CodeNotRegular},
			{Path: "none", Code: files.CodeVanished},
			{Path: "way/b", Code: files.CodeEscapesRoot},
			{Path: "pipe", Code: files.CodeNotRegular},
			{Path: "sub/folder", Code: files.CodeNotRegular},
			{Path: "../x", Code: files.CodeEscapesRoot},
			{Path: "/etc/hostname", Code: files.CodeEscapesRoot},
		},
	}
	if !slices.Equal(got.Hashes, want.Hashes) || !slices.Equal(got.Refused, want.Refused) {
		t.Errorf("result is %+v, want %+v", got, want)
	}
	if last != total || total != 8+1<<20 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
}

// A file that is written while it is read has no hash.
func TestHashChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(path string) error{
		"cut":      func(path string) error { return os.Truncate(path, 10) },
		"extended": func(path string) error { return os.Truncate(path, 2<<20) },
		"written": func(path string) error {
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = file.WriteAt([]byte("x"), 0)
			return err
		},
	} {
		f := newFixture(t)
		f.write("a", strings.Repeat("0123456789abcdef", 64<<10))
		acted := false
		got, err := f.Hash(context.Background(), files.HashArgs{Root: f.root, Paths: []string{"a"}}, func(int64, int64) {
			if !acted {
				acted = true
				must(t, act(f.path("a")))
			}
		})
		must(t, err)
		if len(got.Hashes) != 0 || len(got.Refused) != 1 || got.Refused[0].Code != files.CodeChanged {
			t.Errorf("%s: result is %+v", name, got)
		}
	}
}

func TestHashLimits(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	paths := make([]string, files.MaxHashPaths+1)
	for i := range paths {
		paths[i] = fmt.Sprint(i)
	}
	_, err := f.Hash(context.Background(), files.HashArgs{Root: f.root, Paths: paths}, nil)
	wantCode(t, err, files.ErrBadArgs)
	got, err := f.Hash(context.Background(), files.HashArgs{Root: f.root, Paths: paths[:files.MaxHashPaths]}, nil)
	must(t, err)
	if len(got.Refused) != files.MaxHashPaths {
		t.Errorf("%d refused", len(got.Refused))
	}
}

func TestHashStops(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", strings.Repeat("0123456789abcdef", 64<<10))
	ctx, cancel := context.WithCancel(context.Background())
	heard := 0
	_, err := f.Hash(ctx, files.HashArgs{Root: f.root, Paths: []string{"a"}}, func(int64, int64) {
		heard++
		cancel()
	})
	wantCode(t, err, files.ErrStopped)
	if heard != 1 {
		t.Errorf("went on for %d reports", heard)
	}
}
