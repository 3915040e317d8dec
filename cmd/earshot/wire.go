package main

import (
	"context"
	"errors"
	"strings"

	"github.com/earshot-dev/earshot/bus"
	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// serveKernel answers the bus's requests with the kernel.
func serveKernel(k *kernel.Kernel) bus.Handler {
	return func(ctx context.Context, from bus.Principal, op string, request []byte) []byte {
		return k.Handle(ctx, kernel.Caller{Kind: string(from.Kind), Name: from.Name}, op, request)
	}
}

// client is a principal's end of the bus as the SDKs and the hub want it.
type client struct{ *bus.Client }

// Request gives errors of the bus that no repetition can mend a code of the protocol.
func (c client) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	answer, err := c.Client.Request(ctx, op, request)
	switch {
	case errors.Is(err, bus.ErrTooLarge):
		return nil, &utp.Fault{Code: utp.CodeTooLarge, Message: err.Error()}
	case errors.Is(err, bus.ErrNotAllowed), errors.Is(err, bus.ErrRefused):
		return nil, &utp.Fault{Code: utp.CodeAuthFailed, Message: err.Error()}
	case errors.Is(err, bus.ErrInvalid), errors.Is(err, bus.ErrClosed):
		return nil, &utp.Fault{Code: utp.CodeBadRequest, Message: err.Error()}
	}
	return answer, err
}

// Commands implements tool.Conn.
func (c client) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	s, err := c.Client.Commands(ctx, func(ctx context.Context, m bus.Message) {
		handle(ctx, tool.Message{Subject: m.Subject, Header: m.Header, Payload: m.Payload})
	})
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

// Doorbell implements worker.Conn.
func (c client) Doorbell(ctx context.Context, ring func()) (func(), error) {
	s, err := c.Doorbells(ctx, func(context.Context, bus.Message) { ring() })
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

// Broadcasts implements hub.Conn.
func (c client) Broadcasts(ctx context.Context, session string, hear func([]byte)) (func(), error) {
	s, err := c.Client.Broadcasts(ctx, func(_ context.Context, m bus.Message) {
		if strings.HasSuffix(m.Subject, "."+session) {
			hear(m.Payload)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}
