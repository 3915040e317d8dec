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
