package ledgersql

import "github.com/earshot-dev/earshot/internal/kernel/store"

// OpenQuestions implements [store.Tx]. The plus keeps a planner from walking over all questions that there ever were in the
// order of their numbers: few are open, and an index has those.
func (t *Tx) OpenQuestions(f store.QuestionFilter) ([]store.OpenQuestion, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	w := t.where()
	w.conditions = append(w.conditions, "questions.state = 'open'") // literally so: the partial index says it
	w.add("+number > CAST(%s AS bigint)", f.After)
	if len(f.Owners) > 0 {
		w.among("owner", f.Owners)
	}
	var rows []store.OpenQuestion
	query := `SELECT number, turn_id, session_id, owner FROM questions JOIN turns USING (turn_id) ` +
		w.page("+number", f.Limit)
	err := t.c.Each(query, w.args, func(scan func(...any) error) error {
		var q store.OpenQuestion
		err := scan(&q.Number, &q.Turn, &q.Session, &q.Owner)
		rows = append(rows, q)
		return err
	})
	return rows, t.read(err, "the open questions")
}
