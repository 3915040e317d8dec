package outbox

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// SweepSoon sweeps for unsent messages at once, and again when messages that are too recent now are old enough.
func (p *Outbox) SweepSoon() {
	p.mu.Lock()
	p.sweepAt, p.resweep = 0, true
	p.mu.Unlock()
	p.wake()
}

// sweepDue sweeps if a sweep is due, and returns how long to wait until the next one.
func (p *Outbox) sweepDue(ctx context.Context, now time.Duration) (wait time.Duration) {
	p.mu.Lock()
	if p.sweepAt > now {
		defer p.mu.Unlock()
		return p.sweepAt - now
	}
	wait = p.o.Poll
	if p.resweep {
		wait = relayGrace + time.Millisecond
	}
	p.sweepAt, p.resweep = now+wait, false
	p.mu.Unlock()
	if err := p.sweep(ctx); err != nil && ctx.Err() == nil {
		p.o.Logger.Error("outbox", "error", err)
	}
	return wait
}

// sweep publishes messages that are overdue and not acked: their kernel is gone, or could not record the ack. An
// error in one session does not affect the others.
func (p *Outbox) sweep(ctx context.Context) error {
	before := p.o.MonotonicNow().Add(-relayGrace)
	sessions, err := p.unsentSessions(ctx, before)
	for _, session := range sessions {
		if serr := p.sweepSession(ctx, session, before); serr != nil {
			err = errors.Join(err, store.Unexpected("the messages of "+session, serr))
		}
	}
	return err
}

// unsentSessions returns the sessions with old messages, but for those that are queued here or that this process
// does not work on.
func (p *Outbox) unsentSessions(ctx context.Context, before time.Time) ([]string, error) {
	var sessions []string
	err := p.o.Ledger.View(ctx, func(tx store.Tx) error {
		found := map[string]bool{}
		f := store.OutboxFilter{Before: before, Limit: relayPage}
		for {
			rows, err := tx.Outbox(f)
			if err != nil {
				return err
			}
			for _, row := range rows {
				f.After = row.ID
				if !found[row.Session] && !p.has(row.Session) && p.o.Active(row.Session) {
					found[row.Session] = true
				}
			}
			if len(rows) < relayPage {
				sessions = slices.Sorted(maps.Keys(found))
				return nil
			}
		}
	})
	return sessions, err
}

// sweepSession publishes and acks the old messages of one session. Nothing is published inside a transaction.
// Instead, a claim renews a message's age, so that other kernels leave it alone for as long as after its commit.
func (p *Outbox) sweepSession(ctx context.Context, session string, before time.Time) error {
	rows, err := p.claimUnsent(ctx, session, before)
	if err != nil || len(rows) == 0 {
		return err
	}
	b, dead := p.sendAll(ctx, rows)
	if len(b.Published)+len(b.Dead) == 0 {
		return nil
	}
	if err := store.Update(context.WithoutCancel(ctx), p.o.Ledger, func(tx store.Tx) error { return tx.Save(b) }); err != nil {
		return err
	}
	p.o.Undelivered(ctx, dead)
	return nil
}

// claimUnsent claims the old messages of a session, unless another kernel is sending them.
func (p *Outbox) claimUnsent(ctx context.Context, session string, before time.Time) ([]store.Outgoing, error) {
	var rows []store.Outgoing
	err := store.Update(ctx, p.o.Ledger, func(tx store.Tx) error {
		rows = nil
		held, err := tx.Turns(store.TurnFilter{Session: session, Claim: true})
		if err != nil || len(held) == 0 {
			return err
		}
		if rows, err = tx.Outbox(store.OutboxFilter{Session: session, Before: before}); err != nil || len(rows) == 0 {
			return err
		}
		var b store.Batch
		for _, row := range rows {
			b.Claimed = append(b.Claimed, row.ID)
		}
		return tx.Save(b)
	})
	return rows, err
}

// sendAll publishes rows in order for as long as the bus can be reached.
func (p *Outbox) sendAll(ctx context.Context, rows []store.Outgoing) (b store.Batch, dead []store.Outgoing) {
	for _, row := range rows {
		switch became, reason := p.send(ctx, row); became {
		case sendDone:
			b.Published = append(b.Published, row.ID)
		case sendImpossible:
			b.Dead = append(b.Dead, store.DeadLetter{ID: row.ID, Reason: reason})
			dead = append(dead, row)
		case sendRetry:
			return b, dead
		}
	}
	return b, dead
}

// Freeze makes dead letters of all unsent messages, with a reason: they may have been sent already, in the lost
// part of a restored ledger.
func (p *Outbox) Freeze(ctx context.Context, reason string) error {
	for {
		left := 0
		err := store.Update(ctx, p.o.Ledger, func(tx store.Tx) error {
			rows, err := tx.Outbox(store.OutboxFilter{Limit: relayPage})
			if err != nil {
				return err
			}
			var b store.Batch
			for _, row := range rows {
				b.Dead = append(b.Dead, store.DeadLetter{ID: row.ID, Reason: reason})
			}
			left = len(rows)
			return tx.Save(b)
		})
		if err != nil || left == 0 {
			return store.ProtocolError(err)
		}
	}
}
