// Package incarnation finds out that a ledger has gone back in time: that a backup was put in its place, or a snapshot of its disk.
//
// The ledger counts questions, answers, stops, and starts of calls with an effect. A copy of the count outside the ledger is written
// before a start is answered, and right after the other steps. A ledger that is restored from before such a step is behind the copy.
package incarnation

import (
	"context"
	"sync/atomic"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

const (
	counter = "incarnation"
	// recovering is above 0 while a restored ledger is being recovered: if the process dies meanwhile, the next one must go on.
	recovering = "recovering"
)

// Copy is the count kept outside the ledger. When it is ahead of the ledger's own, the ledger has gone back in time.
type Copy interface {
	Load() (int64, error)
	// Store is durable when it returns. It is called concurrently, and keeps the greatest of the
	// numbers: a later call may have a smaller one.
	Store(n int64) error
}

// Options of a [Counter]. Ledger and Act are required.
type Options struct {
	Ledger store.Ledger
	// Copy is the count outside; nil detects nothing.
	Copy Copy
	// Takeover says that the ledger comes from another server, which may have gone on since: it counts as gone back, once.
	Takeover bool
	// Numbers are the counters of numbers that people were told. After a restore none of those in the lost part is given out again: as
	// many are passed over as steps were lost.
	Numbers []string
	// Act enters what was found into the audit chain.
	Act func(api.AuditAct) ([]api.AuditAct, error)
}

// Counter counts what must not happen twice. Make it with [New]. Its methods may be called concurrently.
type Counter struct {
	o     Options
	taken atomic.Bool // the takeover has been counted
}

// New returns a counter.
func New(o Options) *Counter { return &Counter{o: o} }

// Count returns the count of a ledger. Anyone who replaces a ledger with an older one sets the copy outside above both, so that
// [Counter.WentBack] detects it.
func Count(ctx context.Context, l store.Ledger) (n int64, err error) {
	err = l.View(ctx, func(tx store.Tx) error {
		n, err = tx.Count(counter, 0)
		return err
	})
	return n, err
}

// Add counts a step in its transaction. Save the copy once it is committed.
func (c *Counter) Add(tx store.Tx) error {
	_, err := tx.Count(counter, 1)
	return err
}

// Save brings the copy outside up to the ledger's count.
func (c *Counter) Save(ctx context.Context) error {
	if c.o.Copy == nil {
		return nil
	}
	n, err := Count(ctx, c.o.Ledger)
	if err != nil {
		return err
	}
	return c.o.Copy.Store(n)
}

// Change runs a change that is not a step, and counts it.
func (c *Counter) Change(ctx context.Context, fn func(store.Tx) error) error {
	err := store.Update(ctx, c.o.Ledger, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return c.Add(tx)
	})
	if err != nil {
		return err
	}
	return c.Save(ctx)
}
