package storetest

import (
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Factory makes the stores under test.
type Factory struct {
	// Open makes an empty store whose clock is now. The suite closes it.
	Open func(t *testing.T, now func() time.Time) store.Ledger
	// Locate makes an empty place for a ledger, in which everything that was answered has to survive. A store that retains
	// nothing is Volatile instead.
	Locate   func(t *testing.T) Location
	Volatile bool
}

// Exercise runs the suite.
func Exercise(t *testing.T, f Factory) {
	t.Helper()
	if (f.Locate == nil) != f.Volatile {
		t.Fatal("a store either survives in places, or is volatile and has none")
	}
	t.Run("durability", func(t *testing.T) {
		t.Parallel()
		if f.Volatile {
			nothingSurvives(t, f)
		} else {
			survive(t, f.Locate)
		}
	})
	for _, group := range []struct {
		name  string
		cases []exercise
	}{
		{"samples", sampleCases()},
		{"turns", turnCases()},
		{"claims", claimCases()},
		{"due", dueCases()},
		{"texts", textCases()},
		{"handles", handleCases()},
		{"copies", copyCases()},
		{"events", eventCases()},
		{"progress", progressCases()},
		{"transactions", transactionCases()},
		{"views", viewCases()},
		{"contexts", contextCases()},
		{"consents", consentCases()},
		{"cards", cardCases()},
		{"results", resultCases()},
		{"outbox", outboxCases()},
		{"blobs", blobCases()},
		{"tools", toolCases()},
		{"counters", counterCases()},
		{"wishes", preferenceCases()},
		{"request keys", keyCases()},
		{"passkeys", passkeyCases()},
		{"agents", agentCases()},
		{"boxes", boxCases()},
		{"retention", retentionCases()},
		{"audit", auditCases()},
		{"permissions", permissionCases()},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					var clock clock
					l := opened(t, f.Open(t, clock.now))
					l.clock = &clock
					c.run(l)
				})
			}
		})
	}
}

// exercise is one case of the suite, on a store of its own.
type exercise struct {
	name string
	run  func(l *ledger)
}

// ledger is a store under test.
type ledger struct {
	store store.Ledger
	clock *clock
	t     *testing.T
}

// clock is a store's clock, which a case sets forward.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) pass(d time.Duration) { c.ahead.Add(int64(d)) }

func opened(t *testing.T, s store.Ledger) *ledger {
	t.Helper()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return &ledger{store: s, t: t}
}

// update runs fn and returns its error.
func (l *ledger) update(fn func(store.Tx) error) error { return l.store.Update(l.t.Context(), fn) }

// view runs fn, which has to succeed.
func (l *ledger) view(fn func(store.Tx) error) {
	l.t.Helper()
	if err := l.store.View(l.t.Context(), fn); err != nil {
		l.t.Errorf("View: %v", err)
	}
}

// try saves a batch and returns the error.
func (l *ledger) try(b store.Batch) error {
	return l.update(func(tx store.Tx) error { return tx.Save(b) })
}

// save saves a batch, which has to succeed.
func (l *ledger) save(b store.Batch) {
	l.t.Helper()
	if err := l.try(b); err != nil {
		l.t.Fatalf("Save: %v", err)
	}
}

// refuse saves a batch, which has to fail with the error.
func (l *ledger) refuse(why string, want error, b store.Batch) {
	l.t.Helper()
	if err := l.try(b); !errors.Is(err, want) {
		l.t.Errorf("%s: got %v, want %v", why, err, want)
	}
}

// turn reads a turn, which has to be there.
func (l *ledger) turn(ref store.TurnRef) store.Record {
	l.t.Helper()
	var r store.Record
	l.view(func(tx store.Tx) (err error) {
		r, err = tx.Turn(ref)
		return err
	})
	r.Last = 0 // it is read with a turn, and not saved as a part of it; events prove their numbers themselves
	return r
}

// missing reads something that must not be there.
func (l *ledger) missing(what string, read func(store.Tx) error) {
	l.t.Helper()
	if err := l.store.View(l.t.Context(), read); !errors.Is(err, store.ErrNotFound) {
		l.t.Errorf("%s: got %v, want %v", what, err, store.ErrNotFound)
	}
}

func (l *ledger) events(session string) []store.Event {
	l.t.Helper()
	var rows []store.Event
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.Events(store.EventFilter{Session: session, Limit: 1 << 20})
		return err
	})
	return rows
}

func (l *ledger) outbox() []store.Outgoing {
	l.t.Helper()
	var rows []store.Outgoing
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.Outbox(store.OutboxFilter{})
		return err
	})
	return rows
}

func (l *ledger) card(id string) utp.Card {
	l.t.Helper()
	var c utp.Card
	l.view(func(tx store.Tx) (err error) {
		c, err = store.OneRow(tx.Cards(store.CardFilter{IDs: []string{id}}))
		return err
	})
	return c
}

func (l *ledger) results(turnID string) []store.ResultRow {
	l.t.Helper()
	var rows []store.ResultRow
	l.view(func(tx store.Tx) (err error) {
		rows, err = tx.Results(turnID, 0, 1<<20)
		return err
	})
	return rows
}

func (l *ledger) count(name string) int64 {
	l.t.Helper()
	var n int64
	l.view(func(tx store.Tx) (err error) {
		n, err = tx.Count(name, 0)
		return err
	})
	return n
}

// same compares what came back with what was written.
func same[T any](l *ledger, what string, got, want T) {
	l.t.Helper()
	if !reflect.DeepEqual(got, want) {
		l.t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}
