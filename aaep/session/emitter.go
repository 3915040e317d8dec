package session

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Emitter drives a [Session] for a program that runs: it asks a clock, hands each event
// over as it comes, tells the moves between states that a step needs, cuts text where
// it may be cut, and leaves nothing open behind a terminal event. What a step would
// make illegal is refused with an [*Error], before anything is handed over.
type Emitter struct {
	session *Session
	options EmitterOptions
	unsent  []aaep.Event
	texts   []*Text // that are open
}

// EmitterOptions are what an [Emitter] needs. Now, Rand and Emit are required.
type EmitterOptions struct {
	Now  func() time.Time
	Rand io.Reader // for ids and reply tokens
	// Emit takes the next event, in order. An error is handed to the caller of the step,
	// with [CodeNotSent]; the event is kept, and is the first to go at the next step or at
	// [Emitter.Flush].
	Emit func(aaep.Event) error
	// Sentences are the sentences of moves and endings that nobody gave words for. What is
	// empty is said in English, and marked as such.
	Sentences Sentences
}

// Sentences are sentences for people, in the language of the session.
type Sentences struct {
	Calling    string // the state calling_tool is entered
	Writing    string // writing_output
	Waiting    string // awaiting_input
	HandingOff string // handing_off
	Going      string // thinking, when a question is over
	Closed     string // a question is taken back because the session ends
	Unfinished string // a tool is given up because the session ends
}

// english are the words where none were given.
var english = Sentences{
	Calling: "Using a tool.", Writing: "Writing the answer.", Waiting: "Waiting for you.", HandingOff: "Handing over.",
	Going: "Going on.", Closed: "The question is closed.", Unfinished: "The tool did not finish.",
}

// NewEmitter drives a session, new or restored.
func NewEmitter(s *Session, o EmitterOptions) *Emitter { return &Emitter{session: s, options: o} }

// Session returns the session that is driven, for its [Session.State]. Events that are
// built by its own methods do not pass the emitter.
func (e *Emitter) Session() *Session { return e.session }

// Flush hands over what could not be handed over before. The error is an [*Error] with
// [CodeNotSent], which is safe to retry.
func (e *Emitter) Flush() error {
	for len(e.unsent) > 0 {
		if err := e.options.Emit(e.unsent[0]); err != nil {
			return &Error{Code: CodeNotSent, Message: "the event " + e.unsent[0].ID + " could not be handed over; it is kept, Flush again", Cause: err}
		}
		e.unsent = e.unsent[1:]
	}
	return nil
}

// Start emits session.started.
func (e *Emitter) Start(p aaep.SessionStarted) error {
	return e.one(e.session.Start(e.options.Now(), e.options.Rand, p))
}

// State tells that the session is in another state now. Where it is there already,
// nothing is emitted.
func (e *Emitter) State(to string, p aaep.StateChanged) error {
	return e.send(e.session.Move(e.options.Now(), e.options.Rand, to, p))
}

// Progress emits progress.updated.
func (e *Emitter) Progress(p aaep.ProgressUpdated) error {
	return e.one(e.session.Progress(e.options.Now(), e.options.Rand, p))
}

// Handoff enters handing_off and emits handoff.requested. What is left then is to
// Complete, or to Cancel where nobody takes over (SEQ-39).
func (e *Emitter) Handoff(p aaep.HandoffRequested) error {
	if err := e.enter(aaep.StateHandingOff); err != nil {
		return err
	}
	return e.one(e.session.Handoff(e.options.Now(), e.options.Rand, p))
}

// Complete ends the session as done. Before, it completes every text with what is still
// buffered, completes tools that run as failed, takes open questions back, and tells
// of accepted calls that were never invoked that they were stopped.
func (e *Emitter) Complete(p aaep.SessionCompleted) error {
	return e.end(func(now time.Time, c Closing) ([]aaep.Event, error) {
		return e.session.Complete(now, e.options.Rand, p, c)
	})
}

// Fail ends the session as failed, and closes what is open as [Emitter.Complete] does.
func (e *Emitter) Fail(p aaep.SessionErrored) error {
	return e.end(func(now time.Time, c Closing) ([]aaep.Event, error) { return e.session.Fail(now, e.options.Rand, p, c) })
}

// Cancel ends the session as stopped, and closes what is open as [Emitter.Complete]
// does.
func (e *Emitter) Cancel(p aaep.SessionCancelled) error {
	return e.end(func(now time.Time, c Closing) ([]aaep.Event, error) {
		return e.session.Cancel(now, e.options.Rand, p, c)
	})
}

// end closes what is open and ends the session. A terminal event that breaks a rule
// leaves the session open, with nothing in it.
func (e *Emitter) end(terminal func(time.Time, Closing) ([]aaep.Event, error)) error {
	if err := e.session.open(); err != nil {
		return err
	}
	if err := e.resolveAll(); err != nil {
		return err
	}
	w := e.options.Sentences
	closing := Closing{ToolSummary: w.Unfinished, StateSummary: w.Closed}
	if err := e.send(e.session.closeCalls(e.options.Now(), e.options.Rand, closing)); err != nil {
		return err
	}
	for _, text := range slices.Clone(e.texts) {
		if err := text.Close(); err != nil {
			if refused, ok := errors.AsType[*Error](err); ok && refused.Code == CodeNotSent {
				return err
			}
			text.forget() // it could never be said; the end has to be
		}
	}
	return e.send(terminal(e.options.Now(), closing))
}

// resolveAll takes back what is asked, and what was accepted and not begun.
func (e *Emitter) resolveAll() error {
	for {
		state := &e.session.state
		switch {
		case state.Resolved != nil:
		case len(state.Questions) > 0:
			if err := e.session.Resolve(state.Questions[0].Token, aaep.ResolutionWithdrawn); err != nil {
				return err
			}
		case len(state.Granted) > 0:
			if err := e.session.Resolve(state.Granted[0].Token, aaep.ResolutionStopped); err != nil {
				return err
			}
		default:
			return nil
		}
		to := aaep.StateDeciding
		if len(e.session.state.Calls) > 0 && len(e.session.state.Questions) == 0 {
			to = aaep.StateCallingTool
		}
		if err := e.move(to, e.options.Sentences.Closed, english.Closed); err != nil {
			return err
		}
	}
}

// enter tells a state unless the session is in it, or has to stay where it is.
func (e *Emitter) enter(state string) error {
	if err := e.session.open(); err != nil {
		return err
	}
	if e.session.state.Current == state || e.session.state.stays(state) {
		return nil
	}
	given, fallback := e.options.Sentences.of(state), english.of(state)
	return e.move(state, given, fallback)
}

// move tells a state in the words that were given, or else in English.
func (e *Emitter) move(to, given, fallback string) error {
	words := given
	if words == "" {
		words = fallback
	}
	events, err := e.session.Move(e.options.Now(), e.options.Rand, to, aaep.StateChanged{SummaryNormal: words})
	for i := range events {
		if given == "" && events[i].Hints != nil {
			events[i].Hints = &aaep.LocalizationHints{PrimaryLanguage: "en"}
		}
		events[i].Urgency = aaep.UrgencyBackground
	}
	return e.send(events, err)
}

// of is the sentence for entering a state.
func (w Sentences) of(state string) string {
	switch state {
	case aaep.StateCallingTool:
		return w.Calling
	case aaep.StateWritingOutput:
		return w.Writing
	case aaep.StateAwaitingInput:
		return w.Waiting
	case aaep.StateHandingOff:
		return w.HandingOff
	default:
		return w.Going
	}
}

// send hands over what a method of the session built.
func (e *Emitter) send(events []aaep.Event, err error) error {
	if err != nil {
		return err
	}
	e.unsent = append(e.unsent, events...)
	return e.Flush()
}

func (e *Emitter) one(event aaep.Event, err error) error { return e.send([]aaep.Event{event}, err) }
