package store

import (
	"cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Tool is a registered tool. Reviewed says that an operator has reviewed this digest; until then the tool
// counts as irreversible and of high risk.
type Tool struct {
	Definition utp.Definition
	Digest     string
	Reviewed   bool
	// Class and Risk are what the operator allows for the reviewed digest.
	Class utp.Class
	Risk  utp.Risk
	// LastReviewed is the definition that was reviewed last, even if it is no longer current; nil for none.
	LastReviewed jsontext.Value
}

// Enforcement returns how far the tool's service enforces the gate.
func (t Tool) Enforcement() utp.Enforcement { return t.Definition.Enforcement() }

// EffectiveClass returns the class that counts: the reviewed one, or the tool's own if that is stricter;
// irreversible until a review.
func (t Tool) EffectiveClass() utp.Class {
	if !t.Reviewed {
		return utp.Irreversible
	}
	return t.Class.Raise(cmp.Or(t.Definition.Class, utp.Read))
}

// EffectiveRisk returns the risk that counts, likewise; high until a review.
func (t Tool) EffectiveRisk() utp.Risk {
	if !t.Reviewed {
		return utp.RiskHigh
	}
	return t.Risk.Raise(cmp.Or(t.Definition.Risk, utp.RiskLow))
}

// CommandsTo returns what the subjects of all tools of a service contain, and no other service's do.
func CommandsTo(service string) string { return ".cmd.tool." + service + "." }
