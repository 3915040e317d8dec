package aaep

// Urgency is the priority at which an event asks to be announced.
type Urgency string

// The urgencies, least first. An absent urgency means normal (ENV-35).
const (
	UrgencyBackground Urgency = "background"
	UrgencyNormal     Urgency = "normal"
	UrgencyCritical   Urgency = "critical"
)

// Verbosity is the length at which the readable text of an event is written.
type Verbosity string

// The verbosities. An absent verbosity means normal (ENV-34).
const (
	VerbosityTerse    Verbosity = "terse"
	VerbosityNormal   Verbosity = "normal"
	VerbosityDetailed Verbosity = "detailed"
)

// DefaultUrgency returns the urgency that the specification gives to an event type
// (ENV-36): critical for what a person must hear at once, background for progress,
// normal for everything else, unknown types too.
func DefaultUrgency(eventType string) Urgency {
	if i, known := typed()[CompactType(eventType)]; known && table()[i].Urgency != "" {
		return table()[i].Urgency
	}
	return UrgencyNormal
}
