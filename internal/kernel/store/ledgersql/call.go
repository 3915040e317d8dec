package ledgersql

import (
	"slices"

	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// Calls implements [store.Tx].
func (t *Tx) Calls(f store.CallFilter) ([]turn.Call, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	w := t.where()
	w.add("turn_id = %s", f.Turn)
	if f.Call != "" {
		w.add("call_id = %s", f.Call)
	}
	w.among("tool", f.Tools)
	if f.After != "" {
		w.add("call_id > %s", f.After)
	}
	var rows []turn.Call
	err := t.c.Each(`SELECT call_id, tool, target, state, class, risk, definition, coalesce(question, 0), digest, fence, doc FROM calls `+
		w.page("call_id", f.Limit), w.args, func(scan func(...any) error) error {
		var c turn.Call
		var doc string
		err := scan(&c.ID, &c.Tool, &c.Target, &c.State, &c.Class, &c.Risk, &c.Definition, &c.Question, &c.Digest, &c.Fence, &doc)
		if err == nil {
			err = decode(doc, &c) // the document of an erased call is empty
		}
		rows = append(rows, c)
		return err
	})
	if err == nil && slices.ContainsFunc(rows, func(c turn.Call) bool { return c.State.Open() }) {
		err = t.asTheyGo(f.Turn, rows)
	}
	return rows, t.read(err, "the calls of %s", f.Turn)
}

// asTheyGo replaces the calls that go on by what their turn says of them: the row of a call that runs is that of its dispatch.
// Where the turn cannot be read, the rows have to do.
func (t *Tx) asTheyGo(id string, rows []turn.Call) error {
	var raw string
	var d document
	switch err := t.c.QueryRow(`SELECT doc FROM turns WHERE turn_id = $1`, []any{id}, &raw); {
	case noRows(err):
		return nil
	case err != nil:
		return err
	}
	if err := decode(raw, &d); err != nil {
		return nil //nolint:nilerr // the rows have to do
	}
	for i := range rows {
		if c, live := d.State.Find(rows[i].ID); live && rows[i].State.Open() {
			rows[i] = c
		}
	}
	return nil
}

// OpenCalls implements [store.Tx].
func (t *Tx) OpenCalls(agent string, limit int) (n int, err error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	err = t.c.QueryRow(`SELECT count(*) FROM (SELECT 1 FROM turns t JOIN calls c ON c.turn_id = t.turn_id
		WHERE t.agent = $1 AND NOT t.ended AND c.state NOT IN ($2, $3, $4)`+limited("$5")+`) AS open`,
		[]any{agent, string(turn.Finished), string(turn.Resolved), string(turn.Closed), limit}, &n)
	return n, t.read(err, "the open calls of %s", agent)
}
