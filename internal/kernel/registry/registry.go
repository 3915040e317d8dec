// Package registry enters the tools that agents may call: what a definition has to say, which service may have which name,
// and which of its tools a service has at the moment.
package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// MaxTools is how many names one service may register: the registry is everybody's.
const MaxTools = 200

// Options of the registry. All but Presence are required, and may be called concurrently.
type Options struct {
	Ledger store.Ledger
	// Check refuses a definition whose calls could not be checked or put to a person.
	Check func(utp.Definition) error
	// SaveReviewed saves a tool as reviewed by the operator of the kernel.
	SaveReviewed func(store.Tx, store.Tool) error
	// SinceBoot is the monotonic clock.
	SinceBoot func() time.Duration
	// Presence says which services are connected; nil is unknown.
	Presence Presence
}

// Registry enters tools into a ledger. It is safe for concurrent use.
type Registry struct {
	o         Options
	served    served
	startedAt time.Duration // when it was made, by the monotonic clock
}

// New returns the registry of a ledger.
func New(o Options) *Registry { return &Registry{o: o, startedAt: o.SinceBoot()} }

// Offer saves a definition for the asking service, under a name that it may register: its own, or a new one unless may
// returns an error, which is consulted in the transaction. Until an operator reviews it, a new or changed definition counts
// as irreversible and of high risk, and is always asked for.
func (r *Registry) Offer(ctx context.Context, service string, d utp.Definition, may func(name string) error) error {
	err := r.enter(ctx, service, d, func(tx store.Tx, known store.Tool) error {
		if known.Digest != "" {
			return ownedBy(service, known)
		}
		if err := may(d.Tool); err != nil {
			return api.NewFault(utp.CodeAuthFailed, err.Error())
		}
		return checkToolCount(tx, service, d.Tool)
	})
	if err == nil {
		r.served.add(service, d.Tool)
	}
	return err
}

// Register saves a definition for the service target, with the authority of the kernel's operator: a name
// that another service has registered belongs to this one from now on, and is unreviewed.
func (r *Registry) Register(ctx context.Context, target string, d utp.Definition) error {
	return r.enter(ctx, target, d, func(store.Tx, store.Tool) error { return nil })
}

// Add saves a definition from an operator: a third-party service may not know how to register. A service that asks the
// kernel for its starts registers its own tools.
func (r *Registry) Add(ctx context.Context, d utp.Definition) error {
	target, err := service(d)
	if err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return r.enter(ctx, target, d, func(_ store.Tx, known store.Tool) error {
		if known.Digest != "" && known.Enforcement() == utp.Enforced {
			return api.NewFault(utp.CodeConflict, "the service of "+d.Tool+" registers its tools itself; take it out first if it is another one now")
		}
		return ownedBy(target, known)
	})
}

// Trust registers a definition that the kernel's operator ships with it, and marks it as reviewed, with its own
// class and risk. An operator's own review of this definition stands.
func (r *Registry) Trust(ctx context.Context, target string, d utp.Definition) (store.Tool, error) {
	if err := r.Register(ctx, target, d); err != nil {
		return store.Tool{}, err
	}
	var known store.Tool
	err := store.Update(ctx, r.o.Ledger, func(tx store.Tx) (err error) {
		if known, err = store.ReadTool(tx, d.Tool); err != nil || known.Reviewed {
			return err
		}
		known.Reviewed, known.Class, known.Risk = true, d.Class, d.Risk
		if known.LastReviewed, err = json.Marshal(known.Definition, jsontext.PreserveRawStrings(true)); err != nil {
			return store.Unexpected("a definition", err)
		}
		return r.o.SaveReviewed(tx, known)
	})
	return known, store.ProtocolError(err)
}

// enter saves a definition for the service target unless may returns an error. It calls may in the same
// transaction, with what is registered under the name.
func (r *Registry) enter(ctx context.Context, target string, d utp.Definition, may func(tx store.Tx, known store.Tool) error) error {
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
	if err := r.o.Check(d); err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	digest, err := d.Digest()
	if err != nil {
		return api.NewFault(utp.CodeBadRequest, err.Error())
	}
	return store.ProtocolError(store.Update(ctx, r.o.Ledger, func(tx store.Tx) error {
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

// checkToolCount refuses another tool of a service that has the most tools allowed. It runs in the transaction
// that adds the tool. Counting locks out others who add a tool for the service at the same time, so that no
// two tools take the last place.
func checkToolCount(tx store.Tx, service, name string) error {
	if _, err := tx.Count("tools of "+service, 1); err != nil {
		return err
	}
	there, err := tx.Tools(store.ToolFilter{Service: service, Limit: MaxTools})
	if err == nil && len(there) >= MaxTools {
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
