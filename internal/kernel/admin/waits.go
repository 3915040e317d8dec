package admin

import (
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/queue"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// waits finds out what the turns of one list wait for, if that is wanted, and since when they are quiet. The queue of each agent is
// read once.
type waits struct {
	ad     *Admin
	tx     store.Tx
	wanted bool
	queues map[string][]queue.Entry
}

// add says in a row since when its turn is quiet and, if that is wanted, what it waits for and where it comes from. An unreadable turn is listed without.
func (w waits) add(row *api.SessionRow) error {
	if !w.wanted && row.Status != string(turn.Running) {
		return nil
	}
	rec, err := w.tx.Turn(store.TurnRef{Turn: row.Turn})
	if errors.Is(err, store.ErrDamaged) {
		w.ad.o.Logger.Warn("waits", "turn", row.Turn, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	st := rec.State
	row.QuietSince = st.QuietSince(w.ad.o.Timestamp())
	if !w.wanted {
		return nil
	}
	row.Correlation, row.Parent = st.Correlation, st.Parent
	behind := ""
	if limit := w.ad.maxActive(st.Agent); limit > 0 && st.Status == turn.Queued {
		entries, err := w.queue(st.Agent)
		if err != nil {
			return err
		}
		behind = queue.Behind(entries, st.Turn, limit)
	}
	row.Waits = queue.Waits(st, behind)
	return nil
}

// queue reads the open turns of an agent that need a worker, oldest first.
func (w waits) queue(agent string) ([]queue.Entry, error) {
	if read, found := w.queues[agent]; found {
		return read, nil
	}
	rows, err := w.tx.Turns(store.TurnFilter{Agent: agent, Open: true})
	if err != nil {
		return nil, err
	}
	var entries []queue.Entry
	for _, r := range rows {
		holds, err := store.CountsAsActive(w.tx, r.Turn)
		if err != nil {
			return nil, err
		}
		if holds {
			entries = append(entries, queue.Entry{Turn: r.Turn, Status: r.Status})
		}
	}
	w.queues[agent] = entries
	return entries, nil
}

func (ad *Admin) maxActive(agent string) int {
	if ad.o.MaxActive == nil {
		return 0
	}
	return ad.o.MaxActive(agent)
}
