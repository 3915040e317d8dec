//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

func TestAllowed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dir := filepath.Dir(f.root)
	f.write("sub/deep/a", "1")
	must(t, os.Mkdir(filepath.Join(dir, "root2"), 0o755))
	must(t, os.Symlink(f.root, filepath.Join(dir, "way")))
	must(t, os.Symlink("sub", f.path("inner")))
	must(t, os.Symlink("..", f.path("out")))
	rows := []struct {
		root string
		code files.ErrorCode
	}{
		{f.root, ""},
		{f.path("sub"), ""},
		{f.path("sub/deep"), ""},
		{dir, files.ErrEscapesRoot},
		{"/", files.ErrEscapesRoot},
		{"", files.ErrEscapesRoot},
		{"sub", files.ErrEscapesRoot},
		{f.root + "/", files.ErrEscapesRoot},
		{f.root + "/../root2", files.ErrEscapesRoot},
		{f.root + "/sub/../sub", files.ErrEscapesRoot},
		{filepath.Join(dir, "root2"), files.ErrEscapesRoot},
		{filepath.Join(dir, "way"), files.ErrEscapesRoot},
		{f.path("inner"), files.ErrEscapesRoot},
		{f.path("out"), files.ErrEscapesRoot},
		{f.path("none"), files.ErrRootMissing},
		{f.path("sub/deep/a"), files.ErrRootNotFolder},
	}
	for i, row := range rows {
		_, scanErr := f.Scan(context.Background(), files.ScanArgs{Root: row.root})
		_, hashErr := f.Hash(context.Background(), files.HashArgs{Root: row.root}, nil)
		_, deleteErr := f.Delete(context.Background(), files.DeleteArgs{Root: row.root}, files.CallOptions{Call: fmt.Sprintf("tc_%d", i)})
		for _, err := range []error{scanErr, hashErr, deleteErr} {
			if row.code == "" {
				must(t, err)
				continue
			}
			if !errors.Is(err, &files.Error{Code: row.code}) {
				t.Errorf("%q: %v, want %s", row.root, err, row.code)
			}
		}
	}
}

// The allowed folder itself is exchanged for a link: nothing is done behind it.
func TestAllowedFolderBecomesALink(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	must(t, os.Rename(f.root, f.root+"-moved"))
	must(t, os.Symlink(f.root+"-moved", f.root))
	_, err := f.Scan(context.Background(), files.ScanArgs{Root: f.root})
	wantCode(t, err, files.ErrEscapesRoot)
	must(t, os.Remove(f.root))
	_, err = f.Scan(context.Background(), files.ScanArgs{Root: f.root})
	wantCode(t, err, files.ErrRootMissing)
}

func TestAllow(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	must(t, os.Symlink("folder", filepath.Join(dir, "link")))
	allowed, err := files.Allow(filepath.Join(dir, "link"))
	must(t, err)
	if got := allowed.Roots(); len(got) != 1 || got[0] != filepath.Join(dir, "folder") {
		t.Errorf("allowed are %q", got)
	}
	_, err = files.Allow(filepath.Join(dir, "none"))
	if failure := failureOf(t, err, files.ErrRootMissing); !errors.Is(failure, fs.ErrNotExist) || !strings.Contains(err.Error(), "no such folder") {
		t.Errorf("error is %v", err)
	}
	_, err = files.Allow(filepath.Join(dir, "file"))
	wantCode(t, err, files.ErrRootNotFolder)
	_, err = files.Allow(filepath.Join(dir, "file", "x"))
	wantCode(t, err, files.ErrRootNotFolder)
}

func TestNewDemandsItsFolders(t *testing.T) {
	t.Parallel()
	allowed, err := files.Allow(t.TempDir())
	must(t, err)
	for _, options := range []files.Options{{Journal: "/tmp"}, {Allowed: allowed}, {Allowed: allowed, Journal: "relative"}} {
		_, err := files.New(options)
		wantCode(t, err, files.ErrBadArgs)
	}
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	_, err = files.New(files.Options{Allowed: allowed, Journal: filepath.Join(file, "journal")})
	wantCode(t, err, files.ErrJournal)
}
