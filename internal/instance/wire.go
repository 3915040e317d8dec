package instance

import (
	"context"
	"strings"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// serveKernel returns a bus handler that passes requests to the kernel.
func serveKernel(k *kernel.Kernel) bus.Handler {
	return func(ctx context.Context, from bus.Principal, op string, request []byte) []byte {
		return k.Handle(ctx, kernel.Caller{Kind: string(from.Kind), Name: from.Name}, op, request)
	}
}

// hubConn adapts a bus client to package hub.
type hubConn struct{ *bus.Client }

// Broadcasts implements hub.Conn.
func (c hubConn) Broadcasts(ctx context.Context, session string, receive func([]byte)) (func(), error) {
	s, err := c.Client.Broadcasts(ctx, func(_ context.Context, m bus.Message) {
		if session == "" || strings.HasSuffix(m.Subject, "."+session) {
			receive(m.Payload)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

func (c hubConn) ask(ctx context.Context, op string, request, answer any) error {
	return rpc.Ask(ctx, c, op, request, answer)
}
