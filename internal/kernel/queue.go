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
	rows, err := tx.Turns(store.TurnFilter{Agent: agent, Open: true, Statuses: queue.UnderWay(), Limit: limit})
	return queue.Claimable(limit, len(rows)), err
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

// engaged reports whether a queued turn of the step has no worker for a reason: its agent has other turns under way, or
// this kernel has been there for less time than its workers may take.
func (s *step) engaged() (bool, error) {
	st := s.rec.State
	if st.Status != turn.Queued || st.MaxQueued <= 0 {
		return false, nil
	}
	if s.now.SinceBoot-s.k.startedAt < st.MaxQueued {
		return true, nil
	}
	rows, err := s.tx.Turns(store.TurnFilter{Agent: st.Agent, Open: true, Statuses: queue.UnderWay(), Limit: 1})
	return len(rows) > 0, err
}
