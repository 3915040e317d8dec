package bus

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/utp"
)

// service is one running Serve: a dispatcher that never blocks, and workers.
//
// There are two queues because the library drops what does not fit into the first. The dispatcher keeps that one empty.
// If the second is full, or one caller has most of it, the request is answered with busy, so that nobody waits for an
// answer that never comes. A separate goroutine sends these answers, because a write may block.
type service struct {
	kernel        *Kernel
	handler       Handler
	subs          []*nats.Subscription
	arrivals      chan *nats.Msg // requests, as the library receives them
	commands      chan *nats.Msg // commands of third-party peers, likewise
	waiting       chan *nats.Msg
	excess        chan *nats.Msg // to be answered with busy
	end           context.CancelFunc
	running       sync.WaitGroup
	floodReported time.Time // when a flood was last logged; the dispatcher's

	mu     sync.Mutex
	shares map[Principal]int // the number of waiting requests of each
}

// refusal is an answer of the bus itself, in the format of the kernel's.
type refusal struct {
	Code        string `json:"code"`
	Message     string `json:"message"`
	SafeToRetry bool   `json:"safe_to_retry"`
}

var (
	refusedBusy     = refusal{string(utp.CodeUpstreamUnavailable), "more requests are waiting than the kernel takes; try again in a moment", true}
	refusedStopping = refusal{string(utp.CodeUpstreamUnavailable), "the kernel is stopping and has not begun this; try again when it is back", true}
	refusedCaller   = refusal{"not_allowed", "this operation is not one of the caller's", false}
	refusedPanic    = refusal{"internal_error", "the kernel failed while it handled this; look at its log", false}
)

// burst is how many requests the library can queue before the dispatcher runs; it drops those beyond without an answer.
const burst = 1 << 12

// commandBurst is the same for the commands of third-party peers, which stand in one queue until they are handled.
const commandBurst = 1 << 16

func newService(ctx context.Context, k *Kernel, h Handler) (*service, error) {
	s := &service{
		kernel: k, handler: h,
		arrivals: make(chan *nats.Msg, max(burst, k.backlog)), waiting: make(chan *nats.Msg, k.backlog),
		commands: make(chan *nats.Msg, commandBurst), excess: make(chan *nats.Msg, burst), shares: map[Principal]int{},
	}
	if err := s.subscribe(ctx, servedPattern(k.project), s.arrivals); err != nil {
		return nil, err
	}
	accepting, end := context.WithCancel(ctx)
	s.end = end
	if err := s.listenExternal(ctx, accepting); err != nil {
		end()
		_ = s.subs[0].Unsubscribe() // if this fails, the subscription is gone anyway
		return nil, err
	}
	s.running.Go(func() { s.dispatch(accepting) })
	s.running.Go(s.turnDown)
	for range k.concurrency {
		s.running.Go(func() { s.work(ctx, accepting) })
	}
	return s, nil
}

// subscribe receives what matches the pattern, as one of the kernels that share it.
func (s *service) subscribe(ctx context.Context, pattern string, into chan *nats.Msg) error {
	sub, err := s.kernel.responder.nats.ChanQueueSubscribe(pattern, "kernel", into)
	if err != nil {
		return wireError("serve", false, err)
	}
	if err := s.kernel.responder.confirm(ctx, "serve", pattern); err != nil {
		_ = sub.Unsubscribe() // if this fails, the subscription is gone anyway
		return err
	}
	s.subs = append(s.subs, sub)
	return nil
}

// stop returns when every received request has been answered.
func (s *service) stop() {
	s.end()
	s.running.Wait()
	s.flush()
}

// dispatch passes requests to the workers until accepting is done.
func (s *service) dispatch(accepting context.Context) {
	defer close(s.waiting)
	defer close(s.excess)
	for {
		select {
		case m := <-s.arrivals:
			s.enqueue(m)
		case <-accepting.Done():
			s.turnAway()
			return
		}
	}
}

// enqueue queues a request, unless its caller has used up its share: a flood delays only its own sender. A request that
// does not even fit among those to be refused is dropped.
func (s *service) enqueue(m *nats.Msg) {
	from, _, _ := callerOf(s.kernel.project, m.Subject)
	if s.enter(from) {
		select {
		case s.waiting <- m:
			return
		default:
			s.leave(from)
		}
	}
	select {
	case s.excess <- m:
	default:
		s.dropped(from)
	}
}

// dropped logs a flood, once a second.
func (s *service) dropped(from Principal) {
	if now := time.Now(); now.Sub(s.floodReported) >= time.Second {
		s.floodReported = now
		s.kernel.log.Warn("bus: requests dropped, too many wait to be refused", "from", from.String())
	}
}

// enter reserves a queue slot for a caller, who may have up to three quarters of them.
func (s *service) enter(from Principal) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shares[from] >= s.kernel.backlog-s.kernel.backlog/4 {
		return false
	}
	s.shares[from]++
	return true
}

func (s *service) leave(from Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shares[from]--; s.shares[from] <= 0 {
		delete(s.shares, from)
	}
}

// turnDown answers the excess requests with busy.
func (s *service) turnDown() {
	for m := range s.excess {
		s.refuse(m, refusedBusy)
	}
}

// turnAway ends the subscriptions and answers what had arrived by then. The library goes on receiving until the server
// knows of it: what it dropped in between would leave its caller waiting.
func (s *service) turnAway() {
	for _, sub := range s.subs {
		_ = sub.Drain() // fails only if the connection is gone, and all callers with it
	}
	s.flush()
	for {
		select {
		case m := <-s.arrivals:
			s.refuse(m, refusedStopping)
		case m := <-s.commands:
			s.refuse(m, refusedStopping)
		default:
			return
		}
	}
}

func (s *service) work(ctx, accepting context.Context) {
	for m := range s.waiting {
		from, _, _ := callerOf(s.kernel.project, m.Subject)
		s.leave(from)
		if accepting.Err() != nil {
			s.refuse(m, refusedStopping)
			continue
		}
		s.answer(ctx, m)
	}
}

func (s *service) answer(ctx context.Context, m *nats.Msg) {
	from, op, ok := callerOf(s.kernel.project, m.Subject)
	switch {
	case !ok:
		s.refuse(m, refusedCaller)
	case m.Reply != "" && !strings.HasPrefix(m.Reply, answerPrefix):
		// Some reply subjects cross an import as the caller wrote them. Answering one would send a message to a subject
		// of the caller's choice in the kernel's own account.
		s.kernel.log.Warn("bus: request dropped, its reply subject was not made by the server", "from", from.String(), "op", op, "reply", m.Reply)
	default:
		s.reply(m, s.call(ctx, from, op, requestOf(op, "", m)))
	}
}

// call runs the handler and converts a panic to an answer.
func (s *service) call(ctx context.Context, from Principal, op string, request []byte) (reply []byte) {
	defer func() {
		if cause := recover(); cause != nil {
			s.kernel.log.Error("bus: handler panicked", "from", from.String(), "op", op, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
			reply = refusedPanic.bytes()
		}
	}()
	return s.handler(ctx, from, op, request)
}

func (s *service) refuse(m *nats.Msg, r refusal) {
	if strings.HasPrefix(m.Reply, answerPrefix) {
		s.reply(m, r.bytes())
	}
}

func (s *service) reply(m *nats.Msg, reply []byte) {
	if m.Reply == "" {
		return
	}
	if len(reply) > s.kernel.maxPayload {
		reply = refusal{
			Code:    "too_large",
			Message: fmt.Sprintf("the answer has %d bytes, the bus carries %d; ask for it in parts", len(reply), s.kernel.maxPayload),
		}.bytes()
	}
	if err := s.kernel.responder.nats.Publish(m.Reply, reply); err != nil {
		s.kernel.log.Warn("bus: answer not sent", "subject", m.Subject, "error", err)
	}
}

func (s *service) flush() {
	if err := s.kernel.responder.flush(context.Background(), "answer"); err != nil {
		s.kernel.log.Warn("bus: answers may not have been sent", "error", err)
	}
}

// bytes encodes the refusal in the kernel's format.
func (r refusal) bytes() []byte {
	b, err := json.Marshal(map[string]refusal{"error": r})
	if err != nil {
		return []byte(`{"error":{"code":"internal_error","message":"","safe_to_retry":false}}`)
	}
	return b
}
