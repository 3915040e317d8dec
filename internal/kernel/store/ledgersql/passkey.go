package ledgersql

import (
	"database/sql"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// savePasskeys adds, moves on and removes passkeys.
func (t *Tx) savePasskeys(b *store.Batch) error {
	for _, p := range b.Passkeys {
		if p.ID == "" || p.Person == "" || p.Public == "" {
			return invalid("adding a passkey", "no id, person or key", "all three")
		}
		err := t.must("the passkey "+p.ID, `INSERT INTO passkeys (passkey_id, person, name, site, public_key, counter, added, used)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (passkey_id) DO NOTHING`,
			p.ID, p.Person, p.Name, p.Site, p.Public, int64(p.Counter), stamp(p.Added), optionalStamp(p.Used))
		if err != nil {
			return err
		}
	}
	for _, u := range b.PasskeysUsed { // two signatures at a time do not both count with one number
		err := t.must("the passkey "+u.ID, `UPDATE passkeys SET counter = $2, used = $3 WHERE passkey_id = $1 AND (counter < $2 OR counter = 0 AND $2 = 0)`,
			u.ID, int64(u.Counter), stamp(u.At))
		if err != nil {
			return err
		}
	}
	for _, id := range b.PasskeysRemoved {
		if err := t.must("the passkey "+id, `DELETE FROM passkeys WHERE passkey_id = $1`, id); err != nil {
			return err
		}
	}
	return nil
}

// Passkeys implements [store.Tx].
func (t *Tx) Passkeys() ([]store.Passkey, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	var rows []store.Passkey
	err := t.c.Each(`SELECT passkey_id, person, name, site, public_key, counter, added, used FROM passkeys ORDER BY added, passkey_id`, nil,
		func(scan func(...any) error) error {
			var p store.Passkey
			var added int64
			var used sql.NullInt64
			err := scan(&p.ID, &p.Person, &p.Name, &p.Site, &p.Public, &p.Counter, &added, &used)
			if p.Added = instant(added); used.Valid {
				p.Used = instant(used.Int64)
			}
			rows = append(rows, p)
			return err
		})
	return rows, t.read(err, "passkeys")
}
