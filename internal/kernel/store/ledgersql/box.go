package ledgersql

import (
	"fmt"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// saveBoxes appends to boxes. Each box numbers its entries: of two transactions that append to one at once, one is a
// conflict, so nobody who reads a box misses an entry with a lower number.
func (t *Tx) saveBoxes(b *store.Batch) error {
	for _, e := range b.Boxes {
		if e.Owner == "" || e.Box == "" || e.Turn == "" || (e.Use == api.BoxWrite) != (e.Card != "") {
			return invalid("an entry of a box", fmt.Sprintf("%+v", e), "an owner, a box and a turn, and the card of a write")
		}
		err := t.must("the box "+e.Box, `INSERT INTO box_entries (owner, box, n, use, agent, turn_id, call_id, card_id, through, at)
			SELECT $1, $2, CASE WHEN CAST($10 AS BIGINT) > 0 THEN $10 ELSE coalesce((SELECT max(n) FROM box_entries WHERE owner = $1 AND box = $2), 0) + 1 END,
				$3, $4, $5, $6, $7, $8, $9
			WHERE true ON CONFLICT (owner, box, n) DO NOTHING`,
			e.Owner, e.Box, string(e.Use), e.Agent, e.Turn, e.Call, e.Card, e.Through, stamp(e.At), e.N)
		if err != nil {
			return err
		}
	}
	return nil
}

// BoxEntries implements [store.Tx].
func (t *Tx) BoxEntries(f store.BoxFilter) ([]api.BoxEntry, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	w := t.where()
	for _, c := range [][2]string{{"owner = %s", f.Owner}, {"box = %s", f.Box}, {"card_id = %s", f.Card}, {"turn_id = %s", f.Turn}, {"use = %s", f.Use}} {
		if c[1] != "" {
			w.add(c[0], c[1])
		}
	}
	if f.After > 0 {
		w.add("n > %s", f.After)
	}
	var rows []api.BoxEntry
	err := t.c.Each(`SELECT owner, box, n, use, agent, turn_id, call_id, card_id, through, at FROM box_entries `+w.page("owner, box, n", f.Limit), w.args,
		func(scan func(...any) error) error {
			var e api.BoxEntry
			var at int64
			err := scan(&e.Owner, &e.Box, &e.N, &e.Use, &e.Agent, &e.Turn, &e.Call, &e.Card, &e.Through, &at)
			e.At = instant(at)
			rows = append(rows, e)
			return err
		})
	return rows, t.read(err, "the entries of boxes")
}

// Boxes implements [store.Tx].
func (t *Tx) Boxes(p store.BoxPage) ([]api.BoxDetail, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	w := t.where()
	if p.Owner != "" {
		w.args = append(w.args, p.Owner, p.Box)
		w.conditions = append(w.conditions, "(owner, box) > ($1, $2)")
	}
	page := w.page("owner, box", p.Limit)
	var rows []api.BoxDetail
	err := t.c.Each(`SELECT owner, box, cards, used FROM (
		SELECT owner, box, count(CASE WHEN use = 'write' THEN 1 END) AS cards, max(at) AS used FROM box_entries GROUP BY owner, box
	) AS boxes `+page, w.args, func(scan func(...any) error) error {
		var d api.BoxDetail
		var used int64
		err := scan(&d.Owner, &d.Box, &d.Cards, &used)
		d.Used = instant(used)
		rows = append(rows, d)
		return err
	})
	return rows, t.read(err, "boxes")
}
