package ledgersql

import (
	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// Tools implements [store.Tx].
func (t *Tx) Tools(f store.ToolFilter) ([]store.Tool, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if len(f.Names) == 1 && f.After == "" && f.Service == "" {
		if known := t.tools[f.Names[0]]; known.Definition.Tool != "" { // decided on once, whatever others make of it since
			return []store.Tool{known}, nil
		}
	}
	w := t.where()
	w.among("tool_name", f.Names)
	if f.After != "" {
		w.add("tool_name > %s", f.After)
	}
	if f.Service != "" { // both dialects can tell so, letter by letter: what is taken out was there
		w.add("replace(target_subject, %s, '') <> target_subject", store.CommandsTo(f.Service))
	}
	for _, name := range f.Names {
		t.tools[name] = store.Tool{} // not there, unless it is found now
	}
	var rows []store.Tool
	err := t.c.Each(`SELECT tool_name, description, parameters, target_subject, after_execution, options, claimed_class, claimed_risk,
		digest, reviewed, class, risk, seen FROM tools `+w.page("tool_name", f.Limit), w.args, func(scan func(...any) error) error {
		var tool store.Tool
		d := &tool.Definition
		err := scan(&d.Tool, &d.Description, value(&d.Parameters), &d.Target, &d.AfterExecution, value(&d.Options), &d.Class, &d.Risk,
			&tool.Digest, &tool.Reviewed, &tool.Class, &tool.Risk, value(&tool.LastReviewed))
		if err == nil {
			t.tools[d.Tool] = tool
			rows = append(rows, tool)
		}
		return err
	})
	return rows, t.read(err, "tools")
}

// saveTools enters tools or replaces them, each under its name. One that was read in this
// transaction is compared and set: what was decided on what it was, is not written over
// what somebody else has made of it since.
func (t *Tx) saveTools(b *store.Batch) error {
	for i := range b.Tools {
		tool := &b.Tools[i]
		d := &tool.Definition
		if d.Tool == "" {
			return invalid("registering a tool", "no name", "one")
		}
		was, read := t.tools[d.Tool]
		err := t.must("the tool "+d.Tool, `INSERT INTO tools
			(tool_name, description, parameters, target_subject, after_execution, options, claimed_class, claimed_risk,
			digest, reviewed, class, risk, changed, seen) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $20)
			ON CONFLICT (tool_name) DO UPDATE SET description = excluded.description, parameters = excluded.parameters,
				target_subject = excluded.target_subject, after_execution = excluded.after_execution, options = excluded.options,
				claimed_class = excluded.claimed_class, claimed_risk = excluded.claimed_risk, digest = excluded.digest,
				reviewed = excluded.reviewed, class = excluded.class, risk = excluded.risk, changed = excluded.changed, seen = excluded.seen
			WHERE NOT $14 OR (tools.digest, tools.reviewed, tools.class, tools.risk, tools.claimed_risk) = ($15, $16, $17, $18, $19)`,
			d.Tool, d.Description, text(d.Parameters), d.Target, string(d.AfterExecution), text(d.Options), string(d.Class), string(d.Risk),
			tool.Digest, tool.Reviewed, string(tool.Class), string(tool.Risk), stamp(t.now()),
			read, was.Digest, was.Reviewed, string(was.Class), string(was.Risk), string(was.Definition.Risk), text(tool.LastReviewed))
		if err != nil {
			return err
		}
		t.tools[d.Tool] = *tool
	}
	for _, name := range b.Removed {
		if err := t.exec("the tool "+name, `DELETE FROM tools WHERE tool_name = $1`, name); err != nil {
			return err
		}
		t.tools[name] = store.Tool{}
	}
	return nil
}
