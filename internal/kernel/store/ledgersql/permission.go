package ledgersql

import (
	"fmt"

	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// savePermissions inserts standing permissions, or compares and sets them by their version.
func (t *Tx) savePermissions(b *store.Batch) error {
	for _, p := range b.Permissions {
		if p.Number <= 0 || p.Origin == "" {
			return invalid("saving a standing permission", "no number or session", "both")
		}
		doc, err := encode(p)
		if err != nil {
			return err
		}
		ended := 0
		if p.Ended != nil {
			ended = 1
		}
		what := fmt.Sprintf("the standing permission %d", p.Number)
		if p.Version == 0 {
			err = t.must(what, `INSERT INTO permissions (number, session_id, owner, agent, tool, ended, version, doc) VALUES ($1, $2, $3, $4, $5, $6, 1, $7)
				ON CONFLICT (number) DO NOTHING`, p.Number, p.Origin, p.Owner, p.Agent, p.Tool, ended, doc)
		} else {
			err = t.must(what, `UPDATE permissions SET ended = $3, doc = $4, version = version + 1 WHERE number = $1 AND version = $2`, p.Number, p.Version, ended, doc)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Permissions implements [store.Tx].
func (t *Tx) Permissions(f store.PermissionFilter) ([]standing.Permission, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	w := t.where()
	if f.Live {
		w.conditions = append(w.conditions, "ended = 0") // literally so: the partial index says it
	}
	if f.After > 0 {
		w.add("number > %s", f.After)
	}
	if f.Number > 0 {
		w.add("number = %s", f.Number)
	}
	for _, one := range []struct{ column, name string }{{"session_id", f.Origin}, {"tool", f.Tool}, {"agent", f.Agent}} {
		if one.name != "" {
			w.add(one.column+" = %s", one.name)
		}
	}
	w.among("owner", f.Owners)
	var rows []standing.Permission
	err := t.c.Each(`SELECT version, doc FROM permissions `+w.page("number", f.Limit), w.args, func(scan func(...any) error) error {
		var p standing.Permission
		var version int64
		var doc string
		if err := scan(&version, &doc); err != nil {
			return err
		}
		err := decode(doc, &p)
		p.Version = version
		rows = append(rows, p)
		return err
	})
	return rows, t.read(err, "the standing permissions")
}
