package narrate

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/session"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// agentText streams a chunk of what the agent writes while it plans. The chunks of one step form one output, which ends
// when the agent does something else. A chunk that begins in the middle of a grapheme cluster (I18N-29) begins another
// output: nothing that an agent writes can block its turn.
func (s *eventBuilder) agentText() error {
	if s.t.Note.Detail == turn.DetailRestarted {
		if err := s.closeOutput(); err != nil {
			return err
		}
	}
	if err := s.write(); err != nil {
		return err
	}
	for _, part := range textChunks(valid(s.t.Output)) {
		if first, _ := utf8.DecodeRuneInString(part.text); unicode.Is(unicode.M, first) {
			part.text = "◌" + part.text // a combining mark needs a base (I18N-22)
		}
		if s.joined(part.text) {
			if err := s.closeOutput(); err != nil {
				return err
			}
		}
		if s.memory.Output == "" {
			s.memory.Outputs++
			s.memory.Output = aaep.PrefixOutput + strconv.Itoa(s.memory.Outputs)
		}
		s.memory.Lang = s.t.Lang
		if err := s.chunk(part.text, part.boundary, false); err != nil {
			return err
		}
	}
	return nil
}

// goOn ends the agent's open text when the agent does something else.
func (s *eventBuilder) goOn() error {
	switch s.t.Note.Kind {
	case turn.NoteThinking, turn.NoteAsked, turn.NoteInvoked, turn.NoteStopping, turn.NoteEnded, turn.NoteObserved, kernel.NoteDoing, kernel.NoteMissed:
		return s.closeOutput()
	default:
		return nil
	}
}

// write enters the state for writing text, unless the current state has to stay.
func (s *eventBuilder) write() error {
	st := s.session.State()
	if s.blocked() || st.Current == aaep.StateCallingTool && len(st.Calls) > 0 {
		return nil
	}
	return s.move(aaep.StateWritingOutput, line{key: "output.writing", urgency: aaep.UrgencyBackground})
}

func (s *eventBuilder) chunk(text string, boundary aaep.CoalesceHint, last bool) error {
	return s.add(line{key: keyOutput}, aaep.TypeOutputStreaming, func(texts) ([]aaep.Event, error) {
		return one(s.session.Output(s.t.At, s.t.Rand, aaep.OutputStreaming{
			Chunk: text, Complete: last, CoalesceHint: boundary, OutputID: s.memory.Output, Language: s.memory.Lang,
		}))
	})
}

// closeOutput ends the agent's open text.
func (s *eventBuilder) closeOutput() error {
	if s.memory.Output == "" {
		return nil
	}
	if err := s.write(); err != nil {
		return err
	}
	if err := s.chunk("", aaep.BoundaryCompletion, true); err != nil {
		return err
	}
	s.memory.Output, s.memory.Lang = "", ""
	return nil
}

// joined reports whether a text continues the last grapheme cluster of the open output.
func (s *eventBuilder) joined(text string) bool {
	for _, o := range s.session.State().Outputs {
		if o.ID == s.memory.Output && o.ID != "" {
			return legible.Joined(o.Tail, text)
		}
	}
	return false
}

// textChunks returns the chunks of a text that may continue.
func textChunks(text string) []chunk {
	parts := chunks(text)
	if n := len(parts); n > 0 {
		parts[n-1].boundary = session.EndOf(parts[n-1].text)
	}
	return parts
}
