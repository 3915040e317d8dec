package web

import (
	"cmp"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// mostSteps is how many steps of a session a page shows; the rest is in its record.
const mostSteps = 200

// step is one line of what a session did.
type step struct {
	Seq       int64
	Text      string
	Language  string
	Direction string
	At        time.Time
	Question  int // if the line belongs to a question
}

// piece is a chunk of an output's text. Position and Next count characters. Language is the one that the agent has
// declared for its own text; our own sentences may be in another.
type piece struct {
	ID       string `json:"id"`
	Position int64  `json:"position"`
	Next     int64  `json:"next"`
	Text     string `json:"text"`
	Language string `json:"language,omitzero"`
	Complete bool   `json:"complete,omitzero"`
}

// story is what a page shows of a session, built from its events in order.
type story struct {
	Steps    []step
	Earlier  int // steps that are not shown
	Outputs  []piece
	Progress string
	Last     int64 // the sequence number of the last event
	// Undo is the question whose accept can be taken back, Over the last one whose accept no longer can; 0 if there is
	// none.
	Undo, Over int
	undoCall   string
}

// take adds an event and returns what is new. A step without text, or an output without an id, is empty.
func (s *story) take(raw []byte, seq int64) (step, piece) {
	if seq <= s.Last {
		return step{}, piece{}
	}
	s.Last = seq
	e, err := aaep.DecodeEvent(raw)
	if err != nil {
		return step{}, piece{} // this version cannot parse the event; the record has it
	}
	switch p := e.Payload.(type) {
	case aaep.OutputStreaming:
		return step{}, s.output(p)
	case aaep.ProgressUpdated:
		s.Progress = announce.Progress(p)
		return step{}, piece{}
	case aaep.StateChanged:
		s.answered(aaep.Read(e.Extensions[aaep.PrefixEarshot]))
	case aaep.ToolInvoked:
		if p.ToolCallID == s.undoCall {
			s.over(s.Undo)
		}
	case aaep.ToolCompleted:
		s.Progress = ""
	}
	if e.IsTerminal() {
		s.Progress = ""
		s.over(s.Undo)
	}
	line := step{Seq: seq, Text: announce.Entry(e), At: e.Time, Question: askedNumber(e)}
	line.Language, line.Direction = language(e)
	if line.Text == "" {
		return step{}, piece{}
	}
	s.Steps = append(s.Steps, line)
	if len(s.Steps) > mostSteps {
		s.Earlier++
		s.Steps = s.Steps[1:]
	}
	return line, piece{}
}

// answered records whose accept can be taken back: that of a call that has not started yet.
func (s *story) answered(ours aaep.Document) {
	how, resolved := ours.Text("resolution")
	question, _ := ours.Whole("question")
	_, waits := ours.Whole("undo_seconds")
	switch {
	case !resolved:
	case how == string(aaep.ResolutionAccepted) && waits:
		s.Undo = int(question)
		s.undoCall, _ = ours.Text("tool_call_id")
	default:
		s.over(int(question))
	}
}

func (s *story) over(question int) {
	s.Over = question
	if question == s.Undo {
		s.Undo, s.undoCall = 0, ""
	}
}

// output adds a chunk to its output's text.
func (s *story) output(p aaep.OutputStreaming) piece {
	added := piece{
		ID: cmp.Or(p.OutputID, "out"), Position: p.Position, Next: p.Position + int64(utf8.RuneCountInString(p.Chunk)),
		Text: legible.Text(p.Chunk), Language: p.Language, Complete: p.Complete,
	}
	for i := range s.Outputs {
		if o := &s.Outputs[i]; o.ID == added.ID {
			o.Text += added.Text
			o.Next, o.Complete = added.Next, added.Complete
			return added
		}
	}
	s.Outputs = append(s.Outputs, added)
	return added
}

// language returns the language and the direction of an event's text.
func language(e aaep.Event) (tag, direction string) {
	if e.Hints == nil || e.Hints.PrimaryLanguage == "" {
		return "", "auto"
	}
	return e.Hints.PrimaryLanguage, cmp.Or(string(e.Hints.TextDirection), string(aaep.Direction(e.Hints.PrimaryLanguage)))
}
