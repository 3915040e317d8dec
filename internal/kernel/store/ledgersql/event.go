package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

const eventColumns = `SELECT session_id, seq, event_id, type, body, template, params, at FROM events `

func scanEvent(scan func(...any) error) (store.Event, error) {
	var e store.Event
	var at int64
	err := scan(&e.Session, &e.Seq, &e.ID, &e.Type, value(&e.Body), &e.Template, value(&e.Params), &at)
	e.At = instant(at)
	return e, err
}

// Events implements [store.Tx].
func (t *Tx) Events(f store.EventFilter) ([]store.Event, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.Event
	keep := func(scan func(...any) error) error {
		e, err := scanEvent(scan)
		rows = append(rows, e)
		return err
	}
	if f.Session != "" {
		err := t.c.Each(eventColumns+`WHERE session_id = $1 AND seq > $2 ORDER BY seq`+limited("$3"), []any{f.Session, f.After, max(f.Limit, 0)}, keep)
		return rows, t.read(err, "the events of %s", f.Session)
	}
	w := t.where()
	w.among("event_id", append([]string{}, f.IDs...))
	return rows, t.read(t.c.Each(eventColumns+w.page("session_id, seq", 0), w.args, keep), "events")
}

// Since implements [store.Tx]. Rows of events are numbered as they are written, those of a session in
// the order of its sequence. Concurrent transactions do not commit in that order. So Since returns the
// events up to the row before which no further row can appear, and the rest next time.
func (t *Tx) Since(p store.Point) (store.Progress, error) {
	first := !t.used
	if err := t.usable(); err != nil {
		return store.Progress{}, err
	}
	if !first {
		return store.Progress{}, invalid("asking what has gone on", "a transaction that has read or written before", "to be the first that is asked")
	}
	settled, err := t.c.LastVisible()
	if err != nil {
		return store.Progress{}, t.read(err, "the settled events")
	}
	from, err := t.origin(p)
	if err != nil {
		return store.Progress{}, err
	}
	out := store.Progress{Newest: p.Event, Owner: from.owner}
	var newest int64
	err = t.c.QueryRow(`SELECT id, event_id FROM events WHERE id <= $1 ORDER BY id DESC LIMIT 1`, []any{settled}, &newest, &out.Newest)
	if err != nil && !noRows(err) {
		return store.Progress{}, t.read(err, "the newest event")
	}
	if newest < from.row { // it was visible before, and stays so
		out.Newest = p.Event
	}
	if p.Limit <= 0 {
		return out, nil
	}
	out.Sessions, err = t.advances(from, settled, p)
	if err != nil {
		return store.Progress{}, err
	}
	if len(out.Sessions) > p.Limit {
		out.Sessions, out.More = out.Sessions[:p.Limit], true
	}
	return out, nil
}

// origin is a point of the ledger: an event's row, number, session and its owner, and the row up to
// which everything of other sessions counts as already returned.
type origin struct {
	row, seq, seen int64
	session, owner string
}

// advances lists sessions with new events, up to a visible row, and one more than the limit if there
// are others. A session's number at the point is one less than that of its first event after it. The
// event's own session counts from the event itself, however far back the others go. Imported sessions
// are left out: their events happened elsewhere, long ago.
func (t *Tx) advances(from origin, settled int64, p store.Point) ([]store.Advance, error) {
	args, narrow := []any{from.seen, settled, from.session, from.seq, p.Limit + 1}, ""
	if len(p.Owners) > 0 {
		narrow = " AND " + t.d.Among("owner", "$6")
		args = append(args, t.d.List(p.Owners))
	}
	var out []store.Advance
	err := t.c.Each(`SELECT session_id, owner, told, last, ended FROM (
			SELECT t.session_id, t.owner, CASE WHEN t.session_id = $3 THEN CAST($4 AS bigint) ELSE s.first - 1 END AS told,
				s.last, t.status = 'ended' AND s.last = t.seq AS ended
			FROM (SELECT session_id, min(seq) AS first, max(seq) AS last FROM events WHERE id > $1 AND id <= $2 GROUP BY session_id) s
			JOIN turns t ON t.session_id = s.session_id
			WHERE NOT t.imported
		) a WHERE told < last`+narrow+``+limited("$5"), args,
		func(scan func(...any) error) error {
			var a store.Advance
			err := scan(&a.Session, &a.Owner, &a.Seq, &a.Last, &a.Ended)
			out = append(out, a)
			return err
		})
	return out, t.read(err, "the sessions since the row %d", from.row)
}

// origin finds a point; no event is the beginning of the ledger.
func (t *Tx) origin(p store.Point) (origin, error) {
	var o origin
	if p.Event == "" {
		return o, nil
	}
	var at int64
	err := t.c.QueryRow(`SELECT e.id, e.session_id, e.seq, e.at, coalesce(t.owner, '') FROM events e LEFT JOIN turns t ON t.session_id = e.session_id
		WHERE e.event_id = $1`, []any{p.Event}, &o.row, &o.session, &o.seq, &at, &o.owner)
	if err != nil {
		return o, t.read(err, "the event %s", p.Event)
	}
	if o.seen = o.row; p.Overlap <= 0 {
		return o, nil
	}
	o.seen = 0
	err = t.c.QueryRow(`SELECT id FROM events WHERE id < $1 AND at < $2 ORDER BY id DESC LIMIT 1`, []any{o.row, at - p.Overlap.Microseconds()}, &o.seen)
	if noRows(err) {
		err = nil
	}
	return o, t.read(err, "the events before %s", p.Event)
}
