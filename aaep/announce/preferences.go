package announce

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Preferences are what one listener wants. The zero value is usable.
type Preferences struct {
	// Verbosity is the length of what is said; "" means normal. Terse leaves out tools
	// that only look, detailed adds what follows from a question, and every result.
	Verbosity aaep.Verbosity
	// Language is a BCP 47 tag. Events that carry their summary in it, as a variant, are
	// said in it (PAY-01); "" takes each event's own language.
	Language string
	// Person is the name under which this listener's answers are recorded. How a question
	// ended by somebody else interrupts; "" means that everybody is somebody else.
	Person string
	// Echo says whether this listener's own answers are told back.
	Echo Echo
	// Surface is what they hear on.
	Surface Surface
	// Pace is how much they are told.
	Pace Pace
	// Zone is that of the deadlines; nil means UTC, which is then said.
	Zone *time.Location
	// Since is when this listener came: events from before are summed up. Zero means
	// that nothing is a replay.
	Since time.Time
}

// Echo says what becomes of the listener's own answers.
type Echo string

// The echoes.
const (
	EchoAll  Echo = ""     // they are told back politely
	EchoNone Echo = "none" // they come with [Silent]: the surface says itself what it recorded
	// EchoElsewhere: the surface says itself what it recorded, and names it by [Announcer.Answered]; every
	// other own answer was given elsewhere, and is told with its place.
	EchoElsewhere Echo = "elsewhere"
)

// Bounds of what an [Announcer] keeps.
const (
	MaxSessions  = 64       // sessions; one that has ended goes first
	MaxQuestions = 128      // open questions; the oldest goes first, and is then not warned of
	MaxSeen      = 2048     // event ids, against redelivery
	MaxHistory   = 200      // announcements, for [Announcer.Recap]
	MaxText      = 600      // characters of a text; what is longer is cut and says so
	MaxAnswer    = 64 << 10 // bytes of the latest answer, for [Announcer.Answer]; its end counts
)

const (
	maxAction  = 300             // characters of an action in the cue of a question
	maxName    = 60              // characters of a name
	maxTitle   = 80              // characters of a session's name
	maxRequest = 120             // characters of a request
	maxOutputs = 8               // outputs at once of one session
	maxAlarms  = 3               // urgent things of one session that a summary says in full
	recentTime = 5 * time.Second // no sentence twice within
	recentMost = 64              // sentences remembered for it
	replayTime = time.Second     // how long replays may take before they are summed up
)
