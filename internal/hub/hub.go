package hub

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Conn is the hub's connection to the kernel and to the broadcasts.
type Conn interface {
	rpc.Requester

	// Broadcasts passes the broadcasts of a session (of every session if session is "") to receive, one after the
	// other, until stop is called. stop waits for the running receive.
	Broadcasts(ctx context.Context, session string, receive func(payload []byte)) (stop func(), err error)
}

// Hub follows sessions and forwards commands to the kernel. It is safe for concurrent use. Create it with [Open], and
// keep [Hub.Run] running for subscriptions.
type Hub struct {
	o     Options
	feed  *feed
	subs  *registry
	shown showings
	vigil vigil
	// changes counts how often somebody's rights may have changed.
	changes atomic.Uint64
	// attended are the calls for which external agents wait here.
	attended *attendance
}

// Open creates a hub. It starts nothing.
func Open(o Options) *Hub {
	o.fill()
	v := newVigil(o)
	return &Hub{o: o, feed: newFeed(o, v), subs: newRegistry(o), vigil: v, attended: newAttendance()}
}

// New creates a hub without subscriptions. poll is how often a follower polls without a notification; 0 means 2 s.
func New(conn Conn, poll time.Duration) *Hub { return Open(Options{Conn: conn, Poll: poll}) }

// Enqueue starts a turn.
func (h *Hub) Enqueue(ctx context.Context, q api.EnqueueRequest) (api.EnqueueAnswer, error) {
	var a api.EnqueueAnswer
	err := rpc.Ask(ctx, h.o.Conn, api.OpEnqueue, q, &a)
	return a, err
}

// Ready checks whether the kernel and its ledger answer. It asks about no particular session.
func (h *Hub) Ready(ctx context.Context) error {
	var now api.SinceAnswer
	return rpc.Ask(ctx, h.o.Conn, api.OpSince, api.SinceRequest{Now: true}, &now)
}

// Sessions lists all sessions of the ledger, oldest first. open leaves out those that have ended.
func (h *Hub) Sessions(ctx context.Context, open bool) ([]api.SessionRow, error) {
	var all []api.SessionRow
	for after := ""; ; {
		var rows []api.SessionRow
		err := rpc.AskUntil(ctx, h.o.Conn, api.OpSessions, api.SessionsRequest{Open: open, After: after}, &rows)
		if err != nil || len(rows) == 0 {
			return all, err
		}
		all = append(all, rows...)
		after = rows[len(rows)-1].Turn
	}
}

// Answer forwards a reply, and checks no rights: a principal's replies go through [Person.Answer]. An error means that it was
// not recorded, or may not have been. Extend, Stop, Undo and Absent are alike.
func (h *Hub) Answer(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return h.reply(ctx, api.OpAnswer, r)
}

// Extend asks for more time.
func (h *Hub) Extend(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return h.reply(ctx, api.OpExtend, r)
}

// Stop stops the session's turn.
func (h *Hub) Stop(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return h.reply(ctx, api.OpStop, r)
}

// Undo takes back an accept.
func (h *Hub) Undo(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return h.reply(ctx, api.OpUndo, r)
}

// Absent reports that nobody is left who could answer the question of the token or, without one, any in the session.
func (h *Hub) Absent(ctx context.Context, r api.ReplyRequest) (api.ReplyAnswer, error) {
	return h.reply(ctx, api.OpAbsent, r)
}

func (h *Hub) reply(ctx context.Context, op string, r api.ReplyRequest) (api.ReplyAnswer, error) {
	var a api.ReplyAnswer
	err := rpc.Ask(ctx, h.o.Conn, op, r, &a)
	return a, err
}

// Prefer reads, and if the request has a change also sets, a person's preferences for their questions.
func (h *Hub) Prefer(ctx context.Context, q api.PreferRequest) (api.PreferAnswer, error) {
	var a api.PreferAnswer
	err := rpc.AskUntil(ctx, h.o.Conn, api.OpPrefer, q, &a)
	return a, err
}

// noticeTime bounds the acknowledgement that a surface was informed of an accept. After it the accept no longer counts.
const noticeTime = time.Minute

// Noticed acknowledges that the surface of an accept was informed of it: its question, By and Surface. From then on it
// can be taken back, during its undo time. If the acknowledgement is lost or refused, nothing starts: the accept
// expires, and the person is asked again.
func (h *Hub) Noticed(ctx context.Context, r api.ReplyRequest) {
	ctx, cancel := context.WithTimeout(ctx, noticeTime)
	defer cancel()
	if err := rpc.AskUntil(ctx, h.o.Conn, api.OpNoticed, r, nil); err != nil {
		h.o.Logger.Info("that a yes was told of is not noted", "question", r.Question, "surface", r.Surface, "reason", err)
	}
}

// Arguments reads the arguments of a question, at most one page of a blob from a byte offset on, and their total size.
func (h *Hub) Arguments(ctx context.Context, q api.ArgumentsRequest) ([]byte, int64, error) {
	var a api.GetAnswer
	err := rpc.AskWithin(ctx, h.o.Conn, inspectTimeout, api.OpArguments, q, &a)
	return a.Data, a.Size, err
}
