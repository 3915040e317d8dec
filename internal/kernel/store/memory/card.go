package memory

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/utp"
)

// Cards implements [store.Tx].
func (t *tx) Cards(f store.CardFilter) ([]utp.Card, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var found []*cardRow
	see := func(id string, row *cardRow) {
		if id > f.After && (f.Turn == "" || row.turn == f.Turn) {
			found = append(found, row)
		}
	}
	if f.IDs == nil {
		for id, row := range t.rows.cards.all() {
			see(id, row)
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(f.IDs))) {
		if row, is := t.rows.cards.get(id); is {
			see(id, row)
		}
	}
	slices.SortFunc(found, func(a, b *cardRow) int { return cmp.Compare(a.card.ID, b.card.ID) })
	var rows []utp.Card
	for _, row := range firstOf(found, f.Limit) {
		rows = append(rows, copyOf(row.card))
	}
	return rows, nil
}

// saveCards inserts cards; they never change. Each belongs to the turn that its lineage names, else to the turn of its call.
func (t *tx) saveCards(b *store.Batch) error {
	for i := range b.Cards {
		c := copyOf(b.Cards[i])
		c.CreatedAt = micro(c.CreatedAt)
		if old, is := t.rows.cards.get(c.ID); is {
			if !sameCard(&old.card, &c) {
				return conflict("the card", c.ID)
			}
			continue
		}
		if c.Type == utp.CardToolResult && c.ToolCallID != "" { // a call has one result
			key := [2]string{c.Project, c.ToolCallID}
			if t.rows.ends.has(key) {
				return conflict("the result of", c.ToolCallID)
			}
			t.rows.ends.put(key, c.ID)
		}
		row := &cardRow{card: c, turn: c.TurnID()}
		if call := t.rows.calls.row(c.ToolCallID); row.turn == "" && call != nil {
			row.turn = call.turn
		}
		t.rows.cards.put(c.ID, row)
		t.refer(c.Content, 1)
	}
	return nil
}

func sameCard(a, b *utp.Card) bool {
	return a.Project == b.Project && a.Type == b.Type && a.AuthorID == b.AuthorID && a.ToolCallID == b.ToolCallID &&
		a.CreatedAt.Equal(b.CreatedAt) && bytes.Equal(a.Content, b.Content) && bytes.Equal(a.Metadata, b.Metadata)
}

// removeCard removes a card and what refers to it.
func (t *tx) removeCard(c *utp.Card) {
	if key := [2]string{c.Project, c.ToolCallID}; t.rows.ends.row(key) == c.ID {
		t.rows.ends.remove(key)
	}
	t.rows.cards.remove(c.ID)
	t.refer(c.Content, -1)
}

// refer counts how many cards refer to the blobs of a content.
func (t *tx) refer(content []byte, add int) {
	for _, sha := range slices.Compact(slices.Sorted(slices.Values(store.BlobsIn(content)))) {
		if n := t.rows.blobRefs.row(sha) + add; n > 0 {
			t.rows.blobRefs.put(sha, n)
		} else {
			t.rows.blobRefs.remove(sha)
		}
	}
}
