package sim

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

var (
	errNobody  = errors.New("sim: nobody serves the kernel's operations")
	errSilence = errors.New("sim: no answer came")
)

// silence is how long a request waits whose sender has set no limit.
const silence = 30 * time.Second

// conn is an authenticated peer's end of the bus. It implements the Conn of both SDKs.
type conn struct {
	w *world
	p *process
}

// exchange is one request on its way.
type exchange struct {
	from    *process
	op      string
	request []byte
	answer  chan reply
}

type reply struct {
	raw []byte
	err error
}

// Request implements [rpc.Requester]. The message is on its way at once, and stays so when
// its sender has given up.
func (c *conn) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	if c.p.dead.Load() {
		return nil, errDead
	}
	x := &exchange{from: c.p, op: op, request: request, answer: make(chan reply, 1)}
	c.w.submit(c.w.asking(x))
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, silence)
		defer cancel()
	}
	select {
	case a := <-x.answer:
		if c.p.dead.Load() {
			return nil, errDead
		}
		return a.raw, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("%w: %w", errSilence, ctx.Err())
		}
		return nil, ctx.Err()
	}
}

func (w *world) asking(x *exchange) *item {
	i := &item{key: fmt.Sprintf("%s asks %s %s", x.from.name, x.op, x.key())}
	i.run = func() { w.carry(i, x) }
	return i
}

// key tells one request from another. That of a start holds a header, whose members are
// written in any order.
func (x *exchange) key() string {
	var start api.StartRequest
	if x.op == api.OpStart && decode(x.request, &start) == nil {
		return start.Call
	}
	return hashOf(x.request)
}

// hashOf tells one message from another.
func hashOf(raw []byte) string {
	sum := fnv.New32a()
	_, _ = sum.Write(raw) // a hash never fails
	return fmt.Sprintf("%08x", sum.Sum32())
}

// carry brings a request to one of the kernels.
func (w *world) carry(i *item, x *exchange) {
	if w.astray(i, x.from, nil) {
		return
	}
	var up []*process
	for _, at := range w.positions {
		if p := at.now; at.kind == kernelKind && p != nil && !p.dead.Load() && p.serving.Load() {
			up = append(up, p)
		}
	}
	if len(up) == 0 {
		x.reply(reply{err: errNobody})
		return
	}
	k := up[w.rand.IntN(len(up))]
	w.submit(&item{key: k.name + " hears " + i.key, proc: k, calm: true, run: func() {
		if isApart(k.cut) {
			return
		}
		w.sayf("%s hears %s", k.name, i.key)
		w.judge.asked(x)
		go w.handle(k, x)
	}})
}

func (x *exchange) reply(r reply) {
	select {
	case x.answer <- r:
	default: // it has one
	}
}

// handle is a kernel's work on one request.
func (w *world) handle(k *process, x *exchange) {
	raw := k.kernel.Handle(k.ctx, kernel.Caller{Kind: x.from.kind, Name: x.from.peer}, x.op, x.request)
	if k.dead.Load() {
		return
	}
	w.judge.answered(x, raw)
	i := &item{key: fmt.Sprintf("%s answers %s %s %s %s", k.name, x.from.name, x.op, x.key(), hashOf(raw)), proc: x.from}
	i.run = func() {
		if w.astray(i, k, x.from) {
			return
		}
		w.sayf("%s", i.key)
		x.reply(reply{raw: raw})
	}
	w.submit(i)
}

// astray decides the fate of a message, once, and reports whether it goes no further now.
func (w *world) astray(i *item, from, to *process) bool {
	if isApart(from.cut) || to != nil && isApart(to.cut) {
		w.count.lost++
		return true
	}
	if i.calm {
		return false
	}
	i.calm = true
	again := *i
	switch {
	case w.happens(w.weather.drop):
		w.count.dropped++
		w.sayf("lost: %s", i.key)
		return true
	case w.happens(w.weather.again):
		w.count.doubled++
		again.at = time.Now().Add(w.upTo(5 * time.Second))
		w.submit(&again)
		return false
	case w.happens(w.weather.late):
		w.count.delayed++
		again.at = time.Now().Add(w.upTo(20 * time.Second))
		w.submit(&again)
		return true
	}
	return false
}

// isApart reports whether a time that something lasts to is still to come.
func isApart(until time.Time) bool { return time.Now().Before(until) }

// Commands implements [tool.Conn].
func (c *conn) Commands(_ context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	c.p.receive = handle
	return func() { c.p.receive = nil }, nil
}

// Wakeups implements worker.Conn.
func (c *conn) Wakeups(_ context.Context, ring func(turn string)) (func(), error) {
	c.p.wakeup = ring
	return func() { c.p.wakeup = nil }, nil
}

// port is a kernel's end of the bus. It implements [outbox.Bus].
type port struct {
	w *world
	p *process
}

// Publish implements [outbox.Bus].
func (b *port) Publish(ctx context.Context, subject string, header map[string][]string, payload []byte) error {
	w := b.w
	key := "publishes " + subject + " " + first(header, utp.HeaderToolCallID) + " " + hashOf(payload)
	leave := func() error {
		switch {
		case isApart(b.p.cut):
			return errNobody
		case w.happens(w.weather.unsent):
			w.count.unsent++
			if w.rand.IntN(2) == 0 {
				w.spread(b.p, subject, header, payload) // it has left all the same
			}
			return errSilence
		}
		w.spread(b.p, subject, header, payload)
		return nil
	}
	if w.within.Load() == b.p { // all others would wait for it
		w.judge.wrongf("%s publishes %s inside a transaction", b.p.name, subject)
		return leave()
	}
	failed, err := await(ctx, w.schedule, b.p, key, leave)
	if err != nil {
		return err
	}
	return failed
}

func first(header map[string][]string, name string) string {
	if v := header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// spread brings a message to everyone who listens for its subject.
func (w *world) spread(from *process, subject string, header map[string][]string, payload []byte) {
	w.sayf("%s publishes %s %s", from.name, subject, first(header, utp.HeaderToolCallID))
	w.judge.published(subject, header)
	tokens := strings.Split(subject, ".")
	if tokens[0] == "earshot" {
		return // the events of a session: nobody listens
	}
	kind := agentKind
	if tokens[5] == "tool" {
		kind = toolKind
	}
	for _, at := range w.positions {
		if at.kind == kind && at.peer == tokens[6] && at.now != nil {
			w.deliver(from, at.now, tool.Message{Subject: subject, Header: header, Payload: payload})
		}
	}
}

func (w *world) deliver(from, to *process, m tool.Message) {
	i := &item{key: fmt.Sprintf("%s gets %s %s", to.name, m.Subject, first(m.Header, utp.HeaderToolCallID)), proc: to}
	i.run = func() {
		if w.astray(i, from, to) {
			return
		}
		switch {
		case to.receive != nil:
			w.sayf("%s", i.key)
			to.receive(to.ctx, m)
		case to.wakeup != nil:
			to.wakeup(first(m.Header, utp.HeaderTurnID))
		}
	}
	w.submit(i)
}
