package kernel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/memory"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/testkit/ledgertest"
)

// home is where a ledger is: a folder with a database, or memory. A kernel that is killed leaves it as it is.
type home struct {
	folder string
	memory *memory.Ledger
}

// file is the path of the database, "" in memory.
func (h home) file() string {
	if h.memory != nil {
		return ""
	}
	return filepath.Join(h.folder, "ledger.db")
}

// emptyHome makes a home like that of the present ledger, with an empty one in it.
func (w *world) emptyHome() home {
	w.t.Helper()
	if w.now.home.memory != nil {
		return home{memory: memory.New(w.clock.now)}
	}
	return home{folder: ledgertest.Folder(w.t)}
}

func (w *world) open(at home) store.Ledger {
	w.t.Helper()
	if at.memory != nil {
		return at.memory
	}
	ledger, err := sqlite.Open(context.Background(), sqlite.Options{Path: at.folder, Now: w.clock.now})
	if err != nil {
		w.t.Fatal(err)
	}
	return ledger
}

// copied is a copy of the ledger as it is now.
func (w *world) copied() home {
	w.t.Helper()
	w.settle()
	return w.copyOf(w.now.home)
}

// copyOf copies a ledger that nobody writes at the moment.
func (w *world) copyOf(from home) home {
	w.t.Helper()
	if from.memory != nil {
		return home{memory: from.memory.Copy()}
	}
	to := w.t.TempDir()
	for _, name := range []string{"ledger.db", "ledger.db-wal"} {
		raw, err := os.ReadFile(filepath.Join(from.folder, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), raw, 0o600)
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return home{folder: to}
}

// inWorld runs a test in a bubble, on the ledger that the run has chosen. The kernel runs, the standard service has
// registered its tools, and the operator has reviewed them.
func inWorld(t *testing.T, configure func(*world), play func(*testing.T, *world)) {
	t.Helper()
	if !ledgertest.InMemory() {
		onDisk(t, configure, play)
		return
	}
	t.Parallel()
	inBubble(t, func(w *world) home { return home{memory: memory.New(w.clock.now)} }, configure, play)
}

// onDisk is inWorld for a test that crashes, damages or reads the database.
func onDisk(t *testing.T, configure func(*world), play func(*testing.T, *world)) {
	t.Helper()
	t.Parallel()
	folder := ledgertest.Folder(t)
	inBubble(t, func(*world) home { return home{folder: folder} }, configure, play)
}
