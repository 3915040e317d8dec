package kernel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

var (
	errNobody  = errors.New("bus: nobody serves the kernel's operations")
	errSilence = errors.New("bus: no answer came")
)

// silence is how long a request waits for an answer that will not come, if its sender
// waits as long.
const silence = 30 * time.Second

// The kinds of messages that a fault can be about.
const (
	isRequest   = "request"
	isAnswer    = "answer"
	isCommand   = "command"
	isDoorbell  = "doorbell"
	isBroadcast = "broadcast"
	isHint      = "hint"
	isProgress  = "progress"
)

// message is what a fault judges.
type message struct {
	kind    string
	peer    string // anyone who asks, or hears
	op      string // of requests and answers
	subject string
	payload []byte
}

// sendResult is what a fault does to a message. The zero fate lets it pass.
type sendResult struct {
	drop  bool
	again int // further copies
	delay time.Duration
}

// bus joins the kernel, services, workers and hubs in memory. It asserts that no
// message is over the limit.
type bus struct {
	t *testing.T

	mu      sync.Mutex
	procs   []*process // that answer, in turns
	asked   int
	conns   []*conn
	faults  []func(message) sendResult
	heard   []message // everything that crossed, but the answers to starts
	largest int
	down    atomic.Bool // the broker takes nothing from the kernel
	// broker judges what a kernel publishes, if it is set: an error keeps it from leaving.
	broker func(subject string, header map[string][]string) error
}

// published sets who judges what a kernel publishes.
func (b *bus) published(judge func(subject string, header map[string][]string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broker = judge
}

// fault adds a judge of messages; their fates add up.
func (b *bus) fault(judge func(message) sendResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, judge)
}

// heal removes all faults.
func (b *bus) heal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = nil
}

// lose drops the next n messages that fit.
func (b *bus) lose(n int, fits func(message) bool) {
	var left atomic.Int32
	left.Store(int32(n))
	b.fault(func(m message) sendResult { return sendResult{drop: fits(m) && left.Add(-1) >= 0} })
}

func answerTo(op string) func(message) bool {
	return func(m message) bool { return m.kind == isAnswer && m.op == op }
}

func requestOf(op string) func(message) bool {
	return func(m message) bool { return m.kind == isRequest && m.op == op }
}

func commands(m message) bool { return m.kind == isCommand }

func (b *bus) judge(m message) sendResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.largest = max(b.largest, len(m.payload)); len(m.payload) > utp.MessageLimit {
		b.t.Errorf("a %s of %s %s%s has %d bytes; nothing over %d crosses the bus", m.kind, m.peer, m.op, m.subject, len(m.payload), utp.MessageLimit)
	}
	if m.op != api.OpStart || m.kind != isAnswer {
		b.heard = append(b.heard, m)
	}
	var all sendResult
	for _, judge := range b.faults {
		f := judge(m)
		all.drop = all.drop || f.drop
		all.again += f.again
		all.delay += f.delay
	}
	return all
}

// forget drops what has crossed so far of one kind.
func (b *bus) forget(kind string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = slices.DeleteFunc(b.heard, func(m message) bool { return m.kind == kind })
}

func (b *bus) serve(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.procs = []*process{p}
}

// join has another kernel answer, too.
func (b *bus) join(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.procs = append(b.procs, p)
}

// turnTo has the nth kernel answer next.
func (b *bus) turnTo(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = n + len(b.procs) - 1
}

func (b *bus) serving() *process {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.procs {
		b.asked++
		if p := b.procs[b.asked%len(b.procs)]; !p.dead.Load() {
			return p
		}
	}
	return nil
}

// port is a kernel's end: a dead process sends nothing.
type port struct {
	bus  *bus
	proc *process
}

func (p port) Publish(_ context.Context, subject string, header map[string][]string, payload []byte) error {
	if p.proc.dead.Load() {
		return errDead
	}
	if p.bus.down.Load() {
		return errNobody
	}
	p.bus.mu.Lock()
	judge := p.bus.broker
	p.bus.mu.Unlock()
	if judge != nil {
		if err := judge(subject, header); err != nil {
			return err
		}
	}
	p.bus.send(subject, header, payload)
	return nil
}

// send routes a message to everyone who listens for its subject, each with a fate of
// its own.
func (b *bus) send(subject string, header map[string][]string, payload []byte) {
	kind, peer, name := route(subject)
	b.mu.Lock()
	conns := append([]*conn(nil), b.conns...)
	b.mu.Unlock()
	for _, c := range conns {
		foreign := c.kind == kernel.ExternalCaller && name != "" // hears the commands and the doorbell of its name
		if c.kind != peer && !foreign || (name != "" && c.name != name) {
			continue
		}
		f := b.judge(message{kind: kind, peer: c.name, subject: subject, payload: payload})
		if f.drop {
			continue
		}
		for range 1 + f.again {
			c.deliver(f.delay, tool.Message{Subject: subject, Header: header, Payload: payload})
		}
	}
}

// route tells what a message is, which kind of peer hears it, and its name.
func route(subject string) (kind, peer, name string) {
	tokens := strings.Split(subject, ".")
	switch {
	case tokens[0] == "earshot":
		return isBroadcast, kernel.HubCaller, ""
	case tokens[4] == "evt" && tokens[7] == "progress":
		return isProgress, "operator", ""
	case tokens[4] != "cmd" && tokens[5] == "agent":
		return isHint, kernel.HubCaller, ""
	case tokens[5] == "tool":
		return isCommand, kernel.ToolCaller, tokens[6]
	default:
		return isDoorbell, kernel.AgentCaller, tokens[6]
	}
}

// conn is one authenticated peer. It implements the Conn of every SDK.
type conn struct {
	bus        *bus
	kind, name string
	dead       atomic.Bool // its process is gone: for good
	cut        atomic.Bool // its cable is out: for now

	mu    sync.Mutex
	boxes []chan tool.Message
}

func (b *bus) connect(kind, name string) *conn {
	c := &conn{bus: b, kind: kind, name: name}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conns = append(b.conns, c)
	return c
}

func (c *conn) off() bool { return c.dead.Load() || c.cut.Load() }

// Request implements the SDKs' Requester.
func (c *conn) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	f := c.bus.judge(message{kind: isRequest, peer: c.name, op: op, payload: request})
	if len(request) > utp.MessageLimit {
		return nil, &api.Fault{Code: utp.CodeTooLarge, Message: "the request is over the limit"}
	}
	if c.off() || f.drop {
		return c.silence(ctx)
	}
	if f.delay > 0 {
		<-time.After(f.delay)
	}
	var answer []byte
	for range 1 + f.again {
		p := c.bus.serving()
		if p == nil {
			return nil, errNobody
		}
		answer = p.kernel.Handle(p.ctx, kernel.Caller{Kind: c.kind, Name: c.name}, op, request)
		if p.dead.Load() {
			return c.silence(ctx)
		}
	}
	if f := c.bus.judge(message{kind: isAnswer, peer: c.name, op: op, payload: answer}); c.off() || f.drop {
		return c.silence(ctx)
	}
	return answer, nil
}

func (c *conn) silence(ctx context.Context) ([]byte, error) {
	timer := time.NewTimer(silence)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, errSilence
	}
}

func (c *conn) deliver(after time.Duration, m tool.Message) {
	hand := func() {
		if c.off() {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, box := range c.boxes {
			box <- m
		}
	}
	if after > 0 {
		time.AfterFunc(after, hand)
		return
	}
	hand()
}

// listen hands messages to handle, one after the other, on a goroutine of its own.
func (c *conn) listen(handle func(tool.Message)) (stop func()) {
	box := make(chan tool.Message, 4096)
	c.mu.Lock()
	c.boxes = append(c.boxes, box)
	c.mu.Unlock()
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case m := <-box:
				handle(m)
			case <-quit:
				return
			}
		}
	}()
	return func() {
		c.mu.Lock()
		for i := range c.boxes {
			if c.boxes[i] == box {
				c.boxes = append(c.boxes[:i:i], c.boxes[i+1:]...)
				break
			}
		}
		c.mu.Unlock()
		close(quit)
		<-done
	}
}

// Commands implements tool.Conn.
func (c *conn) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	return c.listen(func(m tool.Message) { handle(ctx, m) }), nil
}

// Wakeups implements worker.Conn.
func (c *conn) Wakeups(_ context.Context, ring func(string)) (func(), error) {
	return c.listen(func(m tool.Message) { ring(strings.Join(m.Header[utp.HeaderTurnID], "")) }), nil
}

// Broadcasts implements hub.Conn.
func (c *conn) Broadcasts(_ context.Context, session string, hear func([]byte)) (func(), error) {
	return c.listen(func(m tool.Message) {
		if session == "" && strings.Contains(m.Subject, ".events.") || session != "" && strings.HasSuffix(m.Subject, "."+session) {
			hear(m.Payload)
		}
	}), nil
}
