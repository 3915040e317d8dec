package ledgersql

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// preferences are the columns of people's preferences, and the statements that read and write them.
type preferences struct{ read, write string }

// preferenceSQL follow from the table of preferences. Those that are words are one column, a JSON object.
var preferenceSQL = sync.OnceValue(func() preferences {
	var columns, values, replaced []string
	for one := range (api.Preferences{}).All() {
		columns = append(columns, one.Name)
		values = append(values, fmt.Sprintf("$%d", len(columns)+1))
		replaced = append(replaced, one.Name+" = excluded."+one.Name)
	}
	columns = append(columns, "choices")
	values = append(values, fmt.Sprintf("$%d", len(columns)+1))
	replaced = append(replaced, "choices = excluded.choices")
	list := strings.Join(columns, ", ")
	return preferences{
		read: `SELECT ` + list + ` FROM people WHERE person = $1`,
		write: `INSERT INTO people (person, ` + list + `) VALUES ($1, ` + strings.Join(values, ", ") + `)
			ON CONFLICT (person) DO UPDATE SET ` + strings.Join(replaced, ", "),
	}
})

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
			values = append(values, choicesText(w.Preferences))
			err = t.exec("what "+w.Person+" wishes", preferenceSQL().write, values...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choicesText writes the preferences that are words; "" where there are none.
func choicesText(p api.Preferences) string {
	set := map[string]string{}
	for one, text := range p.Texts() {
		if text != "" {
			set[one.Name] = text
		}
	}
	if len(set) == 0 {
		return ""
	}
	raw, _ := json.Marshal(set, json.Deterministic(true)) // texts can always be written
	return string(raw)
}

// choose reads them into p. What a newer program may have kept there is left alone.
func choose(p api.Preferences, text string) (api.Preferences, error) {
	if text == "" {
		return p, nil
	}
	set := map[string]string{}
	if err := json.Unmarshal([]byte(text), &set); err != nil {
		return p, fmt.Errorf("found %.64q, expected a JSON object of texts: %w", text, err)
	}
	for one := range p.Texts() {
		p = p.Choose(one, set[one.Name])
	}
	return p, nil
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
	into := make([]any, 0, len(found)+1)
	for i := range found {
		into = append(into, &found[i])
	}
	chosen := ""
	into = append(into, &chosen)
	err := t.c.QueryRow(preferenceSQL().read, []any{person}, into...)
	if noRows(err) {
		return store.Preferences{}, nil
	}
	i := 0
	for one := range w.All() {
		w.Preferences = w.Set(one, found[i])
		i++
	}
	if err == nil {
		w.Preferences, err = choose(w.Preferences, chosen)
	}
	return w, t.read(err, "what %s wishes", person)
}
