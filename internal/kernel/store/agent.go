package store

import (
	"errors"

	"github.com/earshot-dev/earshot/api"
)

// Agent is the definition of an agent, with its digest.
type Agent struct {
	Definition api.AgentDefinition
	Digest     string
}

// Detail returns it in the form that operators are shown.
func (a Agent) Detail() api.AgentDetail {
	return api.AgentDetail{AgentDefinition: a.Definition, Digest: a.Digest}
}

// AgentChange replaces the definition of an agent.
type AgentChange struct {
	Name string
	// Before is the digest of the definition that is replaced; "" if there is none. ErrConflict unless it is that one.
	Before string
	// After is the new one; the zero value removes what is there.
	After Agent
}

// ReadAgent returns the definition of an agent; the zero value if it has none.
func ReadAgent(tx AgentReader, name string) (Agent, error) {
	a, err := OneRow(tx.Agents(AgentFilter{Name: name}))
	if errors.Is(err, ErrNotFound) {
		return Agent{}, nil
	}
	return a, err
}
