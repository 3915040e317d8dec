package store

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// ReadBlob reads a complete blob.
func ReadBlob(tx CardReader, name string) ([]byte, error) {
	var all []byte
	for {
		piece, size, err := tx.Blob(name, int64(len(all)), api.ChunkLimit)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make([]byte, 0, size)
		}
		all = append(all, piece...)
		if int64(len(all)) >= size {
			return all, nil
		}
		if len(piece) == 0 {
			return nil, fmt.Errorf("%w: the blob %s ends after %d of %d bytes", ErrDamaged, name, len(all), size)
		}
	}
}

// CardLate is the type of a result that arrived after its call was resolved: it is saved, and the call's one
// tool.result does not change.
const CardLate = "tool.late_result"

// Retyped returns a card with the same content and another type.
func Retyped(card utp.Card, name string) (utp.Card, error) {
	var err error
	card.Type = name
	if card.Metadata, err = utp.SetMember(card.Metadata, "type", jsontext.Value(`"`+name+`"`)); err != nil {
		return card, Unexpected("card "+card.ID, err)
	}
	return card, nil
}

// ReadCard reads one card.
func ReadCard(tx CardReader, id string) (utp.Card, error) {
	return OneRow(tx.Cards(CardFilter{IDs: []string{id}}))
}

// ReadTool finds a tool by its name.
func ReadTool(tx ToolReader, name string) (Tool, error) {
	return OneRow(tx.Tools(ToolFilter{Names: []string{name}}))
}

// OneRow returns the only row of a list, or [ErrNotFound] if the list is empty.
func OneRow[T any](rows []T, err error) (T, error) {
	var none T
	if err != nil {
		return none, err
	}
	if len(rows) == 0 {
		return none, ErrNotFound
	}
	return rows[0], nil
}

// ReadCall finds a call, also if it is no longer live in its turn.
func ReadCall(tx Tx, id string) (turn.Call, error) {
	rec, err := tx.Turn(TurnRef{Call: id})
	if err != nil {
		return turn.Call{}, err
	}
	return OneRow(tx.Calls(CallFilter{Turn: rec.State.Turn, Call: id}))
}
