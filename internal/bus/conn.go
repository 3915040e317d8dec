package bus

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// conn is one connection. Callers can wait for its end and its interruption.
type conn struct {
	nats    *nats.Conn
	timeout time.Duration
	closed  chan struct{}
	life    context.Context //nolint:containedctx // as closed, for those who derive from it

	mu      sync.Mutex
	current context.Context //nolint:containedctx // it is the life of the connection, not of a call
	lose    context.CancelCauseFunc
}

// errLost is the cause when a connection breaks. The library itself would let a request on a broken connection wait for
// its whole timeout.
var errLost = errors.New("the connection to the server broke")

func dial(ctx context.Context, l Login, timeout time.Duration, log *slog.Logger, more ...nats.Option) (*conn, error) {
	ctx, cancel := bounded(ctx, timeout)
	defer cancel()
	deadline, _ := ctx.Deadline()
	left := time.Until(deadline)
	if err := ctx.Err(); err != nil {
		return nil, wireError("connect "+l.User, false, err)
	}
	if left <= 0 {
		return nil, wireError("connect "+l.User, false, context.DeadlineExceeded)
	}
	life, died := context.WithCancel(context.Background())
	c := &conn{timeout: timeout, closed: make(chan struct{}), life: life}
	c.revive()
	options := append([]nats.Option{
		nats.Name(l.User),
		nats.UserInfo(l.User, l.Password),
		nats.CustomInboxPrefix(l.Inbox),
		nats.Timeout(left),
		// Disabled: a buffered message would be sent long after its sender got an error.
		nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { c.lost() }),
		nats.ReconnectHandler(func(*nats.Conn) { c.revive() }),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed); died() }),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) { note(log, l.User, sub, err) }),
	}, more...)
	nc, err := nats.Connect("", options...)
	if err != nil {
		died()
		return nil, wireError("connect "+l.User, false, err)
	}
	c.nats = nc
	return c, nil
}

func (c *conn) revive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.lose = context.WithCancelCause(context.Background())
}

func (c *conn) lost() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lose(errLost)
}

// live limits ctx to the life of the current connection: when it breaks, the cause is errLost. The caller must call
// done. An error means that there is no connection at all.
func (c *conn) live(ctx context.Context) (bounded context.Context, done func(), err error) {
	c.mu.Lock()
	alive := c.current
	c.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case c.nats.IsClosed():
		return nil, nil, nats.ErrConnectionClosed
	case alive.Err() != nil:
		return nil, nil, errLost
	}
	ctx, cancel := context.WithCancelCause(ctx)
	deaf := context.AfterFunc(alive, func() { cancel(errLost) })
	return ctx, func() { deaf(); cancel(nil) }, nil
}

// request sends a request and waits for the answer, the end of the context, or the end of the connection, whichever
// comes first. sent reports whether the request may have been sent.
func (c *conn) request(ctx context.Context, subject string, payload []byte) (answer []byte, sent bool, err error) {
	return c.ask(ctx, &nats.Msg{Subject: subject, Data: payload})
}

// ask is request for a message with headers.
func (c *conn) ask(ctx context.Context, question *nats.Msg) (answer []byte, sent bool, err error) {
	ctx, done, err := c.live(ctx)
	if err != nil {
		return nil, false, err
	}
	defer done()
	m, err := c.nats.RequestMsgWithContext(ctx, question)
	if err != nil {
		if errors.Is(context.Cause(ctx), errLost) {
			err = errLost
		}
		return nil, true, err
	}
	return m.Data, true, nil
}

// note logs what the server or the library reports outside of a call.
func note(log *slog.Logger, user string, sub *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrConnectionClosed) {
		return
	}
	subject := ""
	if sub != nil {
		subject = sub.Subject
	}
	log.Warn("bus connection", "user", user, "subject", subject, "error", err)
}

// flush waits until the server has received everything sent so far, or the connection breaks.
func (c *conn) flush(ctx context.Context, what string) error {
	ctx, cancel := bounded(ctx, c.timeout)
	defer cancel()
	ctx, done, err := c.live(ctx)
	if err != nil {
		return wireError(what, true, err)
	}
	defer done()
	if err = c.nats.FlushWithContext(ctx); errors.Is(context.Cause(ctx), errLost) {
		err = errLost
	}
	if err != nil {
		return wireError(what, true, err)
	}
	return nil
}

// confirm is flush, and also checks whether the server refused the subject: it reports that before it confirms the
// flush.
func (c *conn) confirm(ctx context.Context, what, subject string) error {
	if err := c.flush(ctx, what); err != nil {
		return err
	}
	err := c.nats.LastError()
	if errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+subject+`"`) {
		return wireError(what, true, err)
	}
	return nil
}

func (c *conn) close() {
	c.nats.Close()
	<-c.closed
}

// bounded adds a deadline to a context that has none.
func bounded(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}
