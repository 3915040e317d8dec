package sqlite_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/storetest"
)

func BenchmarkLedger(b *testing.B) {
	storetest.Benchmark(b, func(b *testing.B) store.Ledger { return open(b, b.TempDir()) })
}

// BenchmarkView reads a turn.
func BenchmarkView(b *testing.B) {
	s := open(b, b.TempDir())
	if err := save(b.Context(), s, twoEvents(1)); err != nil {
		b.Fatal(err)
	}
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			err := s.View(b.Context(), func(tx store.Tx) error {
				_, err := tx.Turn(store.TurnRef{Session: "sess_1"})
				return err
			})
			if err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkOpen opens a ledger that is there, and closes it.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	shut(b, open(b, dir))
	for b.Loop() {
		shut(b, open(b, dir))
	}
}

// BenchmarkCreate makes a new ledger, with all migrations, and closes it.
func BenchmarkCreate(b *testing.B) {
	for b.Loop() {
		shut(b, open(b, b.TempDir()))
	}
}
