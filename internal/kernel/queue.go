package kernel

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/queue"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// claimableStatuses returns the statuses of the agent's turns that a worker may claim; nil is any.
func (k *Kernel) claimableStatuses(tx store.Tx, agent string) ([]turn.Status, error) {
	limit := k.o.MaxActive(agent)
	if limit <= 0 {
		return nil, nil
	}
	held, err := places(tx, agent, limit)
	return queue.Claimable(limit, held), err
}

// places counts the places that turns of the agent hold, up to most. What it reads is as much as it counts, however many turns wait.
func places(tx store.Tx, agent string, most int) (held int, err error) {
	rows, err := tx.Turns(store.TurnFilter{Agent: agent, Active: true, Limit: most})
	return len(rows), err
}

// takePlace is claimableStatuses for a transaction that claims. The counter is a lock: where transactions run side by
// side, two that claim turns of one agent would each see the last place free.
func (k *Kernel) takePlace(tx store.Tx, agent string) ([]turn.Status, error) {
	if k.o.MaxActive(agent) <= 0 {
		return nil, nil
	}
	if _, err := tx.Count("claims "+agent, 1); err != nil {
		return nil, err
	}
	return k.claimableStatuses(tx, agent)
}

// engaged reports whether a queued turn of the step has no worker for a reason: its agent's workers have other turns under way, or
// this kernel has been there for less time than its workers may take.
func (s *step) engaged() (bool, error) {
	st := s.rec.State
	if st.Status != turn.Queued || st.MaxQueued <= 0 {
		return false, nil
	}
	if s.now.SinceBoot-s.k.startedAt < st.MaxQueued {
		return true, nil
	}
	held, err := places(s.tx, st.Agent, 1)
	return held > 0, err
}

// checkPlaces refuses a turn of an agent whose places are all held by the turns that it is within: it could begin only
// when one of them has ended, and if they wait for it, none ever does. Those whose calls wait for it leave it their places.
func (s *step) checkPlaces(above turn.State) error {
	agent := s.rec.State.Agent
	limit := s.k.o.MaxActive(agent)
	if limit <= 0 {
		return nil
	}
	held, below := 0, s.rec.State
	for range turn.MaxDepth {
		if above.Agent == agent && above.CountsAsActive() && !above.Awaits(below.Within) {
			held++
		}
		if above.Parent == "" {
			break
		}
		rec, err := s.tx.Turn(store.TurnRef{Turn: above.Parent})
		if errors.Is(err, store.ErrNotFound) { // it has been erased, and so had ended
			break
		}
		if err != nil {
			return err
		}
		below, above = above, rec.State
	}
	if held < limit {
		return nil
	}
	return api.NewFault(utp.CodeTooManyTurns, fmt.Sprintf(
		"%.64q may have %d turns under way, and the turns that this one would be within are as many; nothing was started; "+
			"do the work in the turn itself, or have an operator raise --max-active", agent, limit))
}
