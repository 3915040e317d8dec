package bus

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// Kernel is the kernel's connection to the bus. It is safe for concurrent use.
type Kernel struct {
	project              string
	maxPayload           int
	events               bool // of agents may be published
	concurrency, backlog int
	log                  *slog.Logger

	responder, publisher *conn
	release              func()
	interest             func(subject string) int // nil if the server is in another process

	mu      sync.Mutex
	closed  bool
	service *service
}

// DialKernel connects a kernel from another process to a bus that admits it. With several kernels on one bus, each
// request reaches one of them. It reconnects automatically; what is published meanwhile fails with disconnected. It
// only uses the options Concurrency, Backlog, Timeout and Logger.
//
// Errors: invalid without a URL, refused, disconnected, timeout.
func DialKernel(ctx context.Context, c KernelCredentials, o Options) (*Kernel, error) {
	if c.URL == "" {
		return nil, invalidf("dial: the kernel's credentials have no URL; start the bus with a listen address")
	}
	o = o.withDefaults()
	return openKernel(ctx, c, o, func(ctx context.Context, l Login) (*conn, error) {
		return dial(ctx, l, o.Timeout, o.Logger, outside(c.URL))
	})
}

// openKernel opens a kernel's two connections.
func openKernel(ctx context.Context, c KernelCredentials, o Options, dial func(context.Context, Login) (*conn, error)) (*Kernel, error) {
	responder, err := dial(ctx, c.Responder)
	if err != nil {
		return nil, err
	}
	publisher, err := dial(ctx, c.Publisher)
	if err != nil {
		responder.close()
		return nil, err
	}
	return &Kernel{
		project: c.Project, maxPayload: c.MaxPayload, events: c.Events, log: o.Logger, concurrency: o.Concurrency, backlog: o.Backlog,
		responder: responder, publisher: publisher, release: func() {},
	}, nil
}

// Serve starts to answer requests and returns; Close ends it. Up to Options.Concurrency requests are handled
// concurrently, in any order. The context is passed to every handler: canceling it stops the service and asks running
// handlers to stop. If a handler panics, the answer is internal_error. An answer that takes longer than two minutes is
// lost.
//
// Errors: invalid if it serves already, closed, timeout.
func (k *Kernel) Serve(ctx context.Context, h Handler) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return &Error{Code: CodeClosed, Message: "serve: the kernel's connection is closed"}
	case k.service != nil:
		return invalidf("serve: requests are served already; one handler answers for all")
	}
	s, err := newService(ctx, k, h)
	if err != nil {
		return err
	}
	k.service = s
	return nil
}

// Publish sends a command, a wakeup or a broadcast. For a command it returns when the server has received it; the
// others may be lost. Publish never confirms that anybody received the message: the ledger shows that.
//
// Errors: not_allowed for a subject that is not the publisher's, invalid for a subject or header that cannot be sent
// unchanged, too_large if header and payload together exceed the limit, disconnected, timeout, closed.
func (k *Kernel) Publish(ctx context.Context, subject string, header map[string][]string, payload []byte) error {
	if !isLiteral(subject) {
		return invalidf("publish: %q is not a subject of tokens of A-Z a-z 0-9 _ -", subject)
	}
	if !k.mayPublish(subject) {
		return &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("publish: %q is not a command, wakeup or broadcast of project %s", subject, k.project)}
	}
	m, err := outgoing(subject, header, payload)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return wireError("publish "+subject, false, err)
	}
	if err := k.publisher.nats.PublishMsg(m); err != nil {
		return wireError("publish "+subject, false, err)
	}
	if k.mayBeLost(subject) {
		return nil
	}
	return k.publisher.confirm(ctx, "publish "+subject, subject)
}

// Listens reports whether a message on the subject would currently be received, or stored by a stream. All imports lead
// to the kernel's account, so the subscriptions there count. A kernel in another process than the server cannot see
// them: then known is false.
func (k *Kernel) Listens(subject string) (listens, known bool) {
	if k.interest == nil {
		return false, false
	}
	return k.interest(subject) > 0, true
}

// mayBeLost reports whether Publish need not wait for the server: who misses a broadcast reads the ledger, a lost wakeup
// costs one poll, and nothing waits for the events of agents.
func (k *Kernel) mayBeLost(subject string) bool {
	ofAgents := func(pattern string) bool { return matches(pattern, subject) }
	return matches(broadcastsOf(k.project), subject) || strings.HasSuffix(subject, ".wakeup") || slices.ContainsFunc(eventsOfAgents(k.project), ofAgents)
}

func (k *Kernel) mayPublish(subject string) bool {
	for _, pattern := range publishable(k.project, k.events) {
		if matches(pattern, subject) {
			return true
		}
	}
	return false
}

// Close stops accepting requests, waits for the running handlers, sends their answers and closes both connections. It
// may be called more than once.
func (k *Kernel) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	k.closed = true
	if k.service != nil {
		k.service.stop()
	}
	k.responder.close()
	k.publisher.close()
	k.release()
}
