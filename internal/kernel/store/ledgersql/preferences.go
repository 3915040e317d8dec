package ledgersql

import (
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// preferences are the columns of people's preferences, and the statements that read and write them.
type preferences struct{ read, write string }

// preferenceSQL follow from the table of preferences.
var preferenceSQL = func() preferences {
	var columns, values, replaced []string
	for one := range (api.Preferences{}).All() {
		columns = append(columns, one.Name)
		values = append(values, fmt.Sprintf("$%d", len(columns)+1))
		replaced = append(replaced, one.Name+" = excluded."+one.Name)
	}
	list := strings.Join(columns, ", ")
	return preferences{
		read: `SELECT ` + list + ` FROM people WHERE person = $1`,
		write: `INSERT INTO people (person, ` + list + `) VALUES ($1, ` + strings.Join(values, ", ") + `)
			ON CONFLICT (person) DO UPDATE SET ` + strings.Join(replaced, ", "),
	}
}()

// savePreferences saves or deletes people's preferences.
func (t *Tx) savePreferences(b *store.Batch) error {
	for _, w := range b.Preferences {
		empty, err := w.Empty()
		switch {
		case err != nil:
			return invalid("keeping a wish", err.Error(), "a person, and 0 or more seconds")
		case empty:
			err = t.exec("what "+w.Person+" wishes", `DELETE FROM people WHERE person = $1`, w.Person)
		default:
			values := []any{w.Person}
			for _, n := range w.All() {
				values = append(values, n)
			}
			err = t.exec("what "+w.Person+" wishes", preferenceSQL.write, values...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Preferences implements [store.Tx].
func (t *Tx) Preferences(person string) (store.Preferences, error) {
	if err := t.usable(); err != nil {
		return store.Preferences{}, err
	}
	w := store.Preferences{Person: person}
	var found []int
	for range w.All() {
		found = append(found, 0)
	}
	into := make([]any, len(found))
	for i := range found {
		into[i] = &found[i]
	}
	err := t.c.QueryRow(preferenceSQL.read, []any{person}, into...)
	if noRows(err) {
		return store.Preferences{}, nil
	}
	i := 0
	for one := range w.All() {
		w.Preferences = w.Set(one, found[i])
		i++
	}
	return w, t.read(err, "what %s wishes", person)
}
