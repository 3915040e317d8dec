package kernel

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

const (
	relayPage  = 100
	relayTries = 3
	relayPause = 200 * time.Millisecond
)

// relay publishes the outbox in the order of each session. A row that cannot be
// published is put aside with its reason; the rows after it still leave.
func (k *Kernel) relay(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.bell:
		case <-timer.C:
		}
		for more := true; more; {
			more = k.relayOnce(ctx) == relayPage
		}
		timer.Reset(time.Second)
	}
}

// relayOnce publishes one page and records what left. Recording may be lost: then the
// message leaves twice, which a start absorbs.
func (k *Kernel) relayOnce(ctx context.Context) int {
	var rows []Outgoing
	err := k.o.Store.View(ctx, func(tx Tx) (err error) {
		rows, err = tx.Outbox(relayPage)
		return err
	})
	if err != nil || len(rows) == 0 {
		return 0
	}
	var done Batch
	for _, row := range rows {
		if err := k.publish(ctx, row); err != nil {
			if ctx.Err() != nil {
				break
			}
			k.o.Logger.Error("unpublishable", "subject", row.Subject, "error", err)
			done.Dead = append(done.Dead, DeadLetter{ID: row.ID, Reason: err.Error()})
			continue
		}
		done.Published = append(done.Published, row.ID)
		if row.Call != "" {
			k.o.Reached("command.published")
		}
	}
	if err := k.o.Store.Update(context.WithoutCancel(ctx), func(tx Tx) error { return tx.Save(done) }); err != nil {
		k.o.Logger.Error("outbox", "error", err)
		return 0
	}
	k.tellDead(ctx, rows, done.Dead)
	return len(rows)
}

// tellDead tells of messages that were put aside. The turn goes on: a command is rung
// again until its call is started or too old.
func (k *Kernel) tellDead(ctx context.Context, rows []Outgoing, dead []DeadLetter) {
	for _, letter := range dead {
		i := slices.IndexFunc(rows, func(row Outgoing) bool { return row.ID == letter.ID })
		if i < 0 || rows[i].Call == "" {
			continue
		}
		err := k.step(ctx, TurnRef{Call: rows[i].Call}, func(s *step) error {
			if s.rec.State.Status == turn.Ended {
				return nil
			}
			return s.note(turn.Note{Kind: NoteUndelivered, Call: rows[i].Call})
		})
		if err != nil && ctx.Err() == nil {
			k.o.Logger.Error("telling of a dead letter", "call", rows[i].Call, "error", err)
		}
	}
}

func (k *Kernel) publish(ctx context.Context, row Outgoing) error {
	var err error
	for try := range relayTries {
		if err = k.o.Bus.Publish(ctx, row.Subject, row.Header, row.Payload); err == nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, relayPause<<try)
	}
	return err
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// broadcast sends committed events on, best effort: a hub that sees a gap in the
// sequence reads the range from the ledger.
func (k *Kernel) broadcast(ctx context.Context, rows []Event) {
	for _, e := range rows {
		payload, err := json.Marshal(utp.EventRow{Seq: e.Seq, Body: e.Body})
		if err != nil || len(payload) > utp.MessageLimit {
			continue
		}
		if err := k.o.Bus.Publish(ctx, EventsSubject(k.o.Project, e.Session), nil, payload); err != nil {
			k.o.Logger.Debug("broadcast", "session", e.Session, "error", err)
		}
	}
}

// EventsSubject is where the events of a session are broadcast.
func EventsSubject(project, session string) string {
	return "earshot.v1." + project + ".events." + session
}
