// Package rosterfile reads the definitions of agents from an operator's YAML file.
package rosterfile

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/roster"
	"github.com/earshot-dev/earshot/tool/settings"
)

// Parse reads the definitions of a file of agents, in its order. The error is a [*settings.Error]: it has the line.
func Parse(raw []byte) ([]api.AgentDefinition, error) {
	section, err := settings.Parse(raw)
	if err != nil {
		return nil, err
	}
	var file struct {
		Agents []entry `yaml:"agents"`
	}
	if err := section.Decode(&file); err != nil {
		return nil, err
	}
	if len(file.Agents) == 0 {
		return nil, section.Fault(nil, "it defines no agent", "agents, and a list of them", "")
	}
	first := map[string]int{}
	all := make([]api.AgentDefinition, 0, len(file.Agents))
	for i, one := range file.Agents {
		d, err := one.definition()
		if err != nil {
			return nil, err
		}
		if err := roster.Check(d); err != nil {
			return nil, placed(section, i, err)
		}
		if at, twice := first[d.Name]; twice {
			return nil, section.Fault([]any{"agents", i, "name"}, fmt.Sprintf("%s is defined twice, first as agents[%d]", d.Name, at), "each agent once", "")
		}
		first[d.Name] = i
		all = append(all, d)
	}
	return all, nil
}

// entry is a definition as the file has it: the schema of its arguments is YAML there.
type entry struct {
	api.AgentDefinition `yaml:",inline"`

	Parameters yaml.Node `yaml:"parameters"`
}

func (e entry) definition() (api.AgentDefinition, error) {
	d := e.AgentDefinition
	if e.Parameters.IsZero() {
		return d, nil
	}
	var err error
	d.Parameters, err = settings.JSON(&e.Parameters)
	return d, err
}

// placed returns an error about the i-th agent, with its line.
func placed(section settings.Section, i int, err error) error {
	wrong, is := errors.AsType[*roster.InvalidError](err)
	if !is {
		return err
	}
	path := []any{"agents", i, wrong.Field}
	if wrong.Index >= 0 {
		path = append(path, wrong.Index)
	}
	return section.Fault(path, wrong.Found, wrong.Expected, "")
}
