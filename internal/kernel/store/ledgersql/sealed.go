package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// saveSealed saves sealed values, one for each call and reference.
func (t *Tx) saveSealed(b *store.Batch) error {
	for i := range b.Sealed {
		s := &b.Sealed[i]
		err := t.exec("the sealed value "+s.Ref+" of the call "+s.Call,
			`INSERT INTO sealed (call_id, ref, box) VALUES ($1, $2, $3)`, s.Call, s.Ref, whole(s.Box))
		if err != nil {
			return err
		}
	}
	return nil
}

// Sealed implements [store.Tx].
func (t *Tx) Sealed(call string) ([]store.Sealed, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.Sealed
	err := t.c.Each(`SELECT call_id, ref, box FROM sealed WHERE call_id = $1 ORDER BY ref`, []any{call},
		func(scan func(...any) error) error {
			var s store.Sealed
			err := scan(&s.Call, &s.Ref, &s.Box)
			rows = append(rows, s)
			return err
		})
	return rows, t.read(err, "the sealed values of %s", call)
}
