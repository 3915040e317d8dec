package kernel

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// reportDead reports dead letters. The turn goes on: a command is sent again until its call is started
// or too old.
func (k *Kernel) reportDead(ctx context.Context, rows []store.Outgoing) {
	for _, row := range rows {
		if row.Call == "" {
			continue
		}
		err := k.step(ctx, store.TurnRef{Call: row.Call}, func(s *step) error {
			return s.dispatch(turn.Undelivered{Call: row.Call})
		})
		if err != nil && ctx.Err() == nil {
			k.o.Logger.Error("telling of a dead letter", "call", row.Call, "error", err)
		}
	}
}

// broadcast publishes committed events of a person's turn, best effort: a hub that sees a gap in the
// sequence reads the missing range from the ledger.
func (k *Kernel) broadcast(ctx context.Context, owner string, rows []store.Event) {
	for _, e := range rows {
		payload, err := json.Marshal(api.EventRow{Seq: e.Seq, Body: e.Body, Template: e.Template, Params: e.Params, Session: e.Session, Owner: owner})
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
