package policyfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestNotified: whichever way a file is changed, that is heard of; what happens to its neighbours is not.
func TestNotified(t *testing.T) {
	t.Parallel()
	const patience = 20 * time.Second // what is heard is heard at once; this only ends a test that fails
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, path, text string) { t.Helper(); must(t, os.WriteFile(path, []byte(text), 0o600)) }
	for name, change := range map[string]func(t *testing.T, dir, path string){
		"written in place": func(t *testing.T, _, path string) { write(t, path, askPaint) },
		"exchanged for another file": func(t *testing.T, dir, path string) {
			write(t, filepath.Join(dir, "new"), askPaint)
			must(t, os.Rename(filepath.Join(dir, "new"), path))
		},
		"exchanged with its folder": func(t *testing.T, dir, path string) {
			must(t, os.Mkdir(dir+".new", 0o700))
			write(t, filepath.Join(dir+".new", filepath.Base(path)), askPaint)
			must(t, os.Rename(dir, dir+".old"))
			must(t, os.Rename(dir+".new", dir))
		},
		"removed with its folder": func(t *testing.T, dir, _ string) { must(t, os.RemoveAll(dir)) },
		"removed":                 func(t *testing.T, _, path string) { must(t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "etc")
			must(t, os.Mkdir(dir, 0o700))
			path := filepath.Join(dir, "policy.yaml")
			write(t, path, allowPaint)
			n, err := newNotifier(path)
			must(t, err)
			defer n.close()
			change(t, dir, path)
			select {
			case <-n.wait():
			case <-time.After(patience):
				t.Error("nothing was heard")
			}
		})
	}
	t.Run("behind a link", func(t *testing.T) {
		t.Parallel()
		dir, elsewhere := t.TempDir(), t.TempDir()
		path, target := filepath.Join(dir, "policy.yaml"), filepath.Join(elsewhere, "rules.yaml")
		write(t, target, allowPaint)
		must(t, os.Symlink(target, path))
		n, err := newNotifier(path)
		must(t, err)
		defer n.close()
		if !n.renew() {
			t.Fatal("the file behind the link is not watched")
		}
		write(t, target, askPaint)
		select {
		case <-n.wait():
		case <-time.After(patience):
			t.Error("nothing was heard")
		}
	})
	t.Run("more than the system keeps", func(t *testing.T) {
		t.Parallel()
		watcher := &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}
		n := &notifier{watcher: watcher, wake: make(chan struct{}, 1), ended: make(chan struct{})}
		go n.listen()
		watcher.Errors <- fsnotify.ErrEventOverflow
		close(watcher.Events)
		<-n.ended
		select {
		case <-n.wait():
		default:
			t.Error("nobody was woken up")
		}
	})
	t.Run("a neighbour", func(t *testing.T) {
		t.Parallel()
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must(t, err)
		path := filepath.Join(dir, "policy.yaml")
		write(t, path, allowPaint)
		n := &notifier{path: path}
		if n.concerns(filepath.Join(dir, "other.yaml")) || !n.concerns(path) {
			t.Error("a neighbour concerns the file, or the file does not")
		}
		if !n.concerns(dir) {
			t.Error("its folder, which may be another one now, does not concern the file")
		}
	})
}
