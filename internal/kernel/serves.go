package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/api"
)

// serves notes all tools that the asking service has now, and withdraws what is asked about others.
func (k *Kernel) serves(ctx context.Context, from Caller, q api.ServesRequest) (struct{}, error) {
	gone, err := k.registry.Serves(from.Name, q.Tools)
	if gone {
		k.withdrawMissing(ctx)
	}
	return struct{}{}, err
}

// remove takes a tool out of the registry, and withdraws what is asked about it.
func (k *Kernel) remove(ctx context.Context, _ Caller, q api.RemoveRequest) (struct{}, error) {
	a, err := k.admin.Remove(ctx, q)
	if err == nil {
		k.withdrawMissing(ctx)
	}
	return a, err
}

// withdrawMissing ends the calls that are not started and whose tools are gone. What it misses is logged: safety does not
// depend on it, since a service refuses a call of a tool that it lacks.
func (k *Kernel) withdrawMissing(ctx context.Context) {
	if err := k.Rejudge(ctx); err != nil {
		k.o.Logger.Warn("what is asked about a tool that is gone may still be open", "error", err)
	}
}
