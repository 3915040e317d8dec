package service

import (
	"context"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/tool"
)

// Conn adapts a tool service's bus client to [tool.Conn].
type Conn struct{ *bus.Client }

// Commands implements [tool.Conn].
func (c Conn) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	s, err := c.Client.Commands(ctx, func(ctx context.Context, m bus.Message) {
		handle(ctx, tool.Message{Subject: m.Subject, Header: m.Header, Payload: m.Payload})
	})
	if err != nil {
		return nil, err
	}
	return s.Close, nil
}

// found is a connection whose service is discoverable as long as it receives commands.
type found struct {
	Conn

	card    func() bus.Card
	serving func() // it hears commands
}

// Commands implements [tool.Conn].
func (f *found) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	deaf, err := f.Conn.Commands(ctx, handle)
	if err != nil {
		return nil, err
	}
	gone, err := f.Discoverable(ctx, f.card)
	if err != nil {
		deaf()
		return nil, err
	}
	f.serving()
	return func() {
		gone()
		deaf()
	}, nil
}
