package utp

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// Box is an ordered list of cards (UTP, "Cards"): the context of a turn, or its output.
type Box struct {
	// ID is a UUID: the turn's database columns accept nothing else.
	ID      string
	Project string
	// Cards are in the order in which they were added, without duplicates.
	Cards     []string
	Parents   []string
	UpdatedAt time.Time // to the microsecond, UTC
}

// boxRow is a box as a JSON object with the names of its database columns.
type boxRow struct {
	ID        string   `json:"box_id"`
	Project   string   `json:"tenant_id"`
	Cards     []string `json:"card_ids"`
	Parents   []string `json:"parent_ids"`
	UpdatedAt string   `json:"updated_at"`
}

// Append returns the box with the cards that it does not contain yet: a model would read a duplicate twice. It does not
// change b.
func (b Box) Append(cards ...string) Box {
	b.Cards = slices.Clone(b.Cards)
	for _, card := range cards {
		if !slices.Contains(b.Cards, card) {
			b.Cards = append(b.Cards, card)
		}
	}
	return b
}

// EncodeBox writes a box as a JSON object with the names of its database columns. The error is a [*CardError].
func EncodeBox(b Box) ([]byte, error) {
	if err := b.validate(); err != nil {
		return nil, err
	}
	row := boxRow{
		ID: b.ID, Project: b.Project, Cards: b.Cards, Parents: b.Parents, UpdatedAt: cardInstant(b.UpdatedAt).Format(cardTime),
	}
	return marshal(row)
}

// DecodeBox reads what [EncodeBox] writes. A duplicate card, which third-party boxes may have, is read once. The error
// is a [*CardError].
func DecodeBox(raw []byte) (Box, error) {
	var row boxRow
	if err := json.Unmarshal(raw, &row); err != nil {
		return Box{}, contentError("the box", "malformed: "+clip(err.Error()), "a JSON object", err)
	}
	at, err := time.Parse(time.RFC3339Nano, row.UpdatedAt)
	if err != nil {
		return Box{}, contentError("updated_at", Shown(row.UpdatedAt), "a time with an offset", err)
	}
	b := Box{ID: row.ID, Project: row.Project, Parents: row.Parents, UpdatedAt: cardInstant(at)}.Append(row.Cards...)
	return b, b.validate()
}

func (b Box) validate() error {
	switch {
	case len(b.ID) != 36:
		return contentError("box_id", Shown(b.ID), "a UUID", nil)
	case !ValidToken(b.Project):
		return contentError("tenant_id", Shown(b.Project), alphabetRule, nil)
	case b.UpdatedAt.IsZero():
		return contentError("updated_at", "nothing", "the time of the last change", nil)
	}
	if _, err := ParseTraceID(b.ID); err != nil { // a UUID has the same format
		return contentError("box_id", Shown(b.ID), "a UUID", err)
	}
	for _, card := range append(slices.Clone(b.Cards), b.Parents...) {
		if !validID(card) {
			return contentError("card_ids or parent_ids", Shown(card), idRule, nil)
		}
	}
	return nil
}
