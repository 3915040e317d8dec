package passkey

import "slices"

// Requirement says which accepts need a passkey.
type Requirement string

// The requirements.
const (
	NotRequired  Requirement = ""
	High         Requirement = "high"         // of high risk, or what cannot be undone
	Irreversible Requirement = "irreversible" // what cannot be undone
	All          Requirement = "all"          // each
)

// Valid reports whether it is one of them.
func (r Requirement) Valid() bool {
	return slices.Contains([]Requirement{NotRequired, High, Irreversible, All}, r)
}

// Covers reports whether an accept needs a passkey of what cannot be undone, or is of high risk.
func (r Requirement) Covers(irreversible, highRisk bool) bool {
	switch r {
	case NotRequired:
		return false
	case High:
		return irreversible || highRisk
	case Irreversible:
		return irreversible
	case All:
	}
	return true // also if it is unknown: no failure reads as "none is needed"
}
