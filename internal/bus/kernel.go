package bus

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// Kernel is the kernel's end of the bus. It is safe for use by several goroutines.
type Kernel struct {
	project              string
	maxPayload           int
	concurrency, backlog int
	log                  *slog.Logger

	responder, publisher *conn
	release              func()
	interest             func(subject string) int // nil where the server is in another process

	mu      sync.Mutex
	closed  bool
	service *service
}

// DialKernel connects a kernel from another process to a bus that lets it in: of several
// kernels on one bus each request reaches one. It comes back by itself after a broken
// connection; what is published meanwhile fails with disconnected. Of the options only
// Concurrency, Backlog, Timeout and Logger count.
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
		project: c.Project, maxPayload: c.MaxPayload, log: o.Logger, concurrency: o.Concurrency, backlog: o.Backlog,
		responder: responder, publisher: publisher, release: func() {},
	}, nil
}

// Serve starts to answer requests and returns; Close ends it. Several requests are
// handled at once, up to Options.Concurrency; of two requests that overlap, either may
// be handled first. The context is handed to every handler: canceling it stops the
// service and tells running handlers to give up. A handler that panics is answered
// for with internal_error. An answer that takes longer than two minutes is lost.
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

// Publish sends a command, a doorbell or a broadcast. For a command it returns when the
// server has taken it; the others, which may be lost, are on their way. That it was heard is
// not said: the ledger tells.
//
// Errors: not_allowed for a subject that is not the publisher's, invalid for a subject
// or header that cannot be sent as it is, too_large if header and payload together are
// over the limit, disconnected, timeout, closed.
func (k *Kernel) Publish(ctx context.Context, subject string, header map[string][]string, payload []byte) error {
	if !isLiteral(subject) {
		return invalidf("publish: %q is not a subject of tokens of A-Z a-z 0-9 _ -", subject)
	}
	if !k.mayPublish(subject) {
		return &Error{Code: CodeNotAllowed, Message: fmt.Sprintf("publish: %q is not a command, doorbell or broadcast of project %s", subject, k.project)}
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

// Listens reports whether a message on the subject would be heard at this moment, or kept
// for somebody by a stream: what the kernel publishes goes to anyone who has a subscription in its
// account, which all imports lead to. A kernel in another process than the server's cannot see
// that: then it is not known.
func (k *Kernel) Listens(subject string) (listens, known bool) {
	if k.interest == nil {
		return false, false
	}
	return k.interest(subject) > 0, true
}

// mayBeLost reports whether nobody waits to hear that a message was taken: who misses a
// broadcast reads the ledger, and a doorbell costs one poll.
func (k *Kernel) mayBeLost(subject string) bool {
	return matches(broadcastsOf(k.project), subject) || strings.HasSuffix(subject, ".wakeup")
}

func (k *Kernel) mayPublish(subject string) bool {
	for _, pattern := range publishable(k.project) {
		if matches(pattern, subject) {
			return true
		}
	}
	return false
}

// Close takes no more requests, waits for the running handlers, sends their answers
// and closes both connections. It may be called more than once.
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
