package storetest

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func transactionCases() []exercise {
	return []exercise{
		{"an error comes back as it is", errorsComeBack},
		{"an error undoes everything", errorsUndo},
		{"a hidden error undoes everything", hiddenErrorsUndo},
		{"a missing row does not spoil the update", missingRowsAreFine},
		{"a panic is an error", panicsAreErrors},
		{"a step is written whole or not at all", stepsAreWhole},
		{"a failure does not disturb the others", failuresAreAlone},
		{"an update sees its own writes", writesAreSeen},
		{"a transaction ends with its function", transactionsEnd},
		{"a closed store refuses", closedStores},
	}
}

type customError struct{ code string }

func (e *customError) Error() string { return e.code }

func errorsComeBack(l *ledger) {
	want := &customError{"busy"}
	var got *customError
	if err := l.update(func(store.Tx) error { return want }); !errors.As(err, &got) || got != want {
		l.t.Errorf("Update: got %v, want the very error of fn", err)
	}
	err := l.store.View(l.t.Context(), func(store.Tx) error { return want })
	if !errors.As(err, &got) || got != want {
		l.t.Errorf("View: got %v, want the very error of fn", err)
	}
}

// untouched checks that nothing of everything(1) is there.
func (l *ledger) untouched() {
	l.t.Helper()
	const n = 1
	for what, read := range map[string]func(store.Tx) error{
		"turn":     func(tx store.Tx) error { _, err := tx.Turn(store.TurnRef{Turn: id("turn", n)}); return err },
		"call":     func(tx store.Tx) error { _, err := tx.Turn(store.TurnRef{Call: id("tc", n)}); return err },
		"question": func(tx store.Tx) error { _, err := tx.Turn(store.TurnRef{Question: n}); return err },
		"token":    func(tx store.Tx) error { _, err := tx.Turn(store.TurnRef{Token: id("token", n)}); return err },
		"card": func(tx store.Tx) error {
			_, err := store.OneRow(tx.Cards(store.CardFilter{IDs: []string{id("result", n)}}))
			return err
		},
		"tool": func(tx store.Tx) error {
			_, err := store.OneRow(tx.Tools(store.ToolFilter{Names: []string{id("files.tool", n)}}))
			return err
		},
	} {
		l.missing(what, read)
	}
	same(l, "events", len(l.events(id("sess", n))), 0)
	same(l, "results", len(l.results(id("turn", n))), 0)
	same(l, "outbox", len(l.outbox()), 0)
	l.view(func(tx store.Tx) error {
		sealed, serr := tx.Sealed(id("tc", n))
		same(l, "sealed values", len(sealed), 0)
		receipts, rerr := tx.Receipts(id("sess", n))
		same(l, "receipts", len(receipts), 0)
		preferences, perr := tx.Preferences(id("ann", n))
		same(l, "preferences", preferences, store.Preferences{})
		key, kerr := tx.RequestKey(id("ann", n), digest("key", n))
		same(l, "key", key, store.RequestKey{})
		return errors.Join(serr, rerr, perr, kerr)
	})
}

func errorsUndo(l *ledger) {
	err := l.update(func(tx store.Tx) error {
		if err := tx.Save(everything(1)); err != nil {
			return err
		}
		if _, err := tx.Count("n", 5); err != nil {
			return err
		}
		return errOnPurpose
	})
	if !errors.Is(err, errOnPurpose) {
		l.t.Errorf("got %v", err)
	}
	l.untouched()
	same(l, "counter", l.count("n"), 0)
	b := everything(1) // and all of it can be written now
	l.save(b)
	readBack(l, 1, b)
}

func hiddenErrorsUndo(l *ledger) {
	r := plain(9)
	l.save(store.Batch{Turn: &r})
	err := l.update(func(tx store.Tx) error {
		if err := tx.Save(everything(1)); err != nil {
			return err
		}
		_ = tx.Save(store.Batch{Turn: &r}) // it is there: a conflict, which is hidden here
		return nil
	})
	if !errors.Is(err, store.ErrConflict) {
		l.t.Errorf("an update whose write has failed: got %v, want %v", err, store.ErrConflict)
	}
	l.untouched()
}

func missingRowsAreFine(l *ledger) {
	err := l.update(func(tx store.Tx) error {
		if _, err := store.OneRow(tx.Cards(store.CardFilter{IDs: []string{"none"}})); !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("card: %w", err)
		}
		return tx.Save(everything(1))
	})
	if err != nil {
		l.t.Error(err)
	}
	l.leads("the turn", store.TurnRef{Turn: "turn_1"}, "turn_1")
}

func panicsAreErrors(l *ledger) {
	err := l.update(func(tx store.Tx) error {
		if err := tx.Save(everything(1)); err != nil {
			return err
		}
		panic("on purpose")
	})
	if err == nil {
		l.t.Error("a panic in an update is not an error")
	}
	if err := l.store.View(l.t.Context(), func(store.Tx) error { panic("on purpose") }); err == nil {
		l.t.Error("a panic in a view is not an error")
	}
	l.untouched()
	l.save(everything(1))
}

// stepsAreWhole breaks a step at each of its parts.
func stepsAreWhole(l *ledger) {
	there := everything(2)
	l.save(there)
	l.save(store.Batch{Published: []int64{l.outbox()[0].ID}})
	for what, breaks := range map[string]func(*store.Batch){
		"event":    func(b *store.Batch) { b.Events = append(b.Events, there.Events[0]) },
		"card":     func(b *store.Batch) { b.Cards[0].ID = there.Cards[0].ID },
		"consent":  func(b *store.Batch) { b.Consents = append(b.Consents, consentTo(2)) },
		"consumed": func(b *store.Batch) { b.Consumed = append(b.Consumed, consentTo(2)) },
		"grant":    func(b *store.Batch) { b.Grants = append(b.Grants, there.Grants[0]) },
		"report":   func(b *store.Batch) { b.Reports = append(b.Reports, there.Reports[0]) },
		"applied":  func(b *store.Batch) { b.Applied = append(b.Applied, applied(2)) },
		"sealed":   func(b *store.Batch) { b.Sealed = append(b.Sealed, there.Sealed[0]) },
		"message":  func(b *store.Batch) { b.SendOnce = append(b.SendOnce, 999) },
	} {
		b := everything(1)
		breaks(&b)
		l.refuse(what, store.ErrConflict, b)
		l.untouched()
	}
}

// failuresAreAlone mixes updates that succeed with such that fail, many at a time, so
// that a store which groups them does.
func failuresAreAlone(l *ledger) {
	race(func(i int) {
		for j := range rounds {
			n := i*rounds + j
			b := everything(n + 1)
			err := l.update(func(tx store.Tx) error {
				if err := tx.Save(b); err != nil || n%2 == 0 {
					return err
				}
				if n%4 == 1 {
					return errOnPurpose
				}
				return tx.Save(store.Batch{Blobs: []api.PutRequest{{SHA256: digestOf(nil), Size: 1, Data: []byte("x")}}})
			})
			if (n%2 == 0) != (err == nil) {
				l.t.Errorf("update %d: %v", n, err)
			}
		}
	})
	for n := range racers * rounds {
		if n%2 == 0 {
			b := everything(n + 1)
			b.Events[0].Seq, b.Events[1].Seq = 1, 2
			readBack(l, n+1, b)
			continue
		}
		l.missing("a failed update's turn", func(tx store.Tx) error {
			_, err := tx.Turn(store.TurnRef{Turn: id("turn", n+1)})
			return err
		})
	}
	same(l, "outbox", len(l.outbox()), racers*rounds/2)
}

func writesAreSeen(l *ledger) {
	err := l.update(func(tx store.Tx) error {
		if err := tx.Save(everything(1)); err != nil {
			return err
		}
		r, err := tx.Turn(store.TurnRef{Question: 1})
		if err != nil {
			return err
		}
		if err := tx.Save(store.Batch{Turn: &r}); err != nil {
			return fmt.Errorf("a second step: %w", err)
		}
		rows, err := tx.Events(store.EventFilter{Session: "sess_1", Limit: 9})
		same(l, "events", len(rows), 2)
		return err
	})
	if err != nil {
		l.t.Error(err)
	}
	same(l, "version", l.turn(store.TurnRef{Turn: "turn_1"}).Version, 2)
}

func transactionsEnd(l *ledger) {
	var kept store.Tx
	if err := l.update(func(tx store.Tx) error { kept = tx; return nil }); err != nil {
		l.t.Fatal(err)
	}
	if err := kept.Save(everything(1)); err == nil {
		l.t.Error("a transaction that has ended can be written to")
	}
	if _, err := kept.Turns(store.TurnFilter{}); err == nil {
		l.t.Error("a transaction that has ended can be read")
	}
	l.untouched()
}

func closedStores(l *ledger) {
	if err := l.store.Close(); err != nil {
		l.t.Fatal(err)
	}
	ran := false
	err := l.update(func(store.Tx) error { ran = true; return nil })
	if err == nil || ran {
		l.t.Errorf("Update of a closed store: %v, ran %t", err, ran)
	}
	if again, is := errors.AsType[interface {
		error
		SafeToRetry() bool
	}](err); !is || !again.SafeToRetry() {
		l.t.Errorf("Update of a closed store: %v; it is not said that nothing was written", err)
	}
	if err := l.store.View(l.t.Context(), func(store.Tx) error { ran = true; return nil }); err == nil || ran {
		l.t.Errorf("View of a closed store: %v, ran %t", err, ran)
	}
	if err := l.store.Close(); err != nil {
		l.t.Errorf("a second Close: %v", err)
	}
}
