package ledgersql

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Outbox implements [store.Tx]. The ids of a session's rows are in the order of its
// commits.
func (t *Tx) Outbox(f store.OutboxFilter) ([]store.Outgoing, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	query := `SELECT id, session_id, subject, header, payload, call_id, dead_at, dead_reason FROM outbox WHERE published_at IS NULL AND dead_at IS NULL AND id > $1`
	if f.Dead {
		query = `SELECT id, session_id, subject, header, payload, call_id, dead_at, dead_reason FROM outbox WHERE dead_at IS NOT NULL AND published_at IS NULL AND id > $1`
	}
	args := []any{f.After}
	narrow := func(condition string, value any) {
		args = append(args, value)
		query += condition + "$" + strconv.Itoa(len(args))
	}
	if f.Session != "" {
		narrow(" AND session_id = ", f.Session)
	}
	if !f.Before.IsZero() {
		narrow(" AND created < ", stamp(f.Before))
	}
	query += " ORDER BY id"
	if f.Limit > 0 {
		args = append(args, f.Limit)
		query += limited("$" + strconv.Itoa(len(args)))
	}
	var rows []store.Outgoing
	err := t.c.Each(query, args, func(scan func(...any) error) error {
		var o store.Outgoing
		var header []byte
		var died *int64
		var reason *string
		if err := scan(&o.ID, &o.Session, &o.Subject, &header, &o.Payload, &o.Call, &died, &reason); err != nil {
			return err
		}
		if died != nil {
			o.Died = instant(*died)
		}
		if reason != nil {
			o.Reason = *reason
		}
		rows = append(rows, o)
		if header == nil {
			return nil
		}
		return decode(string(header), &rows[len(rows)-1].Header)
	})
	return rows, t.read(err, "the outbox")
}

// saveOutbox adds messages, removes those that were sent, and puts those aside that never will be. One that is not there was
// sent: publishing is at least once.
func (t *Tx) saveOutbox(b *store.Batch) error {
	for i := range b.Outbox {
		if err := t.insertOutgoing(&b.Outbox[i]); err != nil {
			return err
		}
	}
	for _, id := range b.Claimed {
		err := t.must(fmt.Sprintf("the message %d", id), `UPDATE outbox SET created = $2 WHERE id = $1 AND published_at IS NULL AND dead_at IS NULL`, id, stamp(t.now()))
		if err != nil {
			return err
		}
	}
	for _, id := range b.SendOnce {
		err := t.must(fmt.Sprintf("the message %d", id), `UPDATE outbox SET published_at = $2 WHERE id = $1 AND published_at IS NULL AND dead_at IS NULL`, id, stamp(t.now()))
		if err != nil {
			return err
		}
	}
	for _, id := range b.Published { // a row that no longer exists was sent, too
		if err := t.exec(fmt.Sprintf("the message %d", id), `DELETE FROM outbox WHERE id = $1`, id); err != nil {
			return err
		}
	}
	for _, d := range b.Dead {
		err := t.exec(fmt.Sprintf("the message %d", d.ID), `UPDATE outbox SET dead_at = coalesce(dead_at, $2), dead_reason = coalesce(dead_reason, $3) WHERE id = $1`,
			d.ID, stamp(t.now()), d.Reason)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) insertOutgoing(o *store.Outgoing) error {
	var header any
	if o.Header != nil {
		raw, err := json.Marshal(o.Header, json.Deterministic(true), allowInvalidUTF8)
		if err != nil {
			return &Error{Kind: ErrInvalid, Op: "encoding a message's header", Err: err}
		}
		header = string(raw)
	}
	err := t.c.Insert(`INSERT INTO outbox (session_id, subject, header, payload, call_id, created) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
		&o.ID, o.Session, o.Subject, header, whole(o.Payload), o.Call, stamp(t.now()))
	return t.c.Border("a message to "+o.Subject, err)
}
