package sqlite_test

import (
	"context"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/kernel/sqlite"
	"github.com/earshot-dev/earshot/kernel/turn"
)

func TestProbe(t *testing.T) {
	ctx := context.Background()
	t0 := time.Now()
	s, err := sqlite.Open(ctx, sqlite.Options{Path: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("open new", time.Since(t0))
	err = s.Update(ctx, func(tx kernel.Tx) error {
		return tx.Save(kernel.Batch{Turn: &kernel.Record{State: turn.State{Turn: "t", Session: "s", Status: turn.Queued}, Created: time.Now()}, Events: []kernel.Event{{Session: "s", ID: "a"}, {Session: "s", ID: "b"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(ctx, func(tx kernel.Tx) error {
		r, err := tx.Turn(kernel.TurnRef{Session: "s"})
		t.Logf("%+v %v", r, err)
		e, err := tx.Events("s", 0, 10)
		t.Logf("%+v %v", e, err)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t0 = time.Now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	t.Log("close", time.Since(t0))
	t0 = time.Now()
	s, err = sqlite.Open(ctx, sqlite.Options{Path: s.Path()})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("open again", time.Since(t0))
	s.Close()
}
