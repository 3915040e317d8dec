package store

import "errors"

// Outside reports whether the agent of a turn is a program outside, so that no worker is at work in it. A turn that cannot
// be read is taken for one that has a worker.
func Outside(tx Tx, id string) (bool, error) {
	rec, err := tx.Turn(TurnRef{Turn: id})
	if errors.Is(err, ErrDamaged) {
		return false, nil
	}
	return rec.State.Outside, err
}
