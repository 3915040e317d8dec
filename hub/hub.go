package hub

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/rpc"
	"github.com/earshot-dev/earshot/utp"
)

// Conn is the hub's way to the kernel and to the broadcasts.
type Conn interface {
	rpc.Requester

	// Broadcasts hands the broadcasts of a session to hear, one after the other, until
	// stop is called; stop waits for the one in hand.
	Broadcasts(ctx context.Context, session string, hear func(payload []byte)) (stop func(), err error)
}

// Hub follows sessions and passes words on. It is safe for concurrent use.
type Hub struct {
	conn Conn
	poll time.Duration
}

// New makes a hub. Poll is how often a follower looks without having been told;
// 0 is 2 s.
func New(conn Conn, poll time.Duration) *Hub {
	if poll <= 0 {
		poll = 2 * time.Second
	}
	return &Hub{conn: conn, poll: poll}
}

// Follow yields the events of a session after a sequence number, in order and without
// a gap, until the session has had its last one, the context ends, or the consumer
// stops. The one error it yields is the last value.
func (h *Hub) Follow(ctx context.Context, session string, after int64) iter.Seq2[utp.EventRow, error] {
	return func(yield func(utp.EventRow, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		heard := make(chan utp.EventRow, 64) // written by the subscription, read here
		stop, err := h.conn.Broadcasts(ctx, session, func(payload []byte) {
			var row utp.EventRow
			if json.Unmarshal(payload, &row) != nil {
				return
			}
			select {
			case heard <- row:
			default: // full: the gap will be read from the ledger
			}
		})
		if err != nil {
			yield(utp.EventRow{}, fmt.Errorf("hub: %w", err))
			return
		}
		defer stop()
		f := follower{hub: h, session: session, last: after, yield: yield}
		if err := f.run(ctx, heard); err != nil {
			yield(utp.EventRow{}, err)
		}
	}
}

// follower is one Follow under way.
type follower struct {
	hub     *Hub
	session string
	last    int64
	yield   func(utp.EventRow, error) bool
	gone    bool // the consumer has stopped
	ended   bool // the session has had its last event
}

func (f *follower) run(ctx context.Context, heard <-chan utp.EventRow) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !f.gone && !f.ended {
		select {
		case <-ctx.Done():
			return nil
		case row := <-heard:
			if row.Seq == f.last+1 {
				f.deliver(row)
				timer.Reset(f.settle(row))
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
		timer.Reset(f.hub.poll)
	}
	return nil
}

// settle is how soon to look whether that was the end: at once after a terminal event.
func (f *follower) settle(row utp.EventRow) time.Duration {
	var head struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(row.Body, &head) != nil {
		return f.hub.poll
	}
	switch head.Type {
	case "aaep:agent.session.completed", "aaep:agent.session.errored", "aaep:agent.session.cancelled":
		return 0
	}
	return f.hub.poll
}

// read delivers what the ledger has after the last event.
func (f *follower) read(ctx context.Context) error {
	for !f.gone {
		var page utp.EventsAnswer
		err := rpc.AskUntil(ctx, f.hub.conn, utp.OpEvents, utp.EventsRequest{Session: f.session, After: f.last}, &page)
		if err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // The caller has ended it.
			}
			return fmt.Errorf("hub: %w", err)
		}
		for _, row := range page.Events {
			if f.gone {
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

func (f *follower) deliver(row utp.EventRow) {
	f.last = row.Seq
	f.gone = !f.yield(row, nil)
}

// Enqueue starts a turn.
func (h *Hub) Enqueue(ctx context.Context, q utp.EnqueueRequest) (utp.EnqueueAnswer, error) {
	var a utp.EnqueueAnswer
	err := rpc.Ask(ctx, h.conn, utp.OpEnqueue, q, &a)
	return a, err
}

// Sessions lists the sessions of the ledger, oldest first; open leaves those out that
// have ended.
func (h *Hub) Sessions(ctx context.Context, open bool) ([]utp.SessionRow, error) {
	var a []utp.SessionRow
	err := rpc.AskUntil(ctx, h.conn, utp.OpSessions, utp.SessionsRequest{Open: open}, &a)
	return a, err
}

// Answer passes a reply on; an error says that it was not recorded, or not known to
// be. The other words are alike.
func (h *Hub) Answer(ctx context.Context, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	return h.say(ctx, utp.OpAnswer, r)
}

// Extend asks for more time.
func (h *Hub) Extend(ctx context.Context, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	return h.say(ctx, utp.OpExtend, r)
}

// Stop stops the session's turn.
func (h *Hub) Stop(ctx context.Context, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	return h.say(ctx, utp.OpStop, r)
}

// Undo takes an accept back.
func (h *Hub) Undo(ctx context.Context, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	return h.say(ctx, utp.OpUndo, r)
}

// Absent says that nobody is left who could answer in the session.
func (h *Hub) Absent(ctx context.Context, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	return h.say(ctx, utp.OpAbsent, r)
}

func (h *Hub) say(ctx context.Context, op string, r utp.ReplyRequest) (utp.ReplyAnswer, error) {
	var a utp.ReplyAnswer
	err := rpc.Ask(ctx, h.conn, op, r, &a)
	return a, err
}

// Arguments reads the arguments that a question is about, at most one page of a blob
// from a byte on, and their whole size.
func (h *Hub) Arguments(ctx context.Context, question int, offset int64) ([]byte, int64, error) {
	var a utp.GetAnswer
	err := rpc.AskUntil(ctx, h.conn, utp.OpArguments, utp.ArgumentsRequest{Question: question, Offset: offset}, &a)
	return a.Data, a.Size, err
}
