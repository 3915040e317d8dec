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

// register takes a tool's definition. A new or changed one stays unreviewed, which
// means irreversible, of high risk, and asked for, until an operator has looked.
func (k *Kernel) register(ctx context.Context, from Caller, q api.RegisterRequest) (struct{}, error) {
	if q.Definition.Enforcement() != utp.Enforced {
		return struct{}{}, api.NewFault(utp.CodeBadRequest, "a service that starts at the kernel is enforced; options.enforcement cannot say otherwise")
	}
	return struct{}{}, k.offer(ctx, from, q.Definition)
}

// Register enters a definition for the service target, as the word of anyone who runs the kernel: a
// name that another service has registered is this one's from now on, and nobody has reviewed it.
func (k *Kernel) Register(ctx context.Context, target string, d utp.Definition) error {
	return k.enter(ctx, target, d, func(store.Tx, store.Tool) error { return nil })
}

// offer enters a definition for the service that asks: under a name that is its own.
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

// checkToolCount refuses one more tool of a service that has most of them already. It is asked in the
// transaction that adds the tool, and counting holds up anyone who adds another one for the service
// at the same time, so that no two of them take the last place.
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

// ownedBy refuses a registered tool to a service that is not its own.
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

// enter keeps a definition for the service target if may has nothing against it, in that
// transaction, given what is registered under its name.
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
	if _, err := k.schemas.compiled(d); err != nil {
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
		if err == nil && known.Digest == digest { // the target is in it: it is the same service's
			return raiseRisk(tx, known, d.Risk)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := may(tx, known); err != nil {
			return err
		}
		if ownedBy(target, known) != nil { // what was reviewed was another's
			known.LastReviewed = nil
		}
		return tx.Save(store.Batch{Tools: []store.Tool{{Definition: d, Digest: digest, Class: utp.Irreversible, Risk: utp.RiskHigh, LastReviewed: known.LastReviewed}}})
	}))
}

// raiseRisk takes a service's word that a tool is riskier than it said, if anything. A lower
// one does not count: the definition that was reviewed said otherwise.
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

// Trust registers a definition that anyone who runs the kernel has chosen with it, and reviews it
// as it describes itself. An operator's own word on this very definition stands.
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
