package kernel

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/admission"
	"github.com/earshot-dev/earshot/internal/kernel/cards"
	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// plan reads what a call of the kernel's own tools asks for.
func (s *step) plan(c turn.Call) (delegation.Plan, error) {
	args, err := s.cards.Args(c)
	if err != nil {
		return delegation.Plan{}, err
	}
	p, err := delegation.Read(c.Tool, args)
	if err == nil && len(p.Tasks) < len(c.Batch.Children) {
		err = fmt.Errorf("%w: the arguments of call %s have fewer tasks than it has turns", store.ErrDamaged, c.ID)
	}
	return p, err
}

// delegated returns the result of a call that turns of other agents have done. What cannot be read any more is missing in it:
// it must not keep the turn of another agent from its end.
func (s *step) delegated(c turn.Call) (jsontext.Value, error) {
	p, err := s.plan(c)
	if err != nil && !lost(err) {
		return nil, err
	}
	read := func(child turn.Child) (delegation.Output, error) {
		out, err := s.outputOf(child)
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
func (s *step) outputOf(child turn.Child) (out delegation.Output, err error) {
	if child.Answer != "" {
		if out.Text, err = cards.Text(s.tx, child.Answer); err != nil {
			return out, err
		}
	}
	if child.Card == "" {
		return out, nil
	}
	card, err := store.ReadCard(s.tx, child.Card)
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

// offeredOwn are the kernel's own tools as an agent is offered them: those that its definition leaves it, if it says whom
// the agent may ask.
func (k *Kernel) offeredOwn(agent string, by api.AgentDefinition) ([]api.OfferedTool, error) {
	if len(by.MayAsk) == 0 {
		return nil, nil
	}
	var all []api.OfferedTool
	for _, d := range delegation.Definitions() {
		tool, _ := admission.KernelTool(d.Tool)
		offered, err := k.offeredTool(agent, by, tool)
		if err != nil {
			return nil, err
		}
		if offered.Tool != "" {
			all = append(all, offered)
		}
	}
	return all, nil
}
