package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// agenda holds the indexed columns of an open turn. They are in a narrow row of their own, for as
// long as any is set: every step writes the turn's own row, and no index should depend on that.
type agenda struct {
	agent, worker string
	due, claim    any   // microseconds since 1970, or nil
	active        int64 // 1: it takes a place of its agent
}

func agendaOf(r *store.Record) agenda {
	a := agenda{agent: r.State.Agent, worker: r.State.Worker, due: optionalStamp(r.Due), claim: optionalStamp(r.Free)}
	if r.State.IsActive() {
		a.active = 1
	}
	return a
}

func (a agenda) empty() bool {
	return a.worker == "" && a.due == nil && a.claim == nil && a.active == 0
}

// saveAgenda writes the agenda of a turn if it has changed.
func (t *Tx) saveAgenda(r *store.Record, was found) error {
	a, id := agendaOf(r), r.State.Turn
	what := "the agenda of the turn " + id
	switch read := was.version != 0; {
	case read && a == was.agenda, r.Version == 0 && a.empty():
		return nil
	case a.empty():
		return t.exec(what, `DELETE FROM agenda WHERE turn_id = $1`, id)
	case read && !was.agenda.empty():
		n, err := t.c.Write(`UPDATE agenda SET agent = $2, worker = $3, due_at = $4, claim_at = $5, active = $6 WHERE turn_id = $1`, 1,
			id, a.agent, a.worker, a.due, a.claim, a.active)
		if err != nil || n == 1 {
			return t.c.Border(what, err)
		}
	}
	return t.exec(what, `INSERT INTO agenda (turn_id, agent, worker, due_at, claim_at, active) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (turn_id) DO UPDATE SET agent = excluded.agent, worker = excluded.worker, due_at = excluded.due_at, claim_at = excluded.claim_at,
			active = excluded.active`,
		id, a.agent, a.worker, a.due, a.claim, a.active)
}
