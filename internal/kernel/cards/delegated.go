package cards

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Plan reads what a call of the kernel's own tools asks for.
func (t *Tx) Plan(c turn.Call) (delegation.Plan, error) {
	args, err := t.Args(c)
	if err != nil {
		return delegation.Plan{}, err
	}
	p, err := delegation.Read(c.Tool, args)
	if err == nil && len(p.Tasks) < len(c.Batch.Children) {
		err = fmt.Errorf("%w: the arguments of call %s have fewer tasks than it has turns", store.ErrDamaged, c.ID)
	}
	return p, err
}

// Delegated returns the result of a call that turns of other agents have done. What cannot be read any more is missing in it:
// it must not keep the turn of another agent from its end.
func (t *Tx) Delegated(c turn.Call) (jsontext.Value, error) {
	p, err := t.Plan(c)
	if err != nil && !lost(err) {
		return nil, err
	}
	read := func(child turn.Child) (delegation.Output, error) {
		out, err := outputOf(t.tx, child)
		if lost(err) {
			return delegation.Output{Lost: true}, nil
		}
		return out, err
	}
	result, err := delegation.Result(c.Tool, p, c, read)
	if err != nil {
		return nil, store.Unexpected("the result of call "+c.ID, err)
	}
	return result, nil
}

// lost reports whether the ledger does not have something any more, or not in a form that can be read.
func lost(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged)
}

// outputOf reads what a child has left. Of one that was erased since, nothing is left.
func outputOf(tx store.Tx, child turn.Child) (out delegation.Output, err error) {
	if child.Answer != "" {
		if out.Text, err = Text(tx, child.Answer); err != nil {
			return out, err
		}
	}
	if child.Card == "" {
		return out, nil
	}
	card, err := store.ReadCard(tx, child.Card)
	if errors.Is(err, store.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	fields, err := utp.DecodeDeliverable(card)
	if err != nil {
		return out, fmt.Errorf("%w: what turn %s delivered: %w", store.ErrDamaged, child.Turn, err)
	}
	if out.Fields, err = json.Marshal(fields, json.Deterministic(true)); err != nil {
		return out, store.Unexpected("what turn "+child.Turn+" delivered", err)
	}
	return out, nil
}
