package narrate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/language"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// agentPrefix is the prefix of an agent's name in producer.agent_id.
const agentPrefix = "earshot."

// Options of a [Narrator]. The zero value is for English.
type Options struct {
	// AgentVersion, Model and ManifestURI are part of each event's producer; empty ones are left out.
	AgentVersion string
	Model        string
	ManifestURI  string
	// Catalogue is the language of the rows; the zero value means [English].
	Catalogue Catalogue
}

// Narrator implements [kernel.Narrator]. It has no state of its own, reads no clock
// and is safe for concurrent use.
type Narrator struct {
	o       Options
	speaker *Speaker
}

var _ kernel.Narrator = (*Narrator)(nil)

// New returns a narrator. The error names a message of the catalogue that does not compile.
func New(o Options) (*Narrator, error) {
	if o.Catalogue.Messages == nil {
		o.Catalogue = English()
	}
	speaker, err := NewSpeaker(o.Catalogue)
	if err != nil {
		return nil, err
	}
	return &Narrator{o: o, speaker: speaker}, nil
}

// remembered is how many used ids of each kind the state of a session keeps: it is saved with every step, and the
// ledger has no call, output or token twice anyway.
const remembered = 8

// Narrate turns one notification into rows. It is deterministic for the same state, notification and randomness. An
// error means that the session would break its own rules, or that the randomness or the saved state failed; the step
// must then not be saved.
func (n *Narrator) Narrate(state jsontext.Value, t kernel.Notification) (kernel.Narration, error) {
	m, err := load(state)
	if err != nil {
		return kernel.Narration{}, err
	}
	s := &eventBuilder{narrator: n, t: t, memory: m}
	if len(state) == 0 {
		s.session = session.New(session.Options{
			SessionID: t.Turn.Session, Producer: n.producer(t.Turn), Language: n.o.Catalogue.Tag.String(),
			Remember: remembered,
		})
	} else {
		m.Session.Remember = remembered // a ledger may have been written with another number
		s.session = session.Restore(m.Session)
	}
	if err := s.build(); err != nil {
		return kernel.Narration{}, fmt.Errorf("narrate: %s: %w", t.Note.Kind, err)
	}
	s.memory.Session = s.session.State()
	next, err := s.memory.save()
	if err != nil {
		return kernel.Narration{}, err
	}
	return kernel.Narration{Events: s.rows, State: next, Shows: s.shows, Covered: s.covered}, nil
}

// Render renders a row again, in the language of this narrator's catalogue.
func (n *Narrator) Render(template string, params jsontext.Value) (map[string]string, error) {
	return n.speaker.Render(template, params)
}

func (n *Narrator) producer(t turn.State) aaep.Producer {
	return aaep.Producer{
		AgentID: agentPrefix + valid(t.Agent), AgentName: valid(cmp.Or(t.DisplayName, t.Agent)),
		AgentVersion: n.o.AgentVersion, Model: n.o.Model, ManifestURI: n.o.ManifestURI,
	}
}

// eventBuilder converts one notification to rows.
type eventBuilder struct {
	narrator *Narrator
	t        kernel.Notification
	session  *session.Session
	memory   memory
	rows     []store.Event
	shows    store.Shows // of the question that is being asked
	covered  []string    // the same
}

// build builds the events.
func (s *eventBuilder) build() error {
	if s.session.State().Phase == session.PhaseNew {
		if ofEverything(s.t.Note.Kind) {
			return nil // nothing of this turn was announced yet, and nothing was lost
		}
		if err := s.began(); err != nil {
			return err
		}
	}
	if err := s.goOn(); err != nil {
		return err
	}
	return s.onNote()
}

// ofEverything reports whether a note goes to every open turn.
func ofEverything(kind turn.NoteKind) bool {
	return kind == turn.NoteFrozen || kind == kernel.NoteRulesBroken || kind == kernel.NoteRulesMended
}

// onNote builds the events of a note.
func (s *eventBuilder) onNote() error {
	switch kind := s.t.Note.Kind; {
	case kind == turn.NoteFrozen:
		return s.frozen()
	case ofEverything(kind):
		return s.rules()
	}
	return s.ofTheTurn()
}

// ofTheTurn builds the events for what happened in this turn.
func (s *eventBuilder) ofTheTurn() error {
	switch s.t.Note.Kind { //nolint:exhaustive // the others are of everything
	case turn.NoteBegan:
		return nil // handled above, or earlier: a call of an external agent may come before the first claim
	case turn.NoteThinking:
		return s.thinking()
	case turn.NoteAsked:
		return s.asked()
	case kernel.NoteExtended, turn.NoteShown, turn.NoteUnshown:
		return s.askAgain()
	case turn.NoteAccepted:
		return s.accepted()
	case turn.NoteRefused:
		return s.refused()
	case turn.NoteInvoked:
		return s.invoked()
	case turn.NoteProgress:
		return s.progress()
	case turn.NoteWorking:
		return s.working()
	case turn.NoteCompleted:
		return s.completed()
	case turn.NoteOutcomeAsked:
		return s.outcomeAsked()
	case turn.NoteOutcomeClosed:
		return s.outcomeClosed()
	case turn.NoteLate:
		return s.late()
	case turn.NoteUndelivered:
		return s.undelivered()
	case turn.NoteUnserved:
		return s.unserved()
	case turn.NoteStopping:
		return s.stopping()
	case turn.NoteEnded:
		return s.ended()
	case turn.NoteText:
		return s.agentText()
	case turn.NoteResponded:
		return s.responded()
	}
	return s.ofOthers()
}

// ofOthers builds the events of agents outside and of turns within this one, and the countdown of any question.
func (s *eventBuilder) ofOthers() error {
	switch s.t.Note.Kind { //nolint:exhaustive // the others are of any turn
	case turn.NoteChildren:
		return s.children()
	case turn.NotePermitted:
		return s.permitted()
	case turn.NoteUnawaited:
		return s.unawaited()
	case turn.NoteObserved:
		return s.observed()
	case kernel.NoteDoing:
		return s.doingNow()
	case kernel.NoteMissed:
		return s.missed()
	case kernel.NoteCountdown:
		return s.countdown()
	}
	return s.ofAPermission()
}

var errUnknownNote = errors.New("no words for the note")

// line describes an event to build: its message, and what it carries besides the text.
type line struct {
	key    string
	params Params
	// urgency overrides that of the event's type.
	urgency aaep.Urgency
	earshot map[string]any
	utp     map[string]any
}

// texts are the readable fields of an event by name.
type texts map[string]string

// add builds the events of one line and keeps their rows. If the message cannot be rendered, or the event is invalid
// with it, a fixed sentence replaces it: texts never block a step.
func (s *eventBuilder) add(l line, kind string, build func(texts) ([]aaep.Event, error)) error {
	said, err := s.narrator.speaker.render(l.key, l.params)
	if err != nil || l.key != keyOutput && said[fieldNormal] == "" {
		return s.addFixed(l, kind, build)
	}
	before, rows := s.session.State(), len(s.rows)
	s.session.Each(func(e *aaep.Event) error { return s.addRow(l, e) })
	_, err = build(said)
	refused, bad := errors.AsType[*session.Error](err)
	if bad && refused.Code == session.CodeBadEvent {
		s.session, s.rows = session.Restore(before), s.rows[:rows]
		return s.addFixed(l, kind, build)
	}
	return err
}

func (s *eventBuilder) addFixed(l line, kind string, build func(texts) ([]aaep.Event, error)) error {
	l.key, l.params = "", nil
	s.session.Each(func(e *aaep.Event) error {
		// The fixed sentences are English, whatever the catalogue is.
		e.Hints = &aaep.LocalizationHints{PrimaryLanguage: language.English.String()}
		return s.addRow(l, e)
	})
	_, err := build(fixed(kind))
	return err
}

// addRow adds the row of an event, with the line's extensions and urgency.
func (s *eventBuilder) addRow(l line, e *aaep.Event) (err error) {
	if l.urgency != "" {
		e.Urgency = l.urgency
	}
	if e.Hints != nil && e.Hints.TextDirection == "" {
		hints := *e.Hints
		hints.TextDirection = direction(hints.PrimaryLanguage)
		e.Hints = &hints
	}
	if *e, err = extend(*e, aaep.PrefixEarshot, l.earshot); err != nil {
		return err
	}
	if *e, err = extend(*e, aaep.PrefixUTP, l.utp); err != nil {
		return err
	}
	body, err := e.Encode()
	if err != nil {
		return err
	}
	s.rows = append(s.rows, store.Event{
		Session: s.t.Turn.Session, ID: e.ID, Type: e.Type(), Body: body,
		Template: l.key, Params: l.params.JSON(), At: e.Time,
	})
	return nil
}

// direction returns the direction of a language; it is always stated (C-103).
func direction(tag string) aaep.TextDirection {
	if d := aaep.Direction(tag); d != "" {
		return d
	}
	return aaep.DirectionLTR
}

func extend(e aaep.Event, prefix string, members map[string]any) (aaep.Event, error) {
	for name, value := range members {
		if value == nil || value == "" || value == 0 {
			continue
		}
		var err error
		if e, err = e.Extend(prefix, name, value); err != nil {
			return e, fmt.Errorf("extending the event: %w", err)
		}
	}
	return e, nil
}

// one adapts builders of exactly one event.
func one(e aaep.Event, err error) ([]aaep.Event, error) {
	if err != nil {
		return nil, err
	}
	return []aaep.Event{e}, nil
}

// merge joins extension members; later ones win.
func merge(all ...map[string]any) map[string]any {
	out := map[string]any{}
	for _, m := range all {
		maps.Copy(out, m)
	}
	return out
}

// number returns the number of the question that the notification is about.
func (s *eventBuilder) number() int {
	return cmp.Or(s.t.Call.Question, s.t.Question.Number)
}
