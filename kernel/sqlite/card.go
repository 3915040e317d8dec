package sqlite

import (
	"bytes"

	"github.com/earshot-dev/earshot/kernel"
	"github.com/earshot-dev/earshot/utp"
)

// Card implements [kernel.Tx].
func (t *tx) Card(id string) (utp.Card, error) {
	if err := t.usable(); err != nil {
		return utp.Card{}, err
	}
	c := utp.Card{ID: id}
	var created int64
	err := t.c.one(`SELECT project, type, author, tool_call_id, content, metadata, created FROM cards WHERE card_id = ?1`,
		[]any{id}, &c.Project, &c.Type, &c.AuthorID, &c.ToolCallID, value(&c.Content), value(&c.Metadata), &created)
	if err != nil {
		return utp.Card{}, t.read(err, "the card %s", id)
	}
	c.CreatedAt = instant(created)
	return c, nil
}

// saveCards inserts cards; they never change. The same card again is a success, another
// one under its id, or a second result of one call, a conflict.
func (t *tx) saveCards(b *kernel.Batch) error {
	for i := range b.Cards {
		c := &b.Cards[i]
		n, err := t.c.exec(`INSERT INTO cards (card_id, project, type, author, tool_call_id, content, metadata, created)
			VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (card_id) DO NOTHING`,
			c.ID, c.Project, c.Type, c.AuthorID, c.ToolCallID, text(c.Content), text(c.Metadata), stamp(c.CreatedAt))
		if err != nil {
			return border("the card "+c.ID, err)
		}
		if n == 1 {
			continue
		}
		is, err := t.Card(c.ID)
		if err != nil {
			return err
		}
		if !sameCard(&is, c) {
			return conflict("the card %s is there and differs", c.ID)
		}
	}
	return nil
}

func sameCard(a, b *utp.Card) bool {
	return a.Project == b.Project && a.Type == b.Type && a.AuthorID == b.AuthorID && a.ToolCallID == b.ToolCallID &&
		stamp(a.CreatedAt) == stamp(b.CreatedAt) && bytes.Equal(a.Content, b.Content) && bytes.Equal(a.Metadata, b.Metadata)
}
