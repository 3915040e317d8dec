package session

import (
	"errors"
	"io"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// Emitter drives a [Session] for a running program. It reads a clock, emits each event as it is built, reports the
// state changes that a step needs, cuts text where that is allowed, and leaves nothing open after a terminal event. A
// step that would be illegal is refused with an [*Error] before anything is emitted.
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
	// Emit receives the next event, in order. Its error is returned to the caller of the step, with [CodeNotSent]. The
	// event is kept, and is sent first at the next step or by [Emitter.Flush].
	Emit func(aaep.Event) error
	// Sentences are used for state changes and endings without a text. A missing one is in English, and marked as
	// English.
	Sentences Sentences
}

// Sentences are sentences for people, in the language of the session.
type Sentences struct {
	Calling    string // the state calling_tool is entered
	Writing    string // writing_output
	Waiting    string // awaiting_input
	HandingOff string // handing_off
	Going      string // thinking, when a question has ended
	Closed     string // a question is withdrawn because the session ends
	Unfinished string // a tool is abandoned because the session ends
}

// english are the default sentences.
var english = Sentences{
	Calling: "Using a tool.", Writing: "Writing the answer.", Waiting: "Waiting for you.", HandingOff: "Handing over.",
	Going: "Going on.", Closed: "The question is closed.", Unfinished: "The tool did not finish.",
}

// NewEmitter drives a session, new or restored.
func NewEmitter(s *Session, o EmitterOptions) *Emitter { return &Emitter{session: s, options: o} }

// Session returns the session, for its [Session.State]. Events that are built with its own methods bypass the emitter.
func (e *Emitter) Session() *Session { return e.session }

// Flush emits the events that could not be emitted before. The error is an [*Error] with [CodeNotSent], which is safe
// to retry.
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

// State reports a new state of the session. If the session is already in that state, nothing is emitted.
func (e *Emitter) State(to string, p aaep.StateChanged) error {
	return e.send(e.session.Move(e.options.Now(), e.options.Rand, to, p))
}

// Progress emits progress.updated.
func (e *Emitter) Progress(p aaep.ProgressUpdated) error {
	return e.one(e.session.Progress(e.options.Now(), e.options.Rand, p))
}

// Handoff enters handing_off and emits handoff.requested. Afterwards only Complete is left, or Cancel if nobody takes
// over (SEQ-39).
func (e *Emitter) Handoff(p aaep.HandoffRequested) error {
	if err := e.enter(aaep.StateHandingOff); err != nil {
		return err
	}
	return e.one(e.session.Handoff(e.options.Now(), e.options.Rand, p))
}

// Complete ends the session as done. Before that, it completes every text with what is still buffered, completes
// running tools as failed, withdraws open questions, and reports accepted calls that were never invoked as stopped.
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
			text.forget() // it could never be emitted, and the session must end
		}
	}
	return e.send(terminal(e.options.Now(), closing))
}

// resolveAll withdraws open questions, and accepted calls that have not begun.
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

// enter changes to a state unless the session is in it, or has to stay where it is.
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

// move changes to a state with the given sentence, or else the English one.
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

// send emits what a method of the session built.
func (e *Emitter) send(events []aaep.Event, err error) error {
	if err != nil {
		return err
	}
	e.unsent = append(e.unsent, events...)
	return e.Flush()
}

func (e *Emitter) one(event aaep.Event, err error) error { return e.send([]aaep.Event{event}, err) }
