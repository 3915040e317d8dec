package sqlite

import (
	"fmt"

	"github.com/earshot-dev/earshot/kernel"
)

// Save implements [kernel.Tx]. The turn comes first: what follows refers to it.
func (t *tx) Save(b kernel.Batch) error {
	if err := t.writable("saving"); err != nil {
		return err
	}
	return t.fail(t.save(&b))
}

func (t *tx) save(b *kernel.Batch) error {
	if err := t.saveTurnAndEvents(b); err != nil {
		return err
	}
	for _, part := range []func(*kernel.Batch) error{
		t.saveCards, t.saveConsents, t.saveGrants, t.saveReports, t.saveResults, t.saveTrail, t.saveSealed, t.saveOutbox, t.saveTools,
	} {
		if err := part(b); err != nil {
			return err
		}
	}
	return nil
}

// saveTurnAndEvents numbers the events: each session's turn hands out the next numbers
// in the same statement that moves it on, so there is no gap and no number twice.
func (t *tx) saveTurnAndEvents(b *kernel.Batch) error {
	count := map[string]int{}
	for i := range b.Events {
		count[b.Events[i].Session]++
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
			err := t.c.one(`UPDATE turns SET seq = seq + ?2 WHERE session_id = ?1 RETURNING seq`, []any{e.Session, count[e.Session]}, &last)
			if err != nil {
				return border("the session "+e.Session, err)
			}
			next[e.Session] = last - int64(count[e.Session]) + 1
		}
		e.Seq = next[e.Session]
		next[e.Session]++
		if err := t.insertEvent(e); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) insertEvent(e *kernel.Event) error {
	return t.put(fmt.Sprintf("the event %s of %s", e.ID, e.Session), `INSERT INTO events
		(session_id, seq, event_id, type, body, template, params, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)`,
		e.Session, e.Seq, e.ID, e.Type, text(e.Body), e.Template, text(e.Params), stamp(e.At))
}

// Events implements [kernel.Tx].
func (t *tx) Events(session string, after int64, limit int) ([]kernel.Event, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []kernel.Event
	err := t.c.each(`SELECT session_id, seq, event_id, type, body, template, params, at FROM events
		WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3`, []any{session, after, max(limit, 0)},
		func(scan func(...any) error) error {
			var e kernel.Event
			var at int64
			err := scan(&e.Session, &e.Seq, &e.ID, &e.Type, value(&e.Body), &e.Template, value(&e.Params), &at)
			e.At = instant(at)
			rows = append(rows, e)
			return err
		})
	return rows, t.read(err, "the events of %s", session)
}
