package kernel

import (
	"io"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Narrator turns what happened into event rows. It is pure: what it needs to
// remember between steps is the state that it returns, saved with the rows.
type Narrator interface {
	// Narrate reports one event. It never fails for lack of words: if a template fails, it falls
	// back to a fixed sentence. An error means that the step itself is refused, because the session
	// would break its own rules.
	Narrate(state jsontext.Value, t Notification) (Narration, error)
	// Check refuses a definition whose own texts could not be narrated ([utp.DefinitionError]).
	Check(d utp.Definition) error
}

// Narration is what a narrator makes of one [Notification].
type Narration struct {
	// Events are the rows, without Session and Seq, which the kernel adds.
	Events []store.Event
	// State is the narrator's next state.
	State jsontext.Value
	// Shows is how much of a call's arguments the last event shows, where it puts a question.
	Shows store.Shows
	// Covered are the JSON pointers of the arguments that the event states by count and digest, which
	// a reviewed definition may ask for.
	Covered []string
}

// Notification is one thing that happened, with all facts about it.
type Notification struct {
	Note turn.Note
	// At is the time of the step, and Rand the source for ids and tokens.
	At   time.Time
	Rand io.Reader
	// Turn is the turn after the step; its tally and end are in it.
	Turn    turn.State
	Request string
	// Call, Tool and Args are set when the note is about a call. Args are its resolved arguments
	// without secrets; none if they can no longer be read.
	Call turn.Call
	Tool store.Tool
	Args jsontext.Value
	// Comment is what the agent itself says about the call.
	Comment string
	// Permission is set for notes about a standing permission.
	Permission standing.Permission
	// Question is set for notes about a question.
	Question QuestionFacts
	// Result is the call's result, when it has one and it is at most
	// [api.InlineLimit]; Took is how long it ran.
	Result   jsontext.Value
	Duration time.Duration
	// Resolution says how a question ended, if it did: accepted, rejected, expired, withdrawn,
	// extended, stopped, answered.
	Resolution  string
	By, Surface string
	// Absent: the question has ended because nobody is there who could answer it.
	Absent bool
	// Unserved: the question is about a tool whose calls no service would receive now.
	Unserved bool
	// StartsAt is when an accepted call leaves, after its undo time.
	StartsAt time.Time
	// Summary and Output are the agent's own result at the end of the turn; Output is also the piece
	// of text in a [turn.NoteText]. TextReported says that exactly this text was reported piece by
	// piece while it was written.
	Summary, Output string
	TextReported    bool
	// Missed is how many messages of the agent have got lost on the way.
	Missed int
	// Lang is the language of Output, or of a Summary that is what the agent is at or has done, as a BCP 47 tag; "" if the
	// agent does not say it.
	Lang string
	// Handoff is the agent that is to take over at the end of the turn.
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
	// Waiting says that nobody was there to see it: its time, of this Length, starts when somebody
	// does.
	Waiting bool
	Length  time.Duration
	// Digest binds the question to what would run, in hex.
	Digest string
	// Passkey says that a yes takes a passkey, which is used on the page.
	Passkey bool
}

// NoteExtended is a note of the kernel, beside those of the turn machine: a question got more time, and is
// asked again with a new token.
const NoteExtended turn.NoteKind = "question.extended"

// NoteCountdown tells how much time is left to answer an open question.
const NoteCountdown turn.NoteKind = "question.countdown"

// NoteDoing reports what an outside agent says that it is doing.
const NoteDoing turn.NoteKind = "agent.doing"

// NoteMissed reports that messages of an outside agent have got lost on the way.
const NoteMissed turn.NoteKind = "agent.missed"

// The notes that [Kernel.NoteAll] adds to every open turn.
const (
	// NoteRulesBroken: the policy has changed and cannot be read; the earlier rules apply.
	NoteRulesBroken turn.NoteKind = "rules.broken"
	// NoteRulesMended: it can be read again, and applies.
	NoteRulesMended turn.NoteKind = "rules.mended"
)

// endImported makes the events that end the session of an imported turn that was still open in its own ledger. As at
// any turn's end, open questions are closed and unknown outcomes are reported.
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
