package store

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Tool is a registered tool. Reviewed says that an operator has looked at this very
// digest; until then it counts as irreversible and of high risk.
type Tool struct {
	Definition utp.Definition
	Digest     string
	Reviewed   bool
	// Class and Risk are what the operator allows for the reviewed digest.
	Class utp.Class
	Risk  utp.Risk
	// LastReviewed is the definition that was reviewed last, whatever has become of it; nil for none.
	LastReviewed jsontext.Value
}

// Enforcement says how far the tool's service is behind the gate.
func (t Tool) Enforcement() utp.Enforcement { return t.Definition.Enforcement() }

// EffectiveClass is the class that counts: what an operator reviewed, raised by what
// the tool says of itself, if anything; irreversible until somebody has looked.
func (t Tool) EffectiveClass() utp.Class {
	if !t.Reviewed {
		return utp.Irreversible
	}
	return t.Class.Raise(cmp.Or(t.Definition.Class, utp.Read))
}

// EffectiveRisk is the risk that counts, likewise; high until somebody has looked.
func (t Tool) EffectiveRisk() utp.Risk {
	if !t.Reviewed {
		return utp.RiskHigh
	}
	return t.Risk.Raise(cmp.Or(t.Definition.Risk, utp.RiskLow))
}

// CommandsTo is what the subject of each tool of a service holds, and that of no other's does.
func CommandsTo(service string) string { return ".cmd.tool." + service + "." }
