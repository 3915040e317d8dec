package kernel

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// sweepSoon looks at once for messages that were left behind, and again when those that are
// too young now have come of age.
func (k *Kernel) sweepSoon() {
	k.mu.Lock()
	k.sweepAt, k.resweep = 0, true
	k.mu.Unlock()
	signal(k.relayWakeup)
}

// sweepDue sweeps when it is time to, and says when it is the next time.
func (k *Kernel) sweepDue(ctx context.Context, now time.Duration) (wait time.Duration) {
	k.mu.Lock()
	if k.sweepAt > now {
		defer k.mu.Unlock()
		return k.sweepAt - now
	}
	wait = k.o.Poll
	if k.resweep {
		wait = relayGrace + time.Millisecond
	}
	k.sweepAt, k.resweep = now+wait, false
	k.mu.Unlock()
	if err := k.sweep(ctx); err != nil && ctx.Err() == nil {
		k.o.Logger.Error("outbox", "error", err)
	}
	return wait
}

// sweep publishes the messages that nobody has marked as left although it is time: their
// kernel is gone, or could not tell. One session's trouble is its own.
func (k *Kernel) sweep(ctx context.Context) error {
	before := k.monotonicNow(k.now()).Add(-relayGrace)
	sessions, err := k.unsentSessions(ctx, before)
	for _, session := range sessions {
		if serr := k.sweepSession(ctx, session, before); serr != nil {
			err = errors.Join(err, store.Unexpected("the messages of "+session, serr))
		}
	}
	return err
}

// unsentSessions lists the sessions with old messages, but for those that are on their way here or
// not attended to.
func (k *Kernel) unsentSessions(ctx context.Context, before time.Time) ([]string, error) {
	var sessions []string
	err := k.o.Store.View(ctx, func(tx store.Tx) error {
		found := map[string]bool{}
		f := store.OutboxFilter{Before: before, Limit: relayPage}
		for {
			rows, err := tx.Outbox(f)
			if err != nil {
				return err
			}
			for _, row := range rows {
				f.After = row.ID
				if !found[row.Session] && !k.outbox.has(row.Session) && k.activeSession(row.Session) {
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

// sweepSession publishes and marks the old messages of one session. Nothing is published inside
// a transaction: what one kernel has taken is too young for another, for as long as it was when
// it was written.
func (k *Kernel) sweepSession(ctx context.Context, session string, before time.Time) error {
	rows, err := k.claimUnsent(ctx, session, before)
	if err != nil || len(rows) == 0 {
		return err
	}
	b, dead := k.sendAll(ctx, rows)
	if len(b.Published)+len(b.Dead) == 0 {
		return nil
	}
	if err := k.update(context.WithoutCancel(ctx), func(tx store.Tx) error { return tx.Save(b) }); err != nil {
		return err
	}
	k.reportDead(ctx, dead)
	return nil
}

// claimUnsent takes the old messages of a session, unless another kernel is at it.
func (k *Kernel) claimUnsent(ctx context.Context, session string, before time.Time) ([]store.Outgoing, error) {
	var rows []store.Outgoing
	err := k.update(ctx, func(tx store.Tx) error {
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

// sendAll publishes rows in their order as far as the bus can be reached.
func (k *Kernel) sendAll(ctx context.Context, rows []store.Outgoing) (b store.Batch, dead []store.Outgoing) {
	for _, row := range rows {
		switch became, reason := k.send(ctx, row); became {
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

// activeSession is attends, by the session.
func (k *Kernel) activeSession(session string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.o.OwnedTurnsOnly {
		return slices.Contains(slices.Collect(maps.Values(k.ownedTurns)), session)
	}
	return !slices.Contains(slices.Collect(maps.Values(k.suspended)), session)
}
