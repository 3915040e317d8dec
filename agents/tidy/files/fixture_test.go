//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// fixture is a root with a service that may work in it.
type fixture struct {
	*files.Service

	t       testing.TB
	root    string
	journal string
	trash   string
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return openFixture(t, tempDir(t))
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// openFixture works on folders of an earlier fixture: a service after a restart.
func openFixture(t testing.TB, dir string) *fixture {
	t.Helper()
	f := &fixture{t: t, root: filepath.Join(dir, "root"), journal: filepath.Join(dir, "journal"), trash: filepath.Join(dir, "home", "Trash")}
	must(t, os.MkdirAll(f.root, 0o755))
	allowed, err := files.Allow(f.root)
	must(t, err)
	options := files.Options{Allowed: allowed, Journal: f.journal, HomeTrash: f.trash}
	if _, err := os.Stat(f.journal); err != nil { // installed an hour ago
		options.Now = func() time.Time { return time.Now().Add(-time.Hour) }
		_, err = files.New(options)
		must(t, err)
		options.Now = nil
	}
	f.Service, err = files.New(options)
	must(t, err)
	f.OnSync(func(*os.File) error { return nil }) // only a power cut would tell; TestJournalReachesTheDisk looks
	return f
}

// callMade is the id of a call that was made at a time. One is made whenever a test may hear that it never began.
func callMade(at time.Time) string {
	return fmt.Sprintf("tc_%012x70008000000000000000", at.UnixMilli())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) path(name string) string { return filepath.Join(f.root, name) }

func (f *fixture) write(name, content string) {
	f.t.Helper()
	must(f.t, os.MkdirAll(filepath.Dir(f.path(name)), 0o755))
	must(f.t, os.WriteFile(f.path(name), []byte(content), 0o644))
}

// wantRest demands that what was not reached is named by its place, and is there.
func (f *fixture) wantRest(args files.DeleteArgs, got files.DeleteResult) {
	f.t.Helper()
	var listed []string
	for _, set := range args.Sets {
		listed = append(listed, set.Delete...)
	}
	count := 0
	for _, span := range got.Rest {
		for _, name := range listed[span.From:span.To] {
			count++
			if f.content(name) == "(none)" {
				f.t.Errorf("%s is said to be left, and is not there", name)
			}
		}
	}
	if count != got.NotReached {
		f.t.Errorf("the rest is %v, and %d were not reached", got.Rest, got.NotReached)
	}
}

// content is what the file holds; "(none)" where there is none.
func (f *fixture) content(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "(none)"
	}
	must(f.t, err)
	return string(data)
}

func sum(content string) string {
	s := sha256.Sum256([]byte(content))
	return hex.EncodeToString(s[:])
}

func set(content, keep string, remove ...string) files.Set {
	return files.Set{SHA256: sum(content), Size: int64(len(content)), Survivor: keep, Delete: remove}
}

func (f *fixture) args(sets ...files.Set) files.DeleteArgs {
	return files.DeleteArgs{Root: f.root, Sets: sets}
}

// remove carries the removal out and demands that it went through.
func (f *fixture) remove(sets ...files.Set) files.DeleteResult {
	f.t.Helper()
	result, err := f.Delete(context.Background(), f.args(sets...), files.CallOptions{Call: "tc_1"})
	must(f.t, err)
	return result
}

// tree lists everything below a folder: its path, kind and content.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		line := rel + " " + d.Type().String()
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(data)
		}
		list = append(list, line)
		return nil
	}))
	return list
}

func (f *fixture) wantTree(want ...string) {
	f.t.Helper()
	var got []string
	for _, line := range tree(f.t, f.root) {
		if !strings.Contains(line, " d") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("tree is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// wantRefused demands one refusal, nothing removed and the file where it was.
func (f *fixture) wantRefused(got files.DeleteResult, path string, code files.Code) {
	f.t.Helper()
	want := []files.Refusal{{Path: path, Code: code}}
	if got.Deleted != 0 || got.Bytes != 0 || !slices.Equal(got.Refused, want) || len(got.Unclear) != 0 || got.NotReached != 0 {
		f.t.Errorf("result is %+v, want only %+v", got, want)
	}
	f.wantNoPrivate()
}

func (f *fixture) wantNoPrivate() {
	f.t.Helper()
	left, err := filepath.Glob(f.path(".earshot-tc_1"))
	must(f.t, err)
	if len(left) != 0 {
		f.t.Errorf("private folders are left: %v", left)
	}
}

func wantCode(t testing.TB, err error, code files.ErrorCode) {
	t.Helper()
	_ = failureOf(t, err, code)
}

// failureOf demands the code and gives the whole failure.
func failureOf(t testing.TB, err error, code files.ErrorCode) *files.Error {
	t.Helper()
	got := &files.Error{}
	if !errors.As(err, &got) || got.Code != code {
		t.Fatalf("error is %v, want code %s", err, code)
	}
	return got
}
