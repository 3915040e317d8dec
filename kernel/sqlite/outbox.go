package sqlite

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/kernel"
)

// Outbox implements [kernel.Tx]. One writer hands out the ids, so their order is that
// of the commits, in every session and over all of them.
func (t *tx) Outbox(limit int) ([]kernel.Outgoing, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []kernel.Outgoing
	err := t.c.each(`SELECT id, session_id, subject, header, payload, call_id FROM outbox
		WHERE published_at IS NULL AND dead_at IS NULL ORDER BY id LIMIT ?1`, []any{max(limit, 0)},
		func(scan func(...any) error) error {
			var o kernel.Outgoing
			var header []byte
			if err := scan(&o.ID, &o.Session, &o.Subject, &header, &o.Payload, &o.Call); err != nil {
				return err
			}
			rows = append(rows, o)
			if header == nil {
				return nil
			}
			return decode(string(header), &rows[len(rows)-1].Header)
		})
	return rows, t.read(err, "the outbox")
}

// saveOutbox adds messages, and closes those that have left or never will. A message
// that has left before is left as it is: publishing is at least once.
func (t *tx) saveOutbox(b *kernel.Batch) error {
	for i := range b.Outbox {
		if err := t.insertOutgoing(&b.Outbox[i]); err != nil {
			return err
		}
	}
	for _, id := range b.Published {
		err := t.closeOutgoing(id, `UPDATE outbox SET published_at = coalesce(published_at, ?2) WHERE id = ?1`, id, stamp(t.now()))
		if err != nil {
			return err
		}
	}
	for _, d := range b.Dead {
		err := t.closeOutgoing(d.ID, `UPDATE outbox SET dead_at = coalesce(dead_at, ?2), dead_reason = coalesce(dead_reason, ?3) WHERE id = ?1`,
			d.ID, stamp(t.now()), d.Reason)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) insertOutgoing(o *kernel.Outgoing) error {
	var header any
	if o.Header != nil {
		raw, err := json.Marshal(o.Header, json.Deterministic(true), allowInvalidUTF8)
		if err != nil {
			return &Error{Kind: ErrInvalid, Op: "encoding a message's header", Err: err}
		}
		header = string(raw)
	}
	return t.put("a message to "+o.Subject, `INSERT INTO outbox (session_id, subject, header, payload, call_id) VALUES (?1, ?2, ?3, ?4, ?5)`,
		o.Session, o.Subject, header, whole(o.Payload), o.Call)
}

func (t *tx) closeOutgoing(id int64, query string, args ...any) error {
	n, err := t.c.exec(query, args...)
	if err != nil {
		return border(fmt.Sprintf("the message %d", id), err)
	}
	if n == 0 {
		return fmt.Errorf("%w: the message %d", kernel.ErrNotFound, id)
	}
	return nil
}
