package memory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// saveBoxes appends to boxes. Each box numbers its entries.
func (t *tx) saveBoxes(b *store.Batch) error {
	for _, e := range b.Boxes {
		if e.Owner == "" || e.Box == "" || e.Turn == "" || (e.Use == api.BoxWrite) != (e.Card != "") {
			return invalid("an entry of a box", fmt.Sprintf("%+v", e), "an owner, a box and a turn, and the card of a write")
		}
		key := [2]string{e.Owner, e.Box}
		entries := t.rows.boxes.row(key)
		if e.N <= 0 {
			e.N = 1
			if n := len(entries); n > 0 {
				e.N = entries[n-1].N + 1
			}
		}
		at, taken := slices.BinarySearchFunc(entries, e.N, func(e api.BoxEntry, n int64) int { return cmp.Compare(e.N, n) })
		if taken {
			return conflict("an entry of the box with the number", e.N)
		}
		e.At = micro(e.At)
		t.rows.boxes.put(key, slices.Insert(slices.Clone(entries), at, e))
	}
	return nil
}

// BoxEntries implements [store.Tx].
func (t *tx) BoxEntries(f store.BoxFilter) ([]api.BoxEntry, error) {
	var rows []api.BoxEntry
	fits := func(want, is string) bool { return want == "" || want == is }
	for _, key := range t.boxKeys() {
		for _, e := range t.rows.boxes.row(key) {
			if fits(f.Owner, e.Owner) && fits(f.Box, e.Box) && fits(f.Card, e.Card) && fits(f.Turn, e.Turn) && fits(f.Use, string(e.Use)) && e.N > f.After {
				rows = append(rows, e)
			}
		}
	}
	return firstOf(rows, f.Limit), t.usable()
}

// Boxes implements [store.Tx].
func (t *tx) Boxes(p store.BoxPage) ([]api.BoxDetail, error) {
	var rows []api.BoxDetail
	for _, key := range t.boxKeys() {
		if p.Owner != "" && slices.Compare(key[:], []string{p.Owner, p.Box}) <= 0 {
			continue
		}
		d := api.BoxDetail{Owner: key[0], Box: key[1]}
		for i, e := range t.rows.boxes.row(key) {
			if e.Use == api.BoxWrite {
				d.Cards++
			}
			if i == 0 || e.At.After(d.Used) {
				d.Used = e.At
			}
		}
		rows = append(rows, d)
	}
	return firstOf(rows, p.Limit), t.usable()
}

// boxKeys lists owners and ids in their order.
func (t *tx) boxKeys() [][2]string {
	var keys [][2]string
	for key := range t.rows.boxes.all() {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return keys
}

// unbox removes the entries of a turn.
func (t *tx) unbox(turn string) {
	for _, key := range t.boxKeys() {
		of := func(e api.BoxEntry) bool { return e.Turn == turn }
		if entries := t.rows.boxes.row(key); !slices.ContainsFunc(entries, of) {
			continue
		} else if left := slices.DeleteFunc(slices.Clone(entries), of); len(left) > 0 {
			t.rows.boxes.put(key, left)
		} else {
			t.rows.boxes.remove(key)
		}
	}
}
