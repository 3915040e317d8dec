package utp

// Enforcement is how strictly the gate controls a tool's service (call protocol, "Who may answer"). It is part of the
// definition's options, so that consent is bound to it. Its default is enforced.
type Enforcement string

// The enforcements, from the strictest to the weakest.
const (
	// Enforced: the service runs nothing before the kernel has granted its start.
	Enforced Enforcement = "enforced"
	// BrokerOnly: a third-party service. It receives a command only after the gate; nothing controls what it then does,
	// or when.
	BrokerOnly Enforcement = "broker-only"
	// Advisory: the caller could act without the tool, and only asks for permission.
	Advisory Enforcement = "advisory"
)

// Valid reports whether e is one of the three.
func (e Enforcement) Valid() bool { return e == Enforced || e == BrokerOnly || e == Advisory }

// Enforcement returns the enforcement in the definition's options: enforced if they contain none, and advisory, the
// weakest, if they cannot be read.
func (d Definition) Enforcement() Enforcement {
	o, err := ParseOptions(d.Options)
	if err != nil {
		return Advisory
	}
	return o.Enforcement
}
