package postgres_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/storetest"
)

// BenchmarkLedger flushes what it commits, and comes by the server's Unix socket.
func BenchmarkLedger(b *testing.B) {
	storetest.Benchmark(b, func(b *testing.B) store.Ledger {
		return openWith(b, postgres.Options{DSN: nowhere(b) + "&pool_max_conns=32"})
	})
}
