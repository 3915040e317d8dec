package storetest

import (
	"context"
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func viewCases() []exercise {
	return []exercise{
		{"cannot write", viewsCannotWrite},
		{"see what was acknowledged", viewsSeeTheLast},
		{"are snapshots", viewsAreSnapshots},
		{"do not wait for each other", viewsRunTogether},
		{"see nothing of an update that runs", viewsBesideAnUpdate},
	}
}

func viewsCannotWrite(l *ledger) {
	for what, write := range map[string]func(store.Tx) error{
		"Save":          func(tx store.Tx) error { return tx.Save(everything(1)) },
		"an empty Save": func(tx store.Tx) error { return tx.Save(store.Batch{}) },
		"SaveBlob": func(tx store.Tx) error {
			return tx.Save(store.Batch{Blobs: []api.PutRequest{{SHA256: digestOf([]byte("x")), Size: 1, Data: []byte("x")}}})
		},
		"Count":          func(tx store.Tx) error { _, err := tx.Count("n", 1); return err },
		"Count downward": func(tx store.Tx) error { _, err := tx.Count("n", -1); return err },
	} {
		if err := l.store.View(l.t.Context(), write); !errors.Is(err, store.ErrReadOnly) {
			l.t.Errorf("%s in a view: got %v, want %v", what, err, store.ErrReadOnly)
		}
	}
	l.untouched()
	same(l, "counter", l.count("n"), 0)
	l.missing("blob", func(tx store.Tx) error { _, _, err := tx.Blob(digestOf([]byte("x")), 0, 1); return err })
}

func viewsSeeTheLast(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	for n := int64(1); n <= 50; n++ {
		l.save(store.Batch{Turn: versioned(r, n)})
		if got := l.turn(store.TurnRef{Turn: "turn_1"}).Version; got != n+1 {
			l.t.Fatalf("a view after update %d sees version %d", n, got)
		}
	}
}

func viewsAreSnapshots(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r, Events: []store.Event{event("sess_1", 1)}})
	l.view(func(tx store.Tx) error {
		before, err := tx.Turn(store.TurnRef{Turn: "turn_1"})
		if err != nil {
			return err
		}
		l.save(store.Batch{Turn: versioned(r, 1), Events: []store.Event{event("sess_1", 2)}})
		after, err := tx.Turn(store.TurnRef{Turn: "turn_1"})
		same(l, "the turn in a view that began before", after, before)
		if err != nil {
			return err
		}
		rows, err := tx.Events(store.EventFilter{Session: "sess_1", Limit: 9})
		same(l, "the events in it", len(rows), 1)
		return err
	})
	same(l, "the events after it", len(l.events("sess_1")), 2)
}

func viewsBesideAnUpdate(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	seen := func(want int64) {
		if got := l.turn(store.TurnRef{Turn: "turn_1"}).Version; got != want {
			l.t.Errorf("a view sees version %d, want %d", got, want)
		}
	}
	if err := l.update(func(tx store.Tx) error {
		err := tx.Save(store.Batch{Turn: versioned(r, 1)})
		seen(1)
		return err
	}); err != nil {
		l.t.Error(err)
	}
	seen(2)
}

func viewsRunTogether(l *ledger) {
	r := plain(1)
	l.save(store.Batch{Turn: &r})
	l.view(func(tx store.Tx) error {
		if _, err := tx.Turn(store.TurnRef{Turn: "turn_1"}); err != nil {
			return err
		}
		return l.store.View(context.WithoutCancel(l.t.Context()), func(tx store.Tx) error {
			_, err := tx.Turn(store.TurnRef{Turn: "turn_1"})
			return err
		})
	})
	race(func(int) {
		for range rounds {
			l.leads("the turn", store.TurnRef{Session: "sess_1"}, "turn_1")
		}
	})
}
