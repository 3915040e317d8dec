package incarnation

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// WentBack reports whether the ledger has gone back since the copy was written, or is still to be recovered from that. If it has,
// the counts are moved past what was lost before anything else is written: what a recovery writes counts as well, and would hide
// the loss. Call [Counter.Recovered] when all is done; until then WentBack goes on saying so, also in the next process.
func (c *Counter) WentBack(ctx context.Context) (bool, error) {
	if c.o.Copy == nil {
		return false, nil
	}
	outside, err := c.o.Copy.Load()
	if err != nil {
		return false, store.Unexpected("reading the incarnation", err)
	}
	var s state
	err = c.o.Ledger.View(ctx, func(tx store.Tx) (err error) {
		s, err = c.look(tx, outside)
		return err
	})
	if err == nil && s.lost > 0 {
		err = store.Update(ctx, c.o.Ledger, func(tx store.Tx) (err error) {
			if s, err = c.look(tx, outside); err != nil || s.lost == 0 { // another kernel may have been faster
				return err
			}
			return c.skip(tx, s.lost)
		})
		if err == nil {
			c.taken.Store(true)
		}
	}
	switch {
	case err != nil:
		return false, store.ProtocolError(err)
	case s.restored:
		return true, nil
	}
	return false, c.o.Copy.Store(s.inside)
}

// state is how a ledger stands beside the copy.
type state struct {
	inside, lost int64
	restored     bool
}

func (c *Counter) look(tx store.Tx, outside int64) (s state, err error) {
	if s.inside, err = tx.Count(counter, 0); err != nil {
		return s, err
	}
	under, err := tx.Count(recovering, 0)
	s.lost = max(outside-s.inside, 0)
	if c.o.Takeover && !c.taken.Load() { // what another server did with it is not known here
		s.lost = max(s.lost, 1)
	}
	s.restored = s.lost+under > 0
	return s, err
}

// skip moves the counters past what was lost: each question and each permission in the lost part was counted when it was made.
func (c *Counter) skip(tx store.Tx, lost int64) error {
	for _, number := range c.o.Numbers {
		if _, err := tx.Count(number, lost); err != nil {
			return err
		}
	}
	if _, err := tx.Count(counter, lost+1); err != nil {
		return err
	}
	if _, err := tx.Count(recovering, 1); err != nil {
		return err
	}
	detail := "the ledger went back in time"
	if c.o.Takeover {
		detail = "taken over from another data directory"
	}
	a, err := c.o.Act(api.AuditAct{Act: api.ActRestore, Subject: "ledger", Detail: detail})
	if err != nil {
		return err
	}
	return tx.Save(store.Batch{Acts: a})
}

// Recovering reports whether the ledger is still to be recovered; another kernel may have done it.
func (c *Counter) Recovering(tx store.Tx) (bool, error) {
	n, err := tx.Count(recovering, 0)
	return n > 0, err
}

// Recovered notes that the ledger is recovered, and saves the copy.
func (c *Counter) Recovered(ctx context.Context) error {
	err := store.Update(ctx, c.o.Ledger, func(tx store.Tx) error {
		n, err := tx.Count(recovering, 0)
		if err == nil && n > 0 {
			_, err = tx.Count(recovering, -n)
		}
		return err
	})
	if err != nil {
		return store.ProtocolError(err)
	}
	return c.Save(ctx)
}
