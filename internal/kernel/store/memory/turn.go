package memory

import (
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/store/ledgersql"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// saveTurn inserts or compares and sets a turn, with what is found by way of it.
func (t *tx) saveTurn(b *store.Batch) error {
	if b.Turn == nil {
		return nil
	}
	s := &b.Turn.State
	old, is := t.rows.turns.get(s.Turn)
	switch {
	case b.Turn.Version == 0 && (s.Turn == "" || s.Session == ""):
		return invalid("saving a turn", "no turn or session id", "both")
	case is != (b.Turn.Version != 0), is && (old.rec.Version != b.Turn.Version || old.rec.State.Session != s.Session),
		!is && t.rows.sessions.has(s.Session):
		return conflict("the turn", s.Turn)
	}
	rec, err := ledgersql.StoredRecord(*b.Turn)
	if err != nil {
		return err
	}
	row := &turnRow{name: s.Name, topic: s.Topic, imported: !rec.Imported.IsZero()}
	if is {
		*row = *old
	}
	row.rec = rec
	row.rec.Version++
	if err := t.rename(s.Turn, old, row); err != nil {
		return err
	}
	if err := t.saveCalls(b.Turn, row); err != nil {
		return err
	}
	t.rows.turns.put(s.Turn, row)
	t.rows.sessions.put(s.Session, s.Turn)
	if row.isListedOpen() {
		t.rows.open.put(s.Turn, struct{}{})
	} else {
		t.rows.open.remove(s.Turn)
	}
	return t.saveQuestions(b.Turn)
}

// isListedOpen reports whether a list of open turns, or of those with something to do, could have the turn.
func (row *turnRow) isListedOpen() bool {
	r := &row.rec
	return r.State.Status != turn.Ended || r.State.Worker != "" || r.State.IsActive() || !r.Due.IsZero() || !r.Free.IsZero()
}

// rename moves the name of an open turn, which no other open turn of its project has.
func (t *tx) rename(id string, old, row *turnRow) error {
	before, after := old.openName(), row.openName()
	if before == after {
		return nil
	}
	t.rows.names.remove(before)
	if after == (nameKey{}) {
		return nil
	}
	if t.rows.names.has(after) {
		return conflict("the name", row.name)
	}
	t.rows.names.put(after, id)
	return nil
}

// nameKey is a project and a name.
type nameKey = [2]string

// openName returns the key of the turn's name, or the zero value if it has ended or has none.
func (row *turnRow) openName() nameKey {
	if row == nil || row.name == "" || row.rec.State.Status == turn.Ended {
		return nameKey{}
	}
	return nameKey{row.rec.State.Project, row.name}
}

// saveCalls saves each call under its id, where it is found also after the turn has dropped it.
func (t *tx) saveCalls(r *store.Record, row *turnRow) error {
	for i := range r.State.Calls {
		id := r.State.Calls[i].ID
		c := &callRow{call: row.rec.State.Calls[i], turn: r.State.Turn, session: r.State.Session}
		c.card = c.call.Card
		if old, taken := t.rows.calls.get(id); !taken {
			row.calls = append(slices.Clip(row.calls), id)
		} else if old.turn != r.State.Turn {
			return conflict("the call", id)
		}
		t.rows.calls.put(id, c)
	}
	return nil
}

// saveQuestions saves each question under its number and its tokens, the spent ones included.
func (t *tx) saveQuestions(r *store.Record) error {
	for i := range r.Questions {
		q := &r.Questions[i]
		if old, taken := t.rows.questions.get(q.Number); taken && old.turn != r.State.Turn {
			return conflict("the question", q.Number)
		}
		t.rows.questions.put(q.Number, question{turn: r.State.Turn, token: q.Token, state: q.State})
		for _, token := range append(slices.Clip(q.SpentTokens), q.Token) {
			if number, taken := t.rows.tokens.get(token); taken && number != q.Number {
				return conflict("a token of the question", q.Number)
			}
			t.rows.tokens.put(token, q.Number)
		}
	}
	return nil
}
