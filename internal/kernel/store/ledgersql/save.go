package ledgersql

import (
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Save implements [store.Tx]. Referenced rows come first: blobs, then the turn.
func (t *Tx) Save(b store.Batch) error {
	if err := t.writable("saving"); err != nil {
		return err
	}
	return t.Fail(t.save(&b))
}

func (t *Tx) save(b *store.Batch) error {
	for _, part := range []func(*store.Batch) error{
		t.saveBlobs, t.saveTurnAndEvents, t.saveCards, t.saveConsents, t.saveGrants, t.saveReports, t.saveResults, t.saveSealed,
		t.saveOutbox, t.saveTools, t.saveAgents, t.saveBoxes, t.savePreferences, t.saveKeys, t.savePasskeys, t.saveInForce, t.savePermissions, t.saveReceipts, t.saveActs,
	} {
		if err := part(b); err != nil {
			return err
		}
	}
	return nil
}

// saveTurnAndEvents numbers the events: each session's turn hands out the next numbers
// in the same statement that moves it on, so there is no gap and no number twice.
func (t *Tx) saveTurnAndEvents(b *store.Batch) error {
	count := map[string]int{}
	for i := range b.Events {
		count[b.Events[i].Session]++
	}
	if err := t.lockTurns(b); err != nil {
		return err
	}
	next := map[string]int64{}
	if b.Turn != nil {
		session := b.Turn.State.Session
		last, err := t.saveTurn(b.Turn, count[session])
		if err != nil {
			return err
		}
		next[session] = last - int64(count[session]) + 1
	}
	for i := range b.Events {
		e := &b.Events[i]
		if _, known := next[e.Session]; !known {
			var last int64
			err := t.c.QueryRow(`UPDATE turns SET seq = seq + $2 WHERE session_id = $1 RETURNING seq`, []any{e.Session, count[e.Session]}, &last)
			if err != nil {
				return t.c.Border("the session "+e.Session, err)
			}
			next[e.Session] = last - int64(count[e.Session]) + 1
		}
		if !t.eventsLocked {
			if err := t.lock("the events", t.d.LockEvents); err != nil {
				return err
			}
			t.eventsLocked = true
		}
		e.Seq = next[e.Session]
		next[e.Session]++
	}
	if len(b.Events) == 0 {
		return nil
	}
	var rows []any
	for i := range b.Events {
		e := &b.Events[i]
		rows = append(rows, e.Session, e.Seq, e.ID, e.Type, text(e.Body), e.Template, text(e.Params), stamp(e.At))
	}
	return t.add(fmt.Sprintf("the event %s of %s", b.Events[0].ID, b.Events[0].Session), events, rows...)
}

// lockTurns keeps the order of what is numbered in sessions whose turn is not written here:
// of their messages, and of the results of their turns. Writing the turn does it by itself.
func (t *Tx) lockTurns(b *store.Batch) error {
	own := ""
	if b.Turn != nil {
		own = b.Turn.State.Session
	}
	sessions, calls := map[string]bool{}, map[string]bool{}
	for i := range b.Events {
		sessions[b.Events[i].Session] = true
	}
	for i := range b.Outbox {
		sessions[b.Outbox[i].Session] = true
	}
	delete(sessions, own)
	for i := range b.Applied {
		if b.Turn == nil {
			calls[b.Applied[i].Call] = true
		}
	}
	if t.d.LockTurns == "" || len(sessions)+len(calls) == 0 {
		return nil
	}
	return t.lock("the sessions", t.d.LockTurns, t.d.List(slices.Sorted(maps.Keys(sessions))), t.d.List(slices.Sorted(maps.Keys(calls))))
}
