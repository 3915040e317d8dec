package store

import (
	"cmp"
	"errors"
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/consent"
)

// OpenQuestion says where an open question stands. All else about it is in its turn.
type OpenQuestion struct {
	Number               int
	Turn, Session, Owner string
}

// QuestionReader is a [Tx] that finds open questions without reading their turns.
type QuestionReader interface {
	// OpenQuestions lists open questions by their numbers.
	OpenQuestions(QuestionFilter) ([]OpenQuestion, error)
}

// OpenQuestions lists open questions by their numbers. Of a transaction that is no [QuestionReader], every turn that asks is read.
func OpenQuestions(tx Tx, f QuestionFilter) ([]OpenQuestion, error) {
	if r, is := tx.(QuestionReader); is {
		return r.OpenQuestions(f)
	}
	turns, err := tx.Turns(TurnFilter{Asking: true, Owners: f.Owners})
	if err != nil {
		return nil, err
	}
	var open []OpenQuestion
	for _, row := range turns {
		rec, err := tx.Turn(TurnRef{Turn: row.Turn})
		if errors.Is(err, ErrDamaged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, q := range rec.Questions {
			if q.State == consent.Open && q.Number > f.After {
				open = append(open, OpenQuestion{Number: q.Number, Turn: row.Turn, Session: row.Session, Owner: row.Owner})
			}
		}
	}
	slices.SortFunc(open, func(a, b OpenQuestion) int { return cmp.Compare(a.Number, b.Number) })
	if f.Limit > 0 && len(open) > f.Limit {
		open = open[:f.Limit]
	}
	return open, nil
}
