package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

func (t *tx) saveBoxes(b store.Batch) error {
	for _, e := range b.Boxes {
		if e.Owner == "" || e.Box == "" || e.Turn == "" || (e.Use == api.BoxWrite) != (e.Card != "") {
			return fmt.Errorf("%w: an entry of a box without its owner, box, turn or card", errInvalid)
		}
		key := [2]string{e.Owner, e.Box}
		entries := t.rows.boxes[key]
		if e.N <= 0 {
			e.N = 1
			if n := len(entries); n > 0 {
				e.N = entries[n-1].N + 1
			}
		}
		at, taken := slices.BinarySearchFunc(entries, e.N, func(e api.BoxEntry, n int64) int { return cmp.Compare(e.N, n) })
		if taken {
			return fmt.Errorf("%w: another entry of the box has the number %d", store.ErrConflict, e.N)
		}
		putRow(t, t.rows.boxes, key, slices.Insert(slices.Clone(entries), at, e))
	}
	return nil
}

// BoxEntries implements [store.Tx].
func (t *tx) BoxEntries(f store.BoxFilter) ([]api.BoxEntry, error) {
	var rows []api.BoxEntry
	fits := func(want, is string) bool { return want == "" || want == is }
	for _, key := range t.boxKeys() {
		for _, e := range t.rows.boxes[key] {
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
		if slices.Compare(key[:], []string{p.Owner, p.Box}) <= 0 {
			continue
		}
		d := api.BoxDetail{Owner: key[0], Box: key[1]}
		for _, e := range t.rows.boxes[key] {
			if e.Use == api.BoxWrite {
				d.Cards++
			}
			if e.At.After(d.Used) {
				d.Used = e.At
			}
		}
		rows = append(rows, d)
	}
	return firstOf(rows, p.Limit), t.usable()
}

// boxKeys lists owners and ids in their order.
func (t *tx) boxKeys() [][2]string {
	return slices.SortedFunc(maps.Keys(t.rows.boxes), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
}

// unbox takes the entries of a turn out.
func (t *tx) unbox(turn string) {
	for _, key := range t.boxKeys() {
		of := func(e api.BoxEntry) bool { return e.Turn == turn }
		if !slices.ContainsFunc(t.rows.boxes[key], of) {
			continue
		}
		if left := slices.DeleteFunc(slices.Clone(t.rows.boxes[key]), of); len(left) > 0 {
			putRow(t, t.rows.boxes, key, left)
		} else {
			removeRow(t, t.rows.boxes, key)
		}
	}
}
