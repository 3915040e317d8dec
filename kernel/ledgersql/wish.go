package ledgersql

import (
	"github.com/earshot-dev/earshot/kernel"
)

// saveWishes enters what people wish, or takes it out.
func (t *Tx) saveWishes(b *kernel.Batch) error {
	for _, w := range b.Wishes {
		switch {
		case w.Person == "" || w.AnswerSeconds < 0 || w.UndoSeconds < 0:
			return invalid("keeping a wish", "no person, or a negative time", "a person, and 0 or more seconds")
		case w.AnswerSeconds == 0 && w.UndoSeconds == 0:
			if err := t.put("what "+w.Person+" wishes", `DELETE FROM people WHERE person = $1`, w.Person); err != nil {
				return err
			}
		default:
			err := t.put("what "+w.Person+" wishes", `INSERT INTO people (person, answer_seconds, undo_seconds) VALUES ($1, $2, $3)
				ON CONFLICT (person) DO UPDATE SET answer_seconds = excluded.answer_seconds, undo_seconds = excluded.undo_seconds`,
				w.Person, w.AnswerSeconds, w.UndoSeconds)
			if err != nil {
				return err
			}
		}
	}
	return nil
}
