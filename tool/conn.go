package tool

import (
	"context"

	"github.com/earshot-dev/earshot/internal/rpc"
)

// Conn is a service's way to the kernel and to its commands.
type Conn interface {
	rpc.Requester

	// Commands hands every command of the service's target to handle, one after the
	// other, until stop is called; stop waits for the one in hand.
	Commands(ctx context.Context, handle func(ctx context.Context, m Message)) (stop func(), err error)
}

// Message is a command as it came.
type Message struct {
	Subject string
	Header  map[string][]string
	Payload []byte
}
