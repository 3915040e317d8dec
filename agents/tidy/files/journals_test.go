//go:build linux || darwin || freebsd || netbsd

package files_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// installation is a service that is started again and again on the same folders, by a clock of its own.
type installation struct {
	t    testing.TB
	dir  string
	root string
	now  time.Time
}

func install(t testing.TB) *installation {
	t.Helper()
	dir := tempDir(t)
	i := &installation{t: t, dir: dir, root: filepath.Join(dir, "root"), now: time.UnixMilli(1_700_000_000_000)}
	must(t, os.Mkdir(i.root, 0o700))
	for _, name := range []string{"a", "b"} {
		must(t, os.WriteFile(filepath.Join(i.root, name), []byte("same"), 0o600))
	}
	return i
}

func (i *installation) journals() string { return filepath.Join(i.dir, "data", "journal") }

// start starts the service again, a minute later.
func (i *installation) start() *files.Service {
	i.t.Helper()
	allowed, err := files.Allow(i.root)
	must(i.t, err)
	i.now = i.now.Add(time.Minute)
	at := i.now
	s, err := files.New(files.Options{Allowed: allowed, Journal: i.journals(), Now: func() time.Time { return at }})
	must(i.t, err)
	return s
}

// call gives the id of a call that is made now, a minute after what was before.
func (i *installation) call() string {
	i.now = i.now.Add(time.Minute)
	return callMade(i.now)
}

func (i *installation) args() files.DeleteArgs {
	return files.DeleteArgs{Root: i.root, Sets: []files.Set{set("same", "a", "b")}}
}

func (i *installation) want(s *files.Service, call string, want files.Outcome) {
	i.t.Helper()
	for range 2 {
		got, _, err := s.Reconcile(context.Background(), call, i.args())
		if got != want {
			i.t.Errorf("reconciled as %v, want %v: %v", got, want, err)
		}
		if want == files.Unknown {
			wantCode(i.t, err, files.ErrJournal)
		} else {
			must(i.t, err)
		}
	}
}

// A call that removed a file, and whose journal was lost in one way or another, is never said not to have begun, however
// often the service is started since.
func TestReconcileLostJournal(t *testing.T) {
	t.Parallel()
	rows := map[string]func(i *installation){
		"the folder is removed": func(i *installation) { must(t, os.RemoveAll(i.journals())) },
		"the data is removed":   func(i *installation) { must(t, os.RemoveAll(filepath.Dir(i.journals()))) },
		"the folder is emptied": func(i *installation) {
			must(t, os.RemoveAll(i.journals()))
			must(t, os.Mkdir(i.journals(), 0o700))
		},
		"the journals and the mark are removed": func(i *installation) {
			for _, path := range i.list("*") {
				must(t, os.Remove(path))
			}
		},
		"a copy from before is put in the place": func(i *installation) {
			must(t, os.Rename(i.journals(), i.journals()+"-old"))
			must(t, os.CopyFS(i.journals(), os.DirFS(i.journals()+"-old")))
			for _, path := range i.list("*.jsonl") {
				must(t, os.Remove(path))
			}
		},
		"the journals are removed and the mark is damaged": func(i *installation) {
			for _, path := range i.list("*") {
				must(t, os.WriteFile(path, []byte("{"), 0o600))
			}
			for _, path := range i.list("*.jsonl") {
				must(t, os.Remove(path))
			}
		},
	}
	for name, lose := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := install(t)
			first := i.start()
			call := i.call()
			if got, err := first.Delete(context.Background(), i.args(), files.CallOptions{Call: call}); got.Deleted != 1 || err != nil {
				t.Fatalf("result is %+v, %v", got, err)
			}
			lose(i)
			for range 3 {
				second := i.start()
				i.now = i.now.Add(time.Hour) // at the last, the mark is old enough to be believed
				if got, _, err := second.Reconcile(context.Background(), call, i.args()); got != files.Unknown {
					t.Errorf("reconciled as %v", got)
				} else {
					wantCode(t, err, files.ErrJournal)
				}
			}
		})
	}
}

func (i *installation) list(pattern string) []string {
	i.t.Helper()
	list, err := filepath.Glob(filepath.Join(i.journals(), pattern))
	must(i.t, err)
	return list
}

// The restart of the leftover: the folder vanished, one start made it again, and only the next one is asked.
func TestReconcileLostJournalAfterTwoStarts(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.start()
	call := i.call()
	must(t, os.RemoveAll(i.journals()))
	i.start()
	i.want(i.start(), call, files.Unknown)
}

// While the service runs, the folder may go as well, and another process may make it again.
func TestReconcileLostJournalUnderway(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.start()
	running, call := i.start(), i.call()
	must(t, os.RemoveAll(i.journals()))
	now := callMade(i.now)
	got, _, err := running.Reconcile(context.Background(), now, i.args())
	if wantCode(t, err, files.ErrJournal); got != files.Unknown {
		t.Errorf("reconciled as %v", got)
	}
	i.start()
	i.want(running, call, files.Unknown)
}

// Without a journal, only a call that is surely younger than the mark has surely not begun.
func TestReconcileNeverBegan(t *testing.T) {
	t.Parallel()
	i := install(t)
	before := i.call()
	i.start()
	marked := callMade(i.now) // in the millisecond of the mark
	after := i.call()
	now := i.start()
	future := i.call()
	i.want(now, before, files.Unknown)
	i.want(now, marked, files.Unknown)
	i.want(now, after, files.NotBegun)
	i.want(now, future, files.Unknown) // a clock was set back, so nothing can be compared
	i.want(now, "tc_1", files.Unknown)
	for _, call := range []string{
		"tc_" + "018bcfe5680040008000000000000000", // no version 7
		"tc_" + "018bcfe56800700080000000000000zz",
	} {
		i.want(now, call, files.Unknown)
	}
}

// What was unknown once stays so, also when it might look better later; nor may the call start then.
func TestReconcileStaysUnknown(t *testing.T) {
	t.Parallel()
	i := install(t)
	s := i.start()
	future := i.call()
	i.want(s, future, files.Unknown)
	later := i.start()
	i.want(later, future, files.Unknown)
	_, err := later.Delete(context.Background(), i.args(), files.CallOptions{Call: future})
	wantCode(t, err, files.ErrSecondStart)
}

// A mark that is there is left as it is.
func TestJournalsAreMarkedOnce(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.start()
	first, err := os.ReadFile(filepath.Join(i.journals(), "since.json"))
	must(t, err)
	i.start()
	second, err := os.ReadFile(filepath.Join(i.journals(), "since.json"))
	must(t, err)
	if !bytes.Equal(first, second) {
		t.Errorf("the mark was %s, and is %s", first, second)
	}
	if list := i.list("*"); len(list) != 1 {
		t.Errorf("the folder holds %q", list)
	}
}
