package kernel

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// registerExternal registers a third-party service's tool by a definition from the service itself.
func (k *Kernel) registerExternal(ctx context.Context, from Caller, q api.RegisterRequest) (struct{}, error) {
	d, err := brokered(q.Definition)
	if err != nil {
		return struct{}{}, err
	}
	return struct{}{}, k.offer(ctx, from, d)
}

// add registers it by a definition from an operator: a third-party service may not know how to register.
// A service that asks the kernel for its starts registers its own tools.
func (k *Kernel) add(ctx context.Context, _ Caller, q api.RegisterRequest) (api.ToolDetail, error) {
	d, err := brokered(q.Definition)
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

// brokered returns the definition of a third-party service's tool as it counts. It is broker-only,
// whatever it says. A class or risk that it leaves out stays empty: until an operator sets one, the tool
// counts as the worst.
func brokered(d utp.Definition) (utp.Definition, error) {
	opts, err := utp.ParseOptions(d.Options)
	if err != nil {
		return d, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if len(opts.Envs) > 0 {
		return d, api.NewFault(utp.CodeBadRequest, "a third-party service is handed no secrets; it reads them where it runs, without options.envs")
	}
	if len(d.Options) == 0 || d.Options.Kind() == jsontext.KindNull {
		d.Options = jsontext.Value("{}")
	}
	d.Options, err = utp.SetMember(d.Options, "enforcement", jsontext.Value(`"`+utp.BrokerOnly+`"`))
	if err == nil {
		err = d.Validate()
	}
	if err != nil {
		return d, api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return d, nil
}
