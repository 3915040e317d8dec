package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

const (
	relayPage = 100
	// relayPause is how soon a failed send is tried again, and how long the ack of a sent message waits
	// for a step of its session to record it.
	relayPause = time.Second
	// relayGrace is how long the process that has committed a message has to publish and ack it before
	// others do.
	relayGrace = 2 * time.Second
)

// Run sends the messages that their own steps did not send: those that failed here, and those that others have
// left unsent. It also records the acks that no step has recorded.
func (p *Outbox) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			p.flush(context.WithoutCancel(ctx), p.o.SinceBoot())
			return
		case <-p.wakeup:
		case <-timer.C:
		}
		select { // its cause is about to be handled
		case <-p.wakeup:
		default:
		}
		timer.Reset(p.relayOnce(ctx))
	}
}

// relayOnce does what is due, and returns how long to wait until the next time.
func (p *Outbox) relayOnce(ctx context.Context) time.Duration {
	now := p.o.SinceBoot()
	for _, session := range p.blocked() {
		p.Publish(ctx, session)
	}
	again := p.flush(ctx, now-relayPause) || len(p.blocked()) > 0
	wait := p.sweepDue(ctx, now)
	if again {
		wait = min(wait, relayPause)
	}
	return wait
}

// Publish sends the ready messages of a session in order. When the bus is unreachable, the rest waits, so that no
// message overtakes another. A row that can never be sent becomes a dead letter.
func (p *Outbox) Publish(ctx context.Context, session string) {
	ctx = context.WithoutCancel(ctx)
	for {
		row, is := p.next(session, p.o.SinceBoot())
		if !is {
			return
		}
		became, reason := p.send(ctx, row)
		p.sent(row, became, reason, p.o.SinceBoot())
		if became != sendDone {
			p.wake()
		}
		if became == sendRetry {
			return
		}
	}
}

// send publishes one row.
func (p *Outbox) send(ctx context.Context, row store.Outgoing) (became sendResult, reason string) {
	err := p.transmit(ctx, row)
	switch {
	case unpublishable(err):
		p.o.Logger.Error("unpublishable", "subject", row.Subject, "error", err)
		return sendImpossible, err.Error()
	case err != nil:
		p.o.Logger.Warn("the bus is out of reach; what is to leave waits", "error", err)
		return sendRetry, ""
	}
	if row.Call != "" {
		p.o.Reached("command.published")
	}
	return sendDone, ""
}

func unpublishable(err error) bool {
	var known interface{ Unpublishable() bool }
	return errors.As(err, &known) && known.Unpublishable()
}

// flush records in the ledger what was sent before a time and what never will be, and reports whether there is
// more to record. If the record is lost, a message is sent twice, which the start of the call tolerates.
func (p *Outbox) flush(ctx context.Context, before time.Duration) (more bool) {
	done, dead, of, waiting := p.unacked(before)
	var b store.Batch
	for _, ids := range done {
		b.Published = append(b.Published, ids...)
	}
	if b.Dead = dead; len(b.Published)+len(b.Dead) == 0 {
		return waiting
	}
	if err := p.o.Ledger.Update(ctx, func(tx store.Tx) error { return tx.Save(b) }); err != nil {
		p.o.Logger.Error("outbox", "error", err)
		return true
	}
	for session, ids := range done {
		p.Acked(session, ids)
	}
	p.deadRecorded(of)
	p.o.Undelivered(ctx, of)
	return waiting
}

// AckSoon makes the relay record what was sent, unless a step does so before.
func (p *Outbox) AckSoon() {
	p.mu.Lock()
	soon := p.flushAt <= p.o.SinceBoot()
	if soon {
		p.flushAt = p.o.SinceBoot() + relayPause
	}
	p.mu.Unlock()
	if soon {
		p.wake()
	}
}
