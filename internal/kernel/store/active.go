package store

import "errors"

// CountsAsActive reports whether an open turn takes one of its agent's places. A turn that cannot be read is taken for one that
// does.
func CountsAsActive(tx Tx, id string) (bool, error) {
	rec, err := tx.Turn(TurnRef{Turn: id})
	if errors.Is(err, ErrDamaged) {
		return true, nil
	}
	return rec.State.CountsAsActive(), err
}
