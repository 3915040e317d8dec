package access_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/hub/access"
)

// TestOneLookout: however many watch a store, one goroutine looks for them all (and one more
// hears the system); each is told, and with the last of them both have ended.
func TestOneLookout(t *testing.T) { //nolint:paralleltest // it counts goroutines
	file := path(t)
	for name, poll := range map[string]time.Duration{"told by the system": 0, "looking": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // it counts goroutines
			s, err := access.Open(access.Options{Path: file, Poll: poll})
			if err != nil {
				t.Fatal(err)
			}
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var bells []<-chan struct{}
			for range 100 {
				bells = append(bells, s.Watch(ctx))
			}
			if n := runtime.NumGoroutine() - before; n > 2 {
				t.Errorf("%d goroutines for 100 who watch", n)
			}
			other := open(t, file)
			add(t, other, "ann"+name[:2], access.Listener)
			for i, wakeup := range bells {
				hears(t, i, wakeup)
			}
			cancel()
			for _, wakeup := range bells {
				for range wakeup { // until it is closed
				}
			}
		})
	}
}

// hears waits for a bell, for as long as a loaded machine may take.
func hears(t *testing.T, who int, wakeup <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case _, changed := <-wakeup:
		if !changed {
			t.Fatalf("%d: the watch has ended", who)
		}
	case <-ctx.Done():
		t.Fatalf("%d was told nothing", who)
	}
}

// TestToldOfEveryChange: the file replaced, rewritten, taken away, put back, opened to others,
// and its folder moved away.
func TestToldOfEveryChange(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(folder, "tokens.json")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	add(t, open(t, file), "ann", access.Listener)
	one, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := access.Open(access.Options{Path: file})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	wakeup := s.Watch(ctx)
	counts := func() int {
		list, _ := s.List() // a broken file is none
		return len(list)
	}
	for i, change := range []struct {
		what string
		do   func() error
		want int
	}{
		{"another token", func() error {
			_, _, err := open(t, file).Add(access.NewToken{Name: "bob", Roles: []access.Role{access.Listener}})
			return err
		}, 2},
		{"one token again", func() error { return os.WriteFile(file, one, 0o600) }, 1},
		{"a role changed", func() error {
			return os.WriteFile(file, bytes.Replace(one, []byte("listener"), []byte("auditor"), 1), 0o600)
		}, 1},
		{"written over", func() error { return os.WriteFile(file, one, 0o600) }, 1},
		{"taken away", func() error { return os.Remove(file) }, 0},
		{"put back", func() error { return os.WriteFile(file, one, 0o600) }, 1},
		{"opened to others", func() error { return os.Chmod(file, 0o644) }, 0},
		{"closed again", func() error { return os.Chmod(file, 0o600) }, 1},
		{"the folder moved away", func() error { return os.Rename(folder, folder+".old") }, 0},
		{"the folder back", func() error { return os.Rename(folder+".old", folder) }, 1},
	} {
		if err := change.do(); err != nil {
			t.Fatal(err)
		}
		for hears(t, i, wakeup); counts() != change.want; hears(t, i, wakeup) {
			t.Logf("%s: told early", change.what)
		}
	}
	cancel()
	for range wakeup { // until it is closed
	}
}
