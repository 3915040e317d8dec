package kernel

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// activeLocked reports whether this kernel works on a turn: whether it lets workers claim the turn, ticks
// it and sends its messages. The caller holds mu.
func (k *Kernel) activeLocked(id string) bool {
	if k.o.OwnedTurnsOnly {
		_, own := k.ownedTurns[id]
		return own
	}
	_, parked := k.suspended[id]
	return !parked
}

func (k *Kernel) active(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.activeLocked(id)
}

// activate makes this kernel work on a turn.
func (k *Kernel) activate(st turn.State) {
	k.mu.Lock()
	delete(k.suspended, st.Turn)
	if k.o.OwnedTurnsOnly {
		k.ownedTurns[st.Turn] = st.Session
	}
	k.mu.Unlock()
	signal(k.tickerWakeup)
}

// owned returns the turns that were begun or resumed here.
func (k *Kernel) owned() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.ownedTurns))
}

// SuspendOpenTurns suspends the turns that are open now until each is resumed. The only host of a ledger
// calls it at its start, before it decides which turns may go on.
func (k *Kernel) SuspendOpenTurns(ctx context.Context) error {
	var rows []store.TurnRow
	err := k.o.Store.View(ctx, func(tx store.Tx) (err error) {
		rows, err = tx.Turns(store.TurnFilter{Open: true})
		return err
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, row := range rows {
		k.suspended[row.Turn] = row.Session
	}
	return store.ProtocolError(err)
}

// activeSession reports whether this kernel works on the turn of a session.
func (k *Kernel) activeSession(session string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.o.OwnedTurnsOnly {
		return slices.Contains(slices.Collect(maps.Values(k.ownedTurns)), session)
	}
	return !slices.Contains(slices.Collect(maps.Values(k.suspended)), session)
}
