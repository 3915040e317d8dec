package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// saveInForce saves what is in force, and deletes what no longer is.
func (t *Tx) saveInForce(b *store.Batch) error {
	for i := range b.InForce {
		f := &b.InForce[i]
		what := "what is in force: " + f.Kind + " " + f.Subject
		if f.Digest == "" {
			if err := t.exec(what, `DELETE FROM in_force WHERE kind = $1 AND subject = $2`, f.Kind, f.Subject); err != nil {
				return err
			}
			continue
		}
		err := t.exec(what, `INSERT INTO in_force (kind, subject, digest, detail, person) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (kind, subject) DO UPDATE SET digest = excluded.digest, detail = excluded.detail, person = excluded.person`,
			f.Kind, f.Subject, f.Digest, f.Detail, f.By)
		if err != nil {
			return err
		}
	}
	return nil
}

// InForce implements [store.Tx].
func (t *Tx) InForce(kind string) ([]store.InForce, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.InForce
	err := t.c.Each(`SELECT kind, subject, digest, detail, person FROM in_force WHERE kind = $1 ORDER BY subject`, []any{kind}, func(scan func(...any) error) error {
		var f store.InForce
		err := scan(&f.Kind, &f.Subject, &f.Digest, &f.Detail, &f.By)
		rows = append(rows, f)
		return err
	})
	return rows, t.read(err, "what is in force")
}
