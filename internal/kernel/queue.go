package kernel

import (
	"github.com/earshot-dev/earshot/internal/kernel/queue"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
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
