package kernel

import (
	"context"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/registry"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// newRegistry returns the registry of the ledger.
func (k *Kernel) newRegistry() *registry.Registry {
	return registry.New(registry.Options{
		Ledger: k.o.Store, SinceBoot: k.o.Clock.SinceBoot, Presence: k.o.Presence,
		Check: func(d utp.Definition) error {
			if err := k.values.Check(d); err != nil {
				return fmt.Errorf("the parameters are not JSON Schema: %w", err)
			}
			return k.o.Narrator.Check(d)
		},
		SaveReviewed: func(tx store.Tx, t store.Tool) error { return k.admin.SaveReviewed(tx, t, "") },
	})
}

// Registry returns the registry of tools.
func (k *Kernel) Registry() *registry.Registry { return k.registry }

// register saves a definition from a service that starts at the kernel.
func (k *Kernel) register(ctx context.Context, from Caller, q api.RegisterRequest) (struct{}, error) {
	if q.Definition.Enforcement() != utp.Enforced {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, "a service that starts at the kernel is enforced; options.enforcement cannot say otherwise")
	}
	return struct{}{}, k.registry.Offer(ctx, from.Name, q.Definition, k.o.mayRegister(from))
}

// registerExternal registers a third-party service's tool by a definition from the service itself.
func (k *Kernel) registerExternal(ctx context.Context, from Caller, q api.RegisterRequest) (struct{}, error) {
	d, err := external.Brokered(q.Definition)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, k.registry.Offer(ctx, from.Name, d, k.o.mayRegister(from))
}

// add registers it by a definition from an operator.
func (k *Kernel) add(ctx context.Context, _ Caller, q api.RegisterRequest) (api.ToolDetail, error) {
	d, err := external.Brokered(q.Definition)
	if err == nil {
		err = k.registry.Add(ctx, d)
	}
	if err != nil {
		return api.ToolDetail{}, err
	}
	return k.admin.ToolNamed(ctx, d.Tool)
}

// mayRegister returns who says whether a service may register a tool of a name.
func (o *Options) mayRegister(from Caller) func(name string) error {
	if o.Names == nil {
		return func(string) error { return nil }
	}
	return func(name string) error { return o.Names.MayRegister(from, name) }
}
