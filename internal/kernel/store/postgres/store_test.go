package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/internal/storetest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	needsServer(t)
	storetest.Exercise(t, storetest.Factory{
		Open: func(t *testing.T, now func() time.Time) store.Ledger {
			t.Helper()
			return openWith(t, postgres.Options{DSN: nowhere(t), Now: now})
		},
		Locate: func(t *testing.T) storetest.Location {
			t.Helper()
			c, err := cluster.Start(t.Context()) // one that can be crashed without the others
			if err != nil {
				t.Fatal(err)
			}
			return lying(t, c, "")
		},
	})
}

// place is a ledger in a cluster of its own.
type place struct {
	in  *cluster.Cluster
	dsn string
}

func lying(t *testing.T, c *cluster.Cluster, dsn string) place {
	t.Helper()
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	if dsn == "" {
		var err error
		if dsn, err = c.Ledger(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return place{c, dsn}
}

func (p place) Open(t *testing.T) store.Ledger { t.Helper(); return open(t, p.dsn) }

// Crashed copies what is on the disk after the server was ended at once. The store that is
// open finds the server started again.
func (p place) Crashed(t *testing.T) storetest.Location {
	t.Helper()
	c, err := p.in.Crashed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := c.Again(p.dsn)
	if err != nil {
		t.Fatal(err)
	}
	return lying(t, c, dsn)
}

// nowhere is a place for a ledger, and nothing in it.
func nowhere(t testing.TB) string {
	t.Helper()
	needsServer(t)
	dsn, err := server.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// open opens a ledger that is closed with the test, if it is not before.
func open(t testing.TB, dsn string) *postgres.Store {
	t.Helper()
	return openWith(t, postgres.Options{DSN: dsn})
}

func openWith(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// numbered is the n-th turn, with its session.
func numbered(name string) *store.Record {
	return &store.Record{State: turn.State{Turn: "turn_" + name, Session: "sess_" + name, Agent: "tidy", Status: turn.Queued}}
}

func save(ctx context.Context, s store.Ledger, b store.Batch) error {
	return s.Update(ctx, func(tx store.Tx) error { return tx.Save(b) })
}
