package admin

import (
	"errors"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/delegation"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// addParts says in a row of what its turn is a part, and which turns are parts of it. They belong to the same person.
func addParts(tx store.Tx, st turn.State, row *api.SessionRow) error {
	t := tree{tx: tx, left: api.MaxParts}
	if st.Parent != "" {
		above, found, err := t.part(st.Parent)
		if err != nil {
			return err
		}
		if found {
			row.PartOf = &above
		}
	}
	parts, err := t.below(st.Turn)
	row.Parts, row.MoreParts = parts, t.more
	return err
}

// tree reads the turns below one, as many as are left.
type tree struct {
	tx   store.Tx
	left int
	more bool
}

// below returns the turns that the calls of one have begun, each with those below it. Only a spawn is not among them: no
// call waits for it, or knows it.
func (t *tree) below(id string) ([]api.SessionPart, error) {
	calls, err := t.tx.Calls(store.CallFilter{Turn: id, Tools: delegation.Names()})
	if err != nil {
		return nil, err
	}
	var parts []api.SessionPart
	for _, c := range calls {
		if c.Batch == nil { // it was refused, or erased
			continue
		}
		for _, child := range c.Batch.Children {
			if child.Turn == "" { // it could not begin
				continue
			}
			if t.left == 0 {
				t.more = true
				return parts, nil
			}
			one, found, err := t.part(child.Turn)
			if err != nil {
				return nil, err
			}
			if !found {
				continue
			}
			t.left--
			if one.Parts, err = t.below(child.Turn); err != nil {
				return nil, err
			}
			parts = append(parts, one)
		}
	}
	return parts, nil
}

// part reads one turn. One that is gone or cannot be read is left out.
func (t *tree) part(id string) (one api.SessionPart, found bool, err error) {
	rec, err := t.tx.Turn(store.TurnRef{Turn: id})
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) {
		return one, false, nil
	}
	if err != nil {
		return one, false, err
	}
	st := rec.State
	one = api.SessionPart{
		Session: st.Session, Turn: st.Turn, Agent: st.Agent, Name: st.Name, Request: store.Clip(rec.Request, shortLimit), Status: string(st.Status),
	}
	if st.End != nil {
		one.Result = st.End.Status
	}
	return one, true, nil
}
