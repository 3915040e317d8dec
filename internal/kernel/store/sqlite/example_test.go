package sqlite_test

import (
	"context"
	"fmt"
	"os"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/sqlite"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

func Example() {
	dir, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it may stay behind
	ctx := context.Background()
	ledger, err := sqlite.Open(ctx, sqlite.Options{Path: dir})
	if err != nil {
		panic(err)
	}
	defer ledger.Close() //nolint:errcheck // an example's end

	// One step: a turn and the event that tells of it, in one transaction.
	events := []store.Event{{Session: "sess_1", ID: "evt_1", Type: "agent.session.started"}}
	err = ledger.Update(ctx, func(tx store.Tx) error {
		begun := store.Record{State: turn.State{Turn: "turn_1", Session: "sess_1", Status: turn.Running}}
		return tx.Save(store.Batch{Turn: &begun, Events: events})
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("event", events[0].Seq)

	err = ledger.View(ctx, func(tx store.Tx) error {
		r, err := tx.Turn(store.TurnRef{Session: "sess_1"})
		fmt.Println(r.State.Turn, r.State.Status, "version", r.Version)
		return err
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// event 1
	// turn_1 running version 1
}
