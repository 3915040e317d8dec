package utp

// Class is the effect that a call of a tool can have on the world (call protocol, "Effect classes"). Any value other
// than the four counts as irreversible.
type Class string

// The classes, from the least to the greatest effect.
const (
	Read         Class = "read"         // no effect
	Idempotent   Class = "idempotent"   // an effect that may be repeated
	Reversible   Class = "reversible"   // an effect that can be undone
	Irreversible Class = "irreversible" // an effect that cannot be undone
)

// Valid reports whether c is one of the four.
func (c Class) Valid() bool {
	switch c {
	case Read, Idempotent, Reversible, Irreversible:
		return true
	default:
		return false
	}
}

// Order is 0 for read up to 3 for irreversible, and for anything unknown.
func (c Class) Order() int {
	switch c {
	case Read:
		return 0
	case Idempotent:
		return 1
	case Reversible:
		return 2
	case Irreversible:
		return 3
	default:
		return 3
	}
}

// Effectful reports whether a call has any effect: all but read.
func (c Class) Effectful() bool { return c.Order() > Read.Order() }

// Repeatable reports whether a call with an unknown outcome may be started again: read and idempotent.
func (c Class) Repeatable() bool { return c.Order() <= Idempotent.Order() }

// Raise returns the higher of the two classes. A tool may raise its class and never lower it.
func (c Class) Raise(other Class) Class {
	if other.Order() > c.Order() {
		c = other
	}
	if !c.Valid() {
		return Irreversible
	}
	return c
}

// Risk is how much harm a mistaken call could do. Any value other than the three counts as high.
type Risk string

// The risks, from the lowest to the highest.
const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Valid reports whether r is one of the three.
func (r Risk) Valid() bool { return r == RiskLow || r == RiskMedium || r == RiskHigh }

// Order is 0 for low up to 2 for high, and for anything unknown.
func (r Risk) Order() int {
	switch r {
	case RiskLow:
		return 0
	case RiskMedium:
		return 1
	case RiskHigh:
		return 2
	default:
		return 2
	}
}

// Raise returns the higher of the two risks.
func (r Risk) Raise(other Risk) Risk {
	if other.Order() > r.Order() {
		r = other
	}
	if !r.Valid() {
		return RiskHigh
	}
	return r
}
