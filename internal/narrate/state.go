package narrate

import (
	"slices"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// blocked reports whether the session must stay in awaiting_input: a question is open, and no outcome is due.
func (s *eventBuilder) blocked() bool {
	st := s.session.State()
	return st.Current == aaep.StateAwaitingInput && len(st.Questions) > 0 && st.Resolved == nil
}

// move changes the state, and does nothing if it is the current one.
func (s *eventBuilder) move(to string, l line) error {
	return s.add(l, aaep.TypeStateChanged, func(x texts) ([]aaep.Event, error) {
		return s.session.Move(s.t.At, s.t.Rand, to, aaep.StateChanged{
			SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
		})
	})
}

// announce reports something outside the work: as a change to deciding (or, from there, to thinking), from which the
// session then returns. While a question is open its state must not be left, so the same text becomes a progress event.
func (s *eventBuilder) announce(l line) error {
	if s.blocked() {
		return s.add(l, aaep.TypeProgressUpdated, func(x texts) ([]aaep.Event, error) {
			p := aaep.ProgressUpdated{
				Progress:     aaep.Progress{Description: x[fieldNormal]},
				SummaryTerse: x[fieldTerse], SummaryNormal: x[fieldNormal], SummaryDetailed: x[fieldDetailed],
			}
			return one(s.session.Progress(s.t.At, s.t.Rand, p))
		})
	}
	if l.urgency == "" {
		l.urgency = aaep.UrgencyNormal
	}
	if err := s.move(s.aside(), l); err != nil {
		return err
	}
	return s.back()
}

// aside returns the state for an announcement in between.
func (s *eventBuilder) aside() string {
	if s.session.State().Current == aaep.StateDeciding {
		return aaep.StateThinking
	}
	return aaep.StateDeciding
}

// back returns to what is still going on: an open question first, then running tools.
func (s *eventBuilder) back() error {
	st := s.session.State()
	switch {
	case len(s.memory.Open) > 0:
		return s.wait(s.memory.Open[0].Number, aaep.UrgencyNormal)
	case len(st.Calls) > 0:
		return s.move(aaep.StateCallingTool, line{
			key: "call.back", params: Params{"running": count(int64(len(st.Calls)))}, urgency: aaep.UrgencyBackground,
		})
	}
	return nil
}

// atTools returns to the running tools if the session has already moved on: a call must be completed before that
// (SEQ-19).
func (s *eventBuilder) atTools(id string) error {
	if slices.ContainsFunc(s.session.State().Calls, func(c session.Call) bool { return c.ID == id && c.Left }) {
		return s.back()
	}
	return nil
}

// wait enters awaiting_input for a question. If the question is new, its own event follows, and the move is only
// background.
func (s *eventBuilder) wait(number int, urgency aaep.Urgency) error {
	return s.move(aaep.StateAwaitingInput, line{
		key: "question.waiting", params: Params{paramQuestion: count(int64(number))},
		urgency: urgency, earshot: map[string]any{extQuestion: number},
	})
}

// resolve records how a question ended and reports it.
func (s *eventBuilder) resolve(token string, r aaep.Resolution, l line) error {
	if err := s.session.Resolve(token, r); err != nil {
		return err
	}
	s.memory.close(token)
	l.urgency = aaep.UrgencyCritical  // the person who answered waits for it, and may have seconds to take it back
	if r == aaep.ResolutionExtended { // the question follows, and is critical itself
		l.urgency = aaep.UrgencyNormal
	}
	return s.move(s.aside(), l)
}
