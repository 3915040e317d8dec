package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// saveKeys saves the keys of requests. An existing key is replaced only once it has expired: until then
// the request is a repeat.
func (t *Tx) saveKeys(b *store.Batch) error {
	for _, k := range b.Keys {
		if k.Principal == "" || k.Key == "" || k.Digest == "" {
			return invalid("keeping the key of a request", "no principal, key or digest", "all three")
		}
		err := t.must("a key of "+k.Principal, `INSERT INTO request_keys (principal, key, digest, turn_id, session_id, call_id, at, lasting)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (principal, key) DO UPDATE SET digest = excluded.digest, turn_id = excluded.turn_id, session_id = excluded.session_id,
				call_id = excluded.call_id, at = excluded.at, lasting = excluded.lasting
			WHERE request_keys.at <= $9 AND NOT request_keys.lasting`,
			k.Principal, k.Key, k.Digest, k.Turn, k.Session, k.Call, stamp(k.At), k.Lasting, stamp(k.At.Add(-store.KeyLife)))
		if err != nil {
			return err
		}
	}
	return nil
}

// RequestKey implements [store.Tx].
func (t *Tx) RequestKey(principal, key string) (store.RequestKey, error) {
	if err := t.usable(); err != nil {
		return store.RequestKey{}, err
	}
	k := store.RequestKey{Principal: principal, Key: key}
	var at int64
	err := t.c.QueryRow(`SELECT digest, turn_id, session_id, call_id, at, lasting FROM request_keys WHERE principal = $1 AND key = $2`, []any{principal, key},
		&k.Digest, &k.Turn, &k.Session, &k.Call, &at, &k.Lasting)
	if noRows(err) {
		return store.RequestKey{}, nil
	}
	k.At = instant(at)
	return k, t.read(err, "a key of %s", principal)
}

// dropKeys deletes expired keys.
func (t *Tx) dropKeys(p *purging) error {
	if p.Keys.IsZero() {
		return nil
	}
	n, err := t.c.Exec(`DELETE FROM request_keys WHERE (principal, key) IN
		(SELECT principal, key FROM request_keys WHERE at <= $1 AND NOT lasting ORDER BY at`+limited("$2")+`)`, stamp(p.Keys), p.Limit)
	p.More = p.More || n == int64(p.Limit)
	return t.c.Border("old keys of requests", err)
}
