package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// register saves a tool's definition. Until an operator reviews it, a new or changed definition counts as
// irreversible and of high risk, and is always asked for.
func (k *Kernel) register(ctx context.Context, from Caller, q api.RegisterRequest) (struct{}, error) {
	if q.Definition.Enforcement() != utp.Enforced {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, "a service that starts at the kernel is enforced; options.enforcement cannot say otherwise")
	}
	err := k.offer(ctx, from, q.Definition)
	if err == nil {
		k.served.add(from.Name, q.Definition.Tool)
	}
	return struct{}{}, err
}

// Register saves a definition for the service target, with the authority of whoever runs the kernel: a name
// that another service has registered belongs to this one from now on, and is unreviewed.
func (k *Kernel) Register(ctx context.Context, target string, d utp.Definition) error {
	return k.enter(ctx, target, d, func(store.Tx, store.Tool) error { return nil })
}

// offer saves a definition for the asking service, under a name that it may register.
func (k *Kernel) offer(ctx context.Context, from Caller, d utp.Definition) error {
	return k.enter(ctx, from.Name, d, func(tx store.Tx, known store.Tool) error {
		if known.Digest != "" {
			return ownedBy(from.Name, known)
		}
		if k.o.Names != nil {
			if err := k.o.Names.MayRegister(from, d.Tool); err != nil {
				return api.NewFault(utp.CodeAuthFailed, err.Error())
			}
		}
		return checkToolCount(tx, from.Name, d.Tool)
	})
}

// checkToolCount refuses another tool of a service that has the most tools allowed. It runs in the transaction
// that adds the tool. Counting locks out others who add a tool for the service at the same time, so that no
// two tools take the last place.
func checkToolCount(tx store.Tx, service, name string) error {
	if _, err := tx.Count("tools of "+service, 1); err != nil {
		return err
	}
	there, err := tx.Tools(store.ToolFilter{Service: service, Limit: maxTools})
	if err == nil && len(there) >= maxTools {
		return api.NewFault(utp.CodeTooManyTools, fmt.Sprintf(
			"the service %s has registered %d tools, the most that one credential may have; %s was not registered; take out those that it does not serve any more (`earshot tools rm`)",
			service, len(there), name))
	}
	return err
}

// ownedBy returns an error if a registered tool belongs to another service.
func ownedBy(target string, known store.Tool) error {
	if known.Digest == "" {
		return nil
	}
	owner, err := service(known.Definition)
	if err == nil && owner != target {
		return api.NewFault(utp.CodeConflict, fmt.Sprintf(
			"the tool %s belongs to the service %s, and %s cannot have it; choose another name, or have an operator take it out first (`earshot tools rm %s`)",
			known.Definition.Tool, owner, target, known.Definition.Tool))
	}
	return nil
}

// enter saves a definition for the service target unless may returns an error. It calls may in the same
// transaction, with what is registered under the name.
func (k *Kernel) enter(ctx context.Context, target string, d utp.Definition, may func(tx store.Tx, known store.Tool) error) error {
	if err := d.Validate(); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	owner, err := service(d)
	if err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	if owner != target {
		return api.NewFault(utp.CodeAuthFailed, "the tool's target subject names another service")
	}
	if err := k.values.Check(d); err != nil {
		return api.NewFault(utp.CodeBadRequest, "the parameters are not JSON Schema: "+err.Error())
	}
	if err := k.o.Narrator.Check(d); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	digest, err := d.Digest()
	if err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return store.ProtocolError(k.update(ctx, func(tx store.Tx) error {
		known, err := store.ReadTool(tx, d.Tool)
		if err == nil && known.Digest == digest { // the digest covers the target: it is the same service's
			return raiseRisk(tx, known, d.Risk)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := may(tx, known); err != nil {
			return err
		}
		if ownedBy(target, known) != nil { // the reviewed definition was another service's
			known.LastReviewed = nil
		}
		return tx.Save(store.Batch{Tools: []store.Tool{{Definition: d, Digest: digest, Class: utp.Irreversible, Risk: utp.RiskHigh, LastReviewed: known.LastReviewed}}})
	}))
}

// raiseRisk raises a tool's risk if its service now states a higher one. A lower one does not count: the
// reviewed definition said otherwise.
func raiseRisk(tx store.Tx, t store.Tool, risk utp.Risk) error {
	if risk == "" {
		return nil
	}
	if raised := cmp.Or(t.Definition.Risk, risk).Raise(risk); raised != t.Definition.Risk {
		t.Definition.Risk = raised
		return tx.Save(store.Batch{Tools: []store.Tool{t}})
	}
	return nil
}

// Trust registers a definition that whoever runs the kernel ships with it, and marks it as reviewed, with its own
// class and risk. An operator's own review of this definition stands.
func (k *Kernel) Trust(ctx context.Context, target string, d utp.Definition) (store.Tool, error) {
	if err := k.Register(ctx, target, d); err != nil {
		return store.Tool{}, err
	}
	var known store.Tool
	err := k.update(ctx, func(tx store.Tx) (err error) {
		if known, err = store.ReadTool(tx, d.Tool); err != nil || known.Reviewed {
			return err
		}
		known.Reviewed, known.Class, known.Risk = true, d.Class, d.Risk
		if known.LastReviewed, err = json.Marshal(known.Definition, jsontext.PreserveRawStrings(true)); err != nil {
			return store.Unexpected("a definition", err)
		}
		return k.admin.SaveReviewed(tx, known, "")
	})
	return known, store.ProtocolError(err)
}

// service returns the target that a definition names. It must be the same for every turn: otherwise a service
// could offer its tools in another's name.
func service(d utp.Definition) (string, error) {
	one, err := utp.RenderTarget(d.Target, utp.TargetValues{Project: "p", Channel: "c", Agent: "a"})
	if err != nil {
		return "", err
	}
	other, err := utp.RenderTarget(d.Target, utp.TargetValues{Project: "q", Channel: "d", Agent: "b"})
	if err == nil && one.Target != other.Target {
		err = fmt.Errorf("the target subject %q names another service for another turn", d.Target)
	}
	return one.Target, err
}
