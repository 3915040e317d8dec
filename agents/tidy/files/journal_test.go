//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// The disk fills up at a line of the journal: at most what was settled is done, the rest is untouched, and the books agree.
func TestJournalDiskFull(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		line    string // the disk is full from the nth line of this kind on
		nth     int
		deleted int
		outcome files.Outcome
	}{
		{"at the first line", `"k":"begin"`, 1, 0, files.NotBegun},
		{"before the first file", `"k":"before"`, 1, 0, files.NotBegun},
		{"at the removal of the first file", `"k":"leave"`, 1, 0, files.Done},
		{"before the second file", `"k":"before"`, 2, 1, files.Done},
		{"at the removal of the second file", `"k":"leave"`, 2, 1, files.Done},
		{"at the end", `"k":"end"`, 1, 3, files.Done},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			for _, name := range []string{"a", "b", "c", "d"} {
				f.write(name, "same")
			}
			met, full := 0, false
			f.OnAppend(func(file *os.File, line []byte) error {
				if met += bytes.Count(line, []byte(row.line)); met >= row.nth {
					full = true
				}
				if !full {
					return files.AppendLine(file, line)
				}
				must(t, files.AppendLine(file, line[:len(line)/2])) // as a full disk does
				return syscall.ENOSPC
			})
			args, call := f.args(set("same", "a", "b", "c", "d")), callMade(time.Now())
			got, err := f.Delete(context.Background(), args, files.CallOptions{Call: call})
			failure := failureOf(t, err, files.ErrJournal)
			if got.Deleted != row.deleted || got.NotReached != 3-row.deleted || len(got.Refused)+len(got.Unclear) != 0 {
				t.Errorf("result is %+v", got)
			}
			if began := row.outcome == files.Done; failure.Effect != began || failure.SafeToRetry() == began {
				t.Errorf("effect %v, safe to retry %v", failure.Effect, failure.SafeToRetry())
			}
			left := 0
			for _, name := range []string{"a", "b", "c", "d"} {
				if f.content(name) == "same" {
					left++
				}
			}
			if left != 4-row.deleted {
				t.Errorf("%d files are left", left)
			}
			if left, err := filepath.Glob(f.path(".earshot-*")); len(left) != 0 || err != nil {
				t.Errorf("private folders are left: %v %v", left, err)
			}
			f.OnAppend(files.AppendLine)
			outcome, again, err := f.Reconcile(context.Background(), call, args)
			must(t, err)
			if outcome != row.outcome || again.Deleted != got.Deleted ||
				again.NotReached != got.NotReached {
				t.Errorf("reconciled as %v %+v", outcome, again)
			}
		})
	}
}

// Before a file is touched, the line about it and all that was settled are on the disk; one sync does it.
func TestJournalReachesTheDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		f.write(name, "same")
	}
	var onDisk []string
	syncs := 0
	f.OnSync(func(file *os.File) error {
		if filepath.Base(file.Name()) == "journal" {
			return nil
		}
		syncs++
		data, err := os.ReadFile(f.journalFile())
		must(t, err)
		onDisk = strings.Split(strings.TrimSpace(string(data)), "\n")
		return file.Sync()
	})
	f.OnStep(func(point, path string) {
		if point != "before" {
			return
		}
		if last := onDisk[len(onDisk)-1]; !strings.Contains(last, `"k":"before"`) || !strings.Contains(last, `"path":"`+path+`"`) {
			t.Errorf("%s is touched, and the disk ends with %s", path, last)
		}
		if path == "c" && !strings.Contains(onDisk[len(onDisk)-2], `"k":"after"`) {
			t.Errorf("b is not settled: %s", onDisk[len(onDisk)-2])
		}
	})
	f.remove(set("same", "a", "b", "c"))
	if syncs != 4 || !strings.Contains(onDisk[len(onDisk)-1], `"k":"end"`) {
		t.Errorf("%d syncs, and the disk ends with %s", syncs, onDisk[len(onDisk)-1])
	}
}

func TestJournalCannotBeSynced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	syncs := 0
	f.OnSync(func(*os.File) error {
		if syncs++; syncs > 2 { // its first line, and its folder
			return syscall.EIO
		}
		return nil
	})
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
	wantCode(t, err, files.ErrJournal)
	if got.NotReached != 1 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "b ---------- same")
}

func TestJournalCannotBeMade(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	must(t, os.RemoveAll(f.journal))
	got, err := f.Delete(context.Background(), f.args(set("same", "a", "b")), files.CallOptions{Call: "tc_1"})
	if failure := failureOf(t, err, files.ErrJournal); !failure.SafeToRetry() || got.NotReached != 1 {
		t.Errorf("result is %+v", got)
	}
	f.wantTree("a ---------- same", "b ---------- same")
}

func TestJournalIsPrivate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write("a", "same")
	f.write("b", "same")
	f.at("moved", "b", func() {
		for path, want := range map[string]os.FileMode{
			filepath.Join(f.journal, "tc_1.jsonl"): 0o600, f.path(".earshot-tc_1"): 0o700 | os.ModeDir,
		} {
			if info, err := os.Lstat(path); err != nil || info.Mode() != want {
				t.Errorf("%s has mode %v, want %v: %v", path, info.Mode(), want, err)
			}
		}
	})
	f.remove(set("same", "a", "b"))
}

// A journal inside the root is out of reach: not listed, not hashed, not removed.
func TestJournalInsideTheRoot(t *testing.T) {
	t.Parallel()
	dir := tempDir(t)
	allowed, err := files.Allow(dir)
	must(t, err)
	service, err := files.New(files.Options{Allowed: allowed, Journal: filepath.Join(dir, "data", "journal"), Private: []string{filepath.Join(dir, "own")}})
	must(t, err)
	must(t, os.Mkdir(filepath.Join(dir, "own"), 0o700))
	for _, name := range []string{"a", "own/b", "data/journal/c"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("same"), 0o600))
	}
	page, err := service.Scan(context.Background(), files.ScanArgs{Root: dir})
	must(t, err)
	if len(page.Files) != 1 || page.Skipped[files.SkipPrivate] != 2 {
		t.Errorf("page is %+v", page)
	}
	args := files.DeleteArgs{Root: dir, Sets: []files.Set{set("same", "a", "own/b", "data/journal/c")}}
	got, err := service.Delete(context.Background(), args, files.CallOptions{Call: "tc_1"})
	must(t, err)
	for _, refusal := range got.Refused {
		if refusal.Code != files.CodeEscapesRoot {
			t.Errorf("refused %+v", refusal)
		}
	}
	if len(got.Refused) != 2 {
		t.Errorf("result is %+v", got)
	}
}
