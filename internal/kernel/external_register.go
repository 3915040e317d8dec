package kernel

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/external"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// registerExternal registers a third-party service's tool by a definition from the service itself.
func (k *Kernel) registerExternal(ctx context.Context, from Caller, q api.RegisterRequest) (struct{}, error) {
	d, err := external.Brokered(q.Definition)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, k.offer(ctx, from, d)
}

// add registers it by a definition from an operator: a third-party service may not know how to register.
// A service that asks the kernel for its starts registers its own tools.
func (k *Kernel) add(ctx context.Context, _ Caller, q api.RegisterRequest) (api.ToolDetail, error) {
	d, err := external.Brokered(q.Definition)
	if err != nil {
		return api.ToolDetail{}, err
	}
	target, err := service(d)
	if err != nil {
		return api.ToolDetail{}, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	err = k.enter(ctx, target, d, func(_ store.Tx, known store.Tool) error {
		if known.Digest != "" && known.Enforcement() == utp.Enforced {
			return api.NewFault(utp.CodeConflict, "the service of "+d.Tool+" registers its tools itself; take it out first if it is another one now")
		}
		return ownedBy(target, known)
	})
	if err != nil {
		return api.ToolDetail{}, err
	}
	return k.admin.ToolNamed(ctx, d.Tool)
}
