package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// saveAgents enters, replaces and removes the definitions of agents, each compared and set by its digest.
func (t *Tx) saveAgents(b *store.Batch) error {
	for i := range b.Agents {
		c := &b.Agents[i]
		what := "the definition of the agent " + c.Name
		if c.Name == "" || c.Before == "" && c.After.Digest == "" || c.After.Digest != "" && c.After.Definition.Name != c.Name {
			return invalid("defining an agent", "no name, or nothing that changes", "the name of an agent, and its definition")
		}
		if c.After.Digest == "" {
			if err := t.must(what, `DELETE FROM agents WHERE name = $1 AND digest = $2`, c.Name, c.Before); err != nil {
				return err
			}
			continue
		}
		doc, err := encode(c.After.Definition)
		if err != nil {
			return err
		}
		if c.Before == "" {
			err = t.must(what, `INSERT INTO agents (name, digest, doc) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING`, c.Name, c.After.Digest, doc)
		} else {
			err = t.must(what, `UPDATE agents SET digest = $3, doc = $4 WHERE name = $1 AND digest = $2`, c.Name, c.Before, c.After.Digest, doc)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Agents implements [store.Tx].
func (t *Tx) Agents(f store.AgentFilter) ([]store.Agent, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	w := t.where()
	if f.Name != "" {
		w.add("name = %s", f.Name)
	}
	if f.After != "" {
		w.add("name > %s", f.After)
	}
	var rows []store.Agent
	err := t.c.Each(`SELECT digest, doc FROM agents `+w.page("name", f.Limit), w.args, func(scan func(...any) error) error {
		var a store.Agent
		var doc string
		if err := scan(&a.Digest, &doc); err != nil {
			return err
		}
		err := decode(doc, &a.Definition)
		rows = append(rows, a)
		return err
	})
	return rows, t.read(err, "the definitions of agents")
}
