package announce

import (
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Closed is how a question ended, for an answer that came too late.
type Closed struct {
	Question int // the question's number
	// Resolution is accepted, rejected, answered, expired or withdrawn.
	Resolution  aaep.Resolution
	By, Surface string    // who answered and where; "" if nobody did, or it is unknown
	At          time.Time // when it ended
}

// Text explains it in English to the person who was late: who answered first, where, what was decided and when, or when
// the time expired; and that the late answer had no effect. A nil zone means UTC.
func (c Closed) Text(now time.Time, zone *time.Location) string {
	label := questionLabel(c.Question)
	about := strings.ToLower(label[:1]) + label[1:]
	at := clockText(c.At, now, zone)
	const late = " Your answer came after that and did not count."
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
