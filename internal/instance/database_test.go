package instance_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/postgres/cluster"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestDatabaseTime: with its ledger in PostgreSQL the kernel, and all that speaks of its times, goes
// by the database's clock, whatever time of day this machine has.
func TestDatabaseTime(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	server, err := cluster.Start(t.Context())
	if errors.Is(err, cluster.ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip("left out: " + err.Error() + "; scripts/need postgres installs it")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	dsn, err := server.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const ahead = 24 * time.Hour
	i, err := instance.Open(t.Context(), instance.Options{
		Data: filepath.Join(t.TempDir(), "data"), Database: dsn, Now: func() time.Time { return time.Now().Add(ahead) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	a, err := i.Hub.Enqueue(t.Context(), api.EnqueueRequest{Agent: api.OperatorAgent, Args: jsontext.Value(`{}`)})
	if err != nil {
		t.Fatal(err)
	}
	err = i.Store.View(t.Context(), func(tx store.Tx) error {
		rec, err := tx.Turn(store.TurnRef{Turn: a.Turn})
		if off := time.Since(rec.Created).Abs(); err == nil && off > ahead/2 {
			t.Errorf("the turn was begun %s from now; this machine's time of day is %s ahead", off, ahead)
		}
		return err
	})
	if off := time.Since(i.Now()).Abs(); err != nil || off > ahead/2 {
		t.Errorf("what speaks of the ledger's times is %s off; %v", off, err)
	}
}
