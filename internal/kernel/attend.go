package kernel

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// attends reports whether a turn is attended to here: whether it is claimed and ticked, and
// its messages leave. The caller holds mu.
func (k *Kernel) attends(id string) bool {
	if k.o.Own {
		_, own := k.own[id]
		return own
	}
	_, parked := k.parked[id]
	return !parked
}

func (k *Kernel) driven(id string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.attends(id)
}

// attend makes a turn one of those that are attended to here.
func (k *Kernel) attend(st turn.State) {
	k.mu.Lock()
	delete(k.parked, st.Turn)
	if k.o.Own {
		k.own[st.Turn] = st.Session
	}
	k.mu.Unlock()
	signal(k.wake)
}

// owned lists the turns that were begun or resumed here.
func (k *Kernel) owned() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Sorted(maps.Keys(k.own))
}

// Park leaves the turns that are open now alone until each is resumed: what the only host of
// a ledger does when it starts, before it looks which of them may go on.
func (k *Kernel) Park(ctx context.Context) error {
	var rows []TurnRow
	err := k.o.Store.View(ctx, func(tx Tx) (err error) {
		rows, err = tx.Turns(TurnFilter{Open: true})
		return err
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, row := range rows {
		k.parked[row.Turn] = row.Session
	}
	return protocolError(err)
}
