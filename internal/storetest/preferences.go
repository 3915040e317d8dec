package storetest

import (
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func preferenceCases() []exercise {
	return []exercise{
		{"are kept, replaced and forgotten", preferencesAreSaved},
		{"turns that ask are found", turnsThatAsk},
	}
}

func preferencesAreSaved(l *ledger) {
	wish := func(person string) (w store.Preferences) {
		l.t.Helper()
		l.view(func(tx store.Tx) (err error) {
			w, err = tx.Preferences(person)
			return err
		})
		return w
	}
	none := func(person string) {
		l.t.Helper()
		same(l, "the wish of "+person, wish(person), store.Preferences{})
	}
	none("ann")
	ann, bob := store.Preferences{Person: "ann", Preferences: preferred(86_400, 20)}, store.Preferences{Person: "Bób", Preferences: preferred(0, 60)}
	l.save(store.Batch{Preferences: []store.Preferences{ann, bob}})
	same(l, "ann's wish", wish("ann"), ann)
	same(l, "Bób's wish", wish("Bób"), bob)
	none("bob")
	ann.Preferences = preferred(20, 20)
	l.save(store.Batch{Preferences: []store.Preferences{ann}})
	same(l, "another wish", wish("ann"), ann)
	ann.Preferences = preferred(0, 20)
	l.save(store.Batch{Preferences: []store.Preferences{ann}})
	same(l, "half a wish", wish("ann"), ann)
	ann.Preferences = preferred(0, 0)
	l.save(store.Batch{Preferences: []store.Preferences{ann}})
	none("ann")
	same(l, "the other's wish", wish("Bób"), bob)
	for one := range bob.Texts() {
		bob.Preferences = bob.Choose(one, "some "+one.Name)
	}
	l.save(store.Batch{Preferences: []store.Preferences{bob}})
	same(l, "words", wish("Bób"), bob)
	for _, bad := range []store.Preferences{{Preferences: preferred(5)}, {Person: "ann", Preferences: preferred(-1)}, {Person: "ann", Preferences: preferred(60, -1)}} {
		if err := l.try(store.Batch{Preferences: []store.Preferences{bad}}); err == nil {
			l.t.Errorf("the wish %+v was kept", bad)
		}
	}
}

// preferred are preferences with these values, in the order of their table; the others are not set.
func preferred(values ...int) api.Preferences {
	var p api.Preferences
	for one := range p.All() {
		if len(values) > 0 {
			p = p.Set(one, values[0])
			values = values[1:]
		}
	}
	return p
}

// allPreferred sets every preference to a value of its own, from n on.
func allPreferred(n int) api.Preferences {
	var p api.Preferences
	for one := range p.All() {
		p = p.Set(one, n)
		n++
	}
	for one := range p.Texts() {
		p = p.Choose(one, one.Name)
	}
	return p
}

// turnsThatAsk: only turns with a question that is open are found, and none of them is missed,
// page by page.
func turnsThatAsk(l *ledger) {
	for n := 1; n <= 6; n++ {
		r := asking(n)
		switch n {
		case 2:
			r.Questions[0].State = consent.Accepted
		case 5:
			r.Questions = nil
		}
		l.save(store.Batch{Turn: &r})
	}
	var got []string
	for after := ""; ; {
		var rows []store.TurnRow
		l.view(func(tx store.Tx) (err error) {
			rows, err = tx.Turns(store.TurnFilter{Asking: true, After: after, Limit: 2})
			return err
		})
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			got = append(got, r.Turn)
		}
		after = got[len(got)-1]
	}
	same(l, "turns that ask", got, []string{"turn_1", "turn_3", "turn_4", "turn_6"})
	same(l, "open questions", openQuestions(l, store.QuestionFilter{}), []int{1, 3, 4, 6})
	same(l, "a page of open questions", openQuestions(l, store.QuestionFilter{After: 1, Limit: 2}), []int{3, 4})
	owner := l.turn(store.TurnRef{Turn: "turn_1"}).State.Owner
	same(l, "open questions of people", len(openQuestions(l, store.QuestionFilter{Owners: []string{owner, "nobody"}})), 4)
	same(l, "open questions of nobody", len(openQuestions(l, store.QuestionFilter{Owners: []string{"nobody"}})), 0)
	answered := l.turn(store.TurnRef{Turn: "turn_3"})
	answered.Questions[0].State = consent.Rejected
	l.save(store.Batch{Turn: &answered})
	l.view(func(tx store.Tx) error {
		rows, err := tx.Turns(store.TurnFilter{Asking: true, Limit: 2})
		if err == nil && len(rows) == 2 {
			got = []string{rows[0].Turn, rows[1].Turn}
		}
		return err
	})
	same(l, "after an answer", got, []string{"turn_1", "turn_4"})
	same(l, "open questions after an answer", openQuestions(l, store.QuestionFilter{}), []int{1, 4, 6})
}

// openQuestions lists their numbers, and sees that each names its turn.
func openQuestions(l *ledger, f store.QuestionFilter) (numbers []int) {
	l.view(func(tx store.Tx) error {
		open, err := tx.OpenQuestions(f)
		numbers = nil
		for _, q := range open {
			rec, err := tx.Turn(store.TurnRef{Question: q.Number})
			if err != nil {
				return err
			}
			same(l, "where a question stands", q, store.OpenQuestion{
				Number: q.Number, Turn: rec.State.Turn, Session: rec.State.Session, Owner: rec.State.Owner,
			})
			numbers = append(numbers, q.Number)
		}
		return err
	})
	return numbers
}
