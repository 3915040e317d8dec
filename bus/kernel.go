package bus

import (
	"context"
	"fmt"
	"log/slog"
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

	mu      sync.Mutex
	closed  bool
	service *service
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

// Publish sends a command, a doorbell or a broadcast, and returns when the server has
// taken it. That it was heard is not said: the ledger tells.
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
	return k.publisher.confirm(ctx, "publish "+subject, subject)
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
