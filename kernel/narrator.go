package kernel

import (
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/kernel/turn"
)

// Narrator turns what happened into event rows. It is pure: what it needs to
// remember between steps is the state that it returns, saved with the rows.
type Narrator interface {
	// Narrate returns the rows of one telling (without Session and Seq, which the
	// kernel adds) and the next state. It never fails for lack of words: where a
	// template fails it falls back to a fixed sentence. An error means that the step
	// itself is refused, for the session would break its own rules.
	Narrate(state jsontext.Value, t Telling) ([]Event, jsontext.Value, error)
}

// Telling is one thing that happened, with all that can be said of it.
type Telling struct {
	Note turn.Note
	// At is the time of the step, and Rand the source for ids and tokens.
	At   time.Time
	Rand io.Reader
	// Turn is the turn after the step; its tally and end are in it.
	Turn    turn.State
	Request string
	// Call, Tool and Args are set when the note is about a call. Args are its
	// resolved arguments, without secrets.
	Call turn.Call
	Tool Tool
	Args jsontext.Value
	// Says are the agent's own words about the call.
	Says string
	// Question is set for notes about a question.
	Question QuestionFacts
	// Result is the call's result, when it has one and it is at most
	// [utp.InlineLimit]; Took is how long it ran.
	Result jsontext.Value
	Took   time.Duration
	// Resolution tells how a question ended, when that is what happened: accepted,
	// rejected, expired, withdrawn, extended, stopped, answered.
	Resolution  string
	By, Surface string
	// StartsAt is when an accepted call leaves, after its undo time.
	StartsAt time.Time
	// Delivery is the agent's own word at the end of the turn.
	Summary, Output string
}

// QuestionFacts are what a narrator needs to ask.
type QuestionFacts struct {
	Number   int
	Token    string
	Deadline time.Time
	Timeout  time.Duration
	// Again says that the same question was asked before and has been extended.
	Again bool
	// Digest binds the question to what would run, in hex.
	Digest string
}

// Notes that the kernel itself adds to those of the turn machine.
const (
	// NoteExtended: a question got more time; it is asked again with a new token.
	NoteExtended turn.NoteKind = "question.extended"
	// NoteUndelivered: a message about the call could not be published and is put aside.
	NoteUndelivered turn.NoteKind = "call.undelivered"
)
