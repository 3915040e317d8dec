package utp

// Enforcement says how much of the gate a tool's service is behind (call protocol, "Who may
// answer"). It stands in the definition's options, so that a consent is bound to it; none
// there is enforced.
type Enforcement string

// The enforcements, from the most to the least.
const (
	// Enforced: the service runs nothing before the kernel has granted its start.
	Enforced Enforcement = "enforced"
	// BrokerOnly: a third-party service. It gets its command only when the gate is
	// passed; what it then does, and when, nobody holds it to.
	BrokerOnly Enforcement = "broker-only"
	// Advisory: the caller could do it by itself, and only asks.
	Advisory Enforcement = "advisory"
)

// Valid reports whether e is one of the three.
func (e Enforcement) Valid() bool { return e == Enforced || e == BrokerOnly || e == Advisory }

// Enforcement is what the definition's options say; enforced where they say nothing, and
// advisory, the least, where they cannot be read.
func (d Definition) Enforcement() Enforcement {
	o, err := ParseOptions(d.Options)
	if err != nil {
		return Advisory
	}
	return o.Enforcement
}
