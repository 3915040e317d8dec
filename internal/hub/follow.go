package hub

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Follow yields the events of a session after a sequence number, in order and without a gap. It ends after the
// session's last event, with the context, or when the consumer stops. An error is the last value.
func (h *Hub) Follow(ctx context.Context, session string, after int64) iter.Seq2[api.EventRow, error] {
	return func(yield func(api.EventRow, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		heard := make(chan api.EventRow, 64) // written by the subscription, read here
		stop, err := h.o.Conn.Broadcasts(ctx, session, func(payload []byte) {
			var row api.EventRow
			if json.Unmarshal(payload, &row) != nil {
				return
			}
			select {
			case heard <- row:
			default: // full: the gap will be read from the ledger
			}
		})
		if err != nil {
			yield(api.EventRow{}, fmt.Errorf("hub: %w", err))
			return
		}
		defer stop()
		f := follower{hub: h, session: session, last: after, yield: yield}
		if err := f.run(ctx, heard); err != nil {
			yield(api.EventRow{}, err)
		}
	}
}

// follower is the state of one Follow.
type follower struct {
	hub       *Hub
	session   string
	last      int64
	yield     func(api.EventRow, error) bool
	abandoned bool // the consumer has stopped
	ended     bool // the session has had its last event
}

func (f *follower) run(ctx context.Context, events <-chan api.EventRow) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !f.abandoned && !f.ended {
		select {
		case <-ctx.Done():
			return nil
		case row := <-events:
			if row.Seq == f.last+1 {
				f.deliver(row)
				timer.Reset(f.endDelay(row))
				continue
			}
			if row.Seq <= f.last {
				continue
			}
		case <-timer.C:
		}
		if err := f.read(ctx); err != nil {
			return err
		}
		timer.Reset(f.hub.o.Poll)
	}
	return nil
}

// endDelay returns how soon to check whether the session has ended: at once after a terminal event.
func (f *follower) endDelay(row api.EventRow) time.Duration {
	var head struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(row.Body, &head) != nil {
		return f.hub.o.Poll
	}
	switch head.Type {
	case "aaep:agent.session.completed", "aaep:agent.session.errored", "aaep:agent.session.cancelled":
		return 0
	}
	return f.hub.o.Poll
}

// read delivers the events after the last one from the ledger.
func (f *follower) read(ctx context.Context) error {
	for !f.abandoned {
		var page api.EventsAnswer
		err := rpc.AskUntil(ctx, f.hub.o.Conn, api.OpEvents, api.EventsRequest{Session: f.session, After: f.last}, &page)
		if err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // The caller has ended it.
			}
			return fmt.Errorf("hub: %w", err)
		}
		for _, row := range page.Events {
			if f.abandoned {
				return nil
			}
			f.deliver(row)
		}
		if !page.More {
			f.ended = page.Ended
			return nil
		}
	}
	return nil
}

func (f *follower) deliver(row api.EventRow) {
	f.last = row.Seq
	f.abandoned = !f.yield(row, nil)
}
