package sqlite

import (
	"github.com/earshot-dev/earshot/kernel"
)

// Tool implements [kernel.Tx].
func (t *tx) Tool(name string) (kernel.Tool, error) {
	if err := t.usable(); err != nil {
		return kernel.Tool{}, err
	}
	var tool kernel.Tool
	d := &tool.Definition
	err := t.c.one(`SELECT tool_name, description, parameters, target_subject, after_execution, options, claimed_class, claimed_risk,
		digest, reviewed, class, risk FROM tools WHERE tool_name = ?1`, []any{name},
		&d.Tool, &d.Description, value(&d.Parameters), &d.Target, &d.AfterExecution, value(&d.Options), &d.Class, &d.Risk,
		&tool.Digest, &tool.Reviewed, &tool.Class, &tool.Risk)
	if err != nil {
		return kernel.Tool{}, t.read(err, "the tool %s", name)
	}
	return tool, nil
}

// saveTools enters tools or replaces them, each under its name.
func (t *tx) saveTools(b *kernel.Batch) error {
	for i := range b.Tools {
		tool := &b.Tools[i]
		d := &tool.Definition
		if d.Tool == "" {
			return invalid("registering a tool", "no name", "one")
		}
		err := t.put("the tool "+d.Tool, `INSERT OR REPLACE INTO tools
			(tool_name, description, parameters, target_subject, after_execution, options, claimed_class, claimed_risk,
			digest, reviewed, class, risk, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)`,
			d.Tool, d.Description, text(d.Parameters), d.Target, string(d.AfterExecution), text(d.Options), string(d.Class), string(d.Risk),
			tool.Digest, tool.Reviewed, string(tool.Class), string(tool.Risk), stamp(t.now()))
		if err != nil {
			return err
		}
	}
	return nil
}
