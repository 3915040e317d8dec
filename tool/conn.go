package tool

import (
	"context"

	"github.com/earshot-dev/earshot/internal/rpc"
)

// Conn connects a service to the kernel and to its commands.
type Conn interface {
	rpc.Requester

	// Commands passes each command of the service's target to handle, one at a time, until stop is called; stop waits
	// for the current one.
	Commands(ctx context.Context, handle func(ctx context.Context, m Message)) (stop func(), err error)
}

// Message is a received command.
type Message struct {
	Subject string
	Header  map[string][]string
	Payload []byte
}
