package aaep

// Resolution is how a question ended. On the wire it is the member resolution of
// extensions.earshot on the state.changed that follows the question.
type Resolution string

// The resolutions of a question.
const (
	ResolutionAccepted  Resolution = "accepted"  // the person said yes
	ResolutionRejected  Resolution = "rejected"  // the person said no
	ResolutionAnswered  Resolution = "answered"  // a clarification got its answer
	ResolutionExpired   Resolution = "expired"   // nobody answered in time; the default holds
	ResolutionWithdrawn Resolution = "withdrawn" // the producer took the question back
	ResolutionExtended  Resolution = "extended"  // asked again with more time and a new token
	ResolutionStopped   Resolution = "stopped"   // a person stopped the call, also after an accept
)

// Allows reports whether this end of a confirmation lets the action happen. Only an
// accept does: a question that ended in any other way never counts as yes.
func (r Resolution) Allows() bool { return r == ResolutionAccepted }
