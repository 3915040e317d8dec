package announce

import (
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Closed is how a question ended, for anyone who comes too late with a word on it.
type Closed struct {
	Question int // its number
	// Resolution is accepted, rejected, answered, expired or withdrawn.
	Resolution  aaep.Resolution
	By, Surface string    // who answered and where; "" where nobody did, or it is not known
	At          time.Time // when it ended
}

// Text says it in English to the one who was late: who was first, where, what was decided
// and when, or when the time ended; and that the late word did nothing. Nil zone means UTC.
func (c Closed) Text(now time.Time, zone *time.Location) string {
	label := questionLabel(c.Question)
	about := strings.ToLower(label[:1]) + label[1:]
	at := clockText(c.At, now, zone)
	const late = " Your word came after that and did not count."
	switch c.Resolution {
	case aaep.ResolutionExpired:
		return "Too late: the time to answer " + about + " ended at " + at + ". Nothing was done."
	case aaep.ResolutionAccepted, aaep.ResolutionRejected, aaep.ResolutionAnswered:
		return label + " was " + string(c.Resolution) + who(c.By, c.Surface) + ", at " + at + "." + late
	case aaep.ResolutionStopped:
		return label + " was stopped" + who(c.By, c.Surface) + ", at " + at + "." + late
	case aaep.ResolutionWithdrawn, aaep.ResolutionExtended:
		return label + " is no longer asked, since " + at + "." + late
	default:
		return label + " has ended, at " + at + "." + late
	}
}
