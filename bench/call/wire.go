package main

import (
	"context"

	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/kernel"
)

// serve answers the bus's requests with the kernel.
func serve(k *kernel.Kernel, a *asked) bus.Handler {
	return func(ctx context.Context, from bus.Principal, op string, request []byte) []byte {
		a.add(op)
		return k.Handle(ctx, kernel.Caller{Kind: string(from.Kind), Name: from.Name}, op, request)
	}
}
