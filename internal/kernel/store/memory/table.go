package memory

import (
	"iter"
	"maps"
)

// table holds rows by their keys. A transaction leaves the committed rows alone, because views read them: its changes are
// separate until [table.commit].
type table[K comparable, V any] struct {
	rows    map[K]V
	changed map[K]change[V]
	// shared: the rows also belong to a copy of the ledger.
	shared bool
}

// change is the row that a transaction has written, or the removal of one.
type change[V any] struct {
	row     V
	removed bool
}

func (t *table[K, V]) get(k K) (V, bool) {
	if c, is := t.changed[k]; is {
		return c.row, !c.removed
	}
	row, is := t.rows[k]
	return row, is
}

// row returns the row of a key, or the zero value.
func (t *table[K, V]) row(k K) V {
	row, _ := t.get(k)
	return row
}

func (t *table[K, V]) has(k K) bool {
	_, is := t.get(k)
	return is
}

func (t *table[K, V]) put(k K, row V) { t.change(k, change[V]{row: row}) }

func (t *table[K, V]) remove(k K) {
	if t.has(k) {
		t.change(k, change[V]{removed: true})
	}
}

func (t *table[K, V]) change(k K, c change[V]) {
	if t.changed == nil {
		t.changed = map[K]change[V]{}
	}
	t.changed[k] = c
}

// all yields the rows in no order. The loop must not change the table.
func (t *table[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, row := range t.rows {
			if _, changed := t.changed[k]; !changed && !yield(k, row) {
				return
			}
		}
		for k, c := range t.changed {
			if !c.removed && !yield(k, c.row) {
				return
			}
		}
	}
}

// removeIf removes the rows that match.
func (t *table[K, V]) removeIf(matches func(K, V) bool) {
	var found []K
	for k, row := range t.all() {
		if matches(k, row) {
			found = append(found, k)
		}
	}
	for _, k := range found {
		t.remove(k)
	}
}

// commit applies the changes to the rows; inUse says that views are reading those.
func (t *table[K, V]) commit(inUse bool) {
	if len(t.changed) == 0 {
		return
	}
	if inUse || t.shared || t.rows == nil {
		rows := make(map[K]V, len(t.rows)+len(t.changed))
		maps.Copy(rows, t.rows)
		t.rows, t.shared = rows, false
	}
	for k, c := range t.changed {
		if c.removed {
			delete(t.rows, k)
		} else {
			t.rows[k] = c.row
		}
	}
	t.changed = nil
}

// anyTable is a table of any rows.
type anyTable interface {
	commit(inUse bool)
	share()
}

// share makes the next commit leave the rows alone.
func (t *table[K, V]) share() { t.shared = true }
