package kernel

import (
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Narrator turns what happened into event rows. It is pure: what it needs to
// remember between steps is the state that it returns, saved with the rows.
type Narrator interface {
	// Narrate tells one thing. It never fails for lack of words: where a template fails it
	// falls back to a fixed sentence. An error means that the step itself is refused, for the
	// session would break its own rules.
	Narrate(state jsontext.Value, t Notification) (Narration, error)
	// Check refuses a definition whose own words could not be said ([utp.DefinitionError]).
	Check(d utp.Definition) error
}

// Narration is one thing as it is told.
type Narration struct {
	// Events are the rows, without Session and Seq, which the kernel adds.
	Events []store.Event
	// State is the narrator's next state.
	State jsontext.Value
	// Shows is how much of a call's arguments the last event shows, where it puts a question.
	Shows store.Shows
	// Covered are the JSON pointers of the arguments that it states by count and digest, as a reviewed
	// definition may have it.
	Covered []string
}

// Notification is one thing that happened, with all that can be said of it.
type Notification struct {
	Note turn.Note
	// At is the time of the step, and Rand the source for ids and tokens.
	At   time.Time
	Rand io.Reader
	// Turn is the turn after the step; its tally and end are in it.
	Turn    turn.State
	Request string
	// Call, Tool and Args are set when the note is about a call. Args are its
	// resolved arguments, without secrets; none where they cannot be read any more.
	Call turn.Call
	Tool store.Tool
	Args jsontext.Value
	// Comment are the agent's own words about the call.
	Comment string
	// Question is set for notes about a question.
	Question QuestionFacts
	// Result is the call's result, when it has one and it is at most
	// [api.InlineLimit]; Took is how long it ran.
	Result   jsontext.Value
	Duration time.Duration
	// Resolution tells how a question ended, when that is what happened: accepted,
	// rejected, expired, withdrawn, extended, stopped, answered.
	Resolution  string
	By, Surface string
	// Absent: nobody is left who could answer, so questions end at once.
	Absent bool
	// Unserved: nobody would hear a call of the tool now, which a question is about.
	Unserved bool
	// StartsAt is when an accepted call leaves, after its undo time.
	StartsAt time.Time
	// Summary and Output are the agent's own word at the end of the turn; Output is also the
	// piece of text of a note that it was said. Told says that this very text has been told
	// piece by piece while it was written.
	Summary, Output string
	TextReported    bool
	// Handoff is whom the agent wants to take over, at the end of the turn.
	Handoff *api.Handoff
}

// QuestionFacts are what a narrator needs to ask.
type QuestionFacts struct {
	Number   int
	Token    string
	Deadline time.Time
	Timeout  time.Duration
	// Again says that the same question was asked before and has been extended.
	Again bool
	// Waiting says that nobody was there to be shown it: its own time, of this Length,
	// starts when somebody is.
	Waiting bool
	Length  time.Duration
	// Digest binds the question to what would run, in hex.
	Digest string
}

// NoteExtended is the note that the kernel itself adds to those of the turn machine: a
// question got more time; it is asked again with a new token.
const NoteExtended turn.NoteKind = "question.extended"

// NoteDoing tells what an outside agent says that it is at.
const NoteDoing turn.NoteKind = "agent.doing"

// The notes that [Kernel.NoteAll] adds to every open turn.
const (
	// NoteRulesBroken: the policy has changed and cannot be read; the rules from before count.
	NoteRulesBroken turn.NoteKind = "rules.broken"
	// NoteRulesMended: it can be read again, and counts.
	NoteRulesMended turn.NoteKind = "rules.mended"
)

// endImported makes the events that end the session of a turn that was open where it was imported from, as a
// turn's end is told anywhere: what was open is closed, and what may have happened is said.
func (k *Kernel) endImported(rec store.Record) ([]store.Event, error) {
	now := k.o.Clock.timestamp().Wall
	told, err := k.o.Narrator.Narrate(rec.Narration, Notification{
		Note: turn.Note{Kind: turn.NoteEnded, Detail: string(utp.CodeOutcomeUnknown)}, At: now, Rand: k.o.Rand, Turn: rec.State, Request: rec.Request,
	})
	for i := range told.Events {
		told.Events[i].Session, told.Events[i].At = rec.State.Session, now
	}
	return told.Events, err
}
