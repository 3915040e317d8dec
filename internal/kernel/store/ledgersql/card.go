package ledgersql

import (
	"bytes"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Cards implements [store.Tx].
func (t *Tx) Cards(f store.CardFilter) ([]utp.Card, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	id := single(f)
	if c, known := t.cards[id]; known {
		return []utp.Card{c}, nil
	}
	w := t.where()
	w.among("card_id", f.IDs)
	if f.Turn != "" {
		w.add("turn_id = %s", f.Turn)
	}
	if f.After != "" {
		w.add("card_id > %s", f.After)
	}
	var rows []utp.Card
	err := t.c.Each(`SELECT card_id, project, type, author, tool_call_id, content, metadata, created FROM cards `+
		w.page("card_id", f.Limit), w.args, func(scan func(...any) error) error {
		var c utp.Card
		var created int64
		err := scan(&c.ID, &c.Project, &c.Type, &c.AuthorID, &c.ToolCallID, value(&c.Content), value(&c.Metadata), &created)
		c.CreatedAt = instant(created)
		rows = append(rows, c)
		return err
	})
	if err == nil && id != "" && len(rows) == 1 {
		t.cards[id] = rows[0]
	}
	return rows, t.read(err, "cards")
}

// single returns the id if a list is for one card, else "": only such a list is cached.
func single(f store.CardFilter) string {
	if len(f.IDs) == 1 && f.Turn == "" && f.After == "" {
		return f.IDs[0]
	}
	return ""
}

// saveCards inserts cards; they never change. Each belongs to the turn that its lineage names, else to the turn of its
// call: a card of a third-party worker has no call here. The same card again is a success. Another card under its id,
// or a second result of one call, is a conflict.
func (t *Tx) saveCards(b *store.Batch) error {
	for i := range b.Cards {
		c := &b.Cards[i]
		n, err := t.insertCard(c)
		if err != nil {
			return t.c.Border("the card "+c.ID, err)
		}
		if n == 1 {
			if err := t.refer(c.ID, c.Content); err != nil {
				return err
			}
			continue
		}
		is, err := store.OneRow(t.Cards(store.CardFilter{IDs: []string{c.ID}}))
		if err != nil {
			return err
		}
		if !sameCard(&is, c) {
			return conflict("the card %s is there and differs", c.ID)
		}
	}
	return nil
}

// insertCard adds a card, unless its id exists.
func (t *Tx) insertCard(c *utp.Card) (int64, error) {
	row := []any{c.ID, c.Project, c.Type, c.AuthorID, c.ToolCallID, text(c.Content), text(c.Metadata), stamp(c.CreatedAt)}
	if turnID := c.TurnID(); turnID != "" {
		return t.c.Add(cards, append(row, turnID)...)
	}
	return t.c.Write(`INSERT INTO cards (card_id, project, type, author, tool_call_id, content, metadata, created, turn_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, coalesce((SELECT turn_id FROM calls WHERE call_id = $5), '')) ON CONFLICT (card_id) DO NOTHING`, 1, row...)
}

func sameCard(a, b *utp.Card) bool {
	return a.Project == b.Project && a.Type == b.Type && a.AuthorID == b.AuthorID && a.ToolCallID == b.ToolCallID &&
		stamp(a.CreatedAt) == stamp(b.CreatedAt) && bytes.Equal(a.Content, b.Content) && bytes.Equal(a.Metadata, b.Metadata)
}
