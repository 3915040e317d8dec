// Package ledgertest gives the tests of other packages their ledgers. Most runs of a package use a ledger in memory, which
// costs a tenth of one in a file. One run in ten uses SQLite: SEED and the package choose. EARSHOT_TEST_LEDGER=memory or sqlite
// forces one, and EARSHOT_TEST_FULL=1 means SQLite. The first test that asks prints the choice.
//
// Tests that need a file call [OpenFile] or [Folder]: they crash a program, damage the file or read it.
package ledgertest

import (
	"fmt"
	"hash/fnv"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/memory"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// The values of EARSHOT_TEST_LEDGER.
const (
	inMemory = "memory"
	inFile   = "sqlite"
)

// Open returns an empty ledger of the chosen kind, which the test closes.
func Open(tb testing.TB) store.Ledger {
	tb.Helper()
	if !InMemory() {
		return OpenFile(tb)
	}
	ledger := memory.New(time.Now)
	tb.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			tb.Error(err)
		}
	})
	return ledger
}

// InMemory reports whether the tests of this process use a ledger in memory.
func InMemory() bool { return chosen() == inMemory }

// chosen makes the choice, and prints it.
var chosen = sync.OnceValue(func() string {
	program := os.Args[0]
	if info, known := debug.ReadBuildInfo(); known {
		program = info.Path
	}
	kind := choose(os.Getenv("EARSHOT_TEST_LEDGER"), testkit.Full(), testkit.Seed(), program)
	other := map[string]string{inMemory: inFile, inFile: inMemory}[kind]
	fmt.Fprintf(os.Stderr, "ledger: %s (SEED=%d; EARSHOT_TEST_LEDGER=%s for the other)\n", kind, testkit.Seed(), other)
	return kind
})

// choose panics if forced is not a kind of ledger.
func choose(forced string, full bool, seed uint64, program string) string {
	const oneIn = 10
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, "%d %s", seed, program) // a hash never fails
	switch {
	case forced == inMemory, forced == inFile:
		return forced
	case forced != "":
		panic(fmt.Sprintf("EARSHOT_TEST_LEDGER is %q, want %s or %s", forced, inMemory, inFile))
	case full, sum.Sum64()%oneIn == 0:
		return inFile
	default:
		return inMemory
	}
}
