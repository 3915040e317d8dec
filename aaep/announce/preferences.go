package announce

import (
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Preferences are what one listener wants. The zero value is usable.
type Preferences struct {
	// Verbosity is the length of announcements; "" means normal. Terse omits tools that only read; detailed adds the
	// consequences of a question, and every result.
	Verbosity aaep.Verbosity
	// Language is a BCP 47 tag. An event whose summary has a variant in that language is announced with it (PAY-01); ""
	// uses each event's own language.
	Language string
	// Translation says the announcer's own sentences beside events that are not in English.
	Translation Translation
	// Person is the name under which this listener's answers are recorded. If someone else ends a question, that
	// interrupts; with "" everyone counts as someone else.
	Person string
	// Echo is how this listener's own answers are announced.
	Echo Echo
	// Surface is where the listener hears the announcements.
	Surface Surface
	// Pace is how much they hear.
	Pace Pace
	// Zone is the time zone of deadlines; nil means UTC, which is then mentioned.
	Zone *time.Location
	// OneQuestion announces a question in short while another one is open, and in full when that one has ended.
	OneQuestion bool
	// Since is when this listener joined: earlier events are summarised. Zero means that nothing is a replay.
	Since time.Time
}

// Echo is how the listener's own answers are announced.
type Echo string

// The echoes.
const (
	EchoAll  Echo = ""     // announced politely
	EchoNone Echo = "none" // announced as [Silent]: the surface itself says what it recorded
	// EchoElsewhere: the surface itself says what it recorded, and reports that with [Announcer.Answered]. Every other
	// answer of the listener was given elsewhere, and is announced with the place.
	EchoElsewhere Echo = "elsewhere"
)

// The limits of what an [Announcer] stores.
const (
	MaxSessions  = 64       // sessions; ended ones are dropped first
	MaxQuestions = 128      // open questions; the oldest is dropped first, and then gets no warning
	MaxSeen      = 2048     // event ids, against redelivery
	MaxHistory   = 200      // announcements, for [Announcer.Recap]
	MaxText      = 600      // characters of a text; a longer one is cut and says so
	MaxAnswer    = 64 << 10 // bytes at the end of the latest answer, for [Announcer.Answer]
)

const (
	maxAction  = 300             // characters of an action in the announcement of a question
	maxName    = 60              // characters of a name
	maxTitle   = 80              // characters of a session's name
	maxRequest = 120             // characters of a request
	maxAgreed  = 32              // accepted questions of one session, of which one can be taken back
	maxOutputs = 8               // concurrent outputs of one session
	maxAlarms  = 3               // urgent announcements of one session that a summary contains in full
	recentTime = 5 * time.Second // no sentence is repeated within this time
	recentMost = 64              // sentences remembered for that
	replayTime = time.Second     // how long replays may take before they are summarised
)
