package page

import (
	"cmp"
	"html/template"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/surface/page/markdown"
)

// askedNumber is the number of the question that an event asks, or 0.
func askedNumber(e aaep.Event) int {
	var members struct {
		Question int `json:"question"`
	}
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &members) != nil {
		return 0
	}
	return members.Question
}

// mostSteps is how many steps of a session a page shows; the rest is in its record.
const mostSteps = 200

// Step is one line of what a session did.
type Step struct {
	Seq       int64
	Text      string
	Language  string
	Direction string
	At        time.Time
	Question  int // if the line belongs to a question
}

// Piece is a piece of an output's text. Position and Next count its characters. Language is the
// one that the agent has said it writes in; that of our own sentences says nothing of it.
type Piece struct {
	ID       string `json:"id"`
	Position int64  `json:"position"`
	Next     int64  `json:"next"`
	Text     string `json:"text"`
	Language string `json:"language,omitzero"`
	Complete bool   `json:"complete,omitzero"`
	// HTML is the whole text as it is laid out, on the piece that completes it; "" where it stays plain.
	HTML template.HTML `json:"html,omitzero"`
	raw  string
}

// answerLevel is the level of the first headings of an answer on the page: below that which it stands under. viewLevel is
// that on the page of its session.
const (
	answerLevel = 4
	viewLevel   = 3
)

// layOut makes the HTML of an output that is complete.
func (p *Piece) layOut(level int) {
	if !p.Complete {
		return
	}
	p.HTML, _ = markdown.Render(p.raw, level)
}

// Story is what a page shows of a session: made from its events, in their order.
type Story struct {
	Steps    []Step
	Earlier  int // steps that are not shown
	Outputs  []Piece
	Progress string
	Last     int64 // the sequence number of the last event
	// Undo is the question whose accept can be taken back, Over the last one whose accept no longer can; 0 if there is
	// none.
	Undo, UndoEnded int
	undoCall        string
}

// LayOut makes the HTML of those outputs that are complete, once all of the story was added.
func (s *Story) LayOut() { s.layOut(answerLevel) }

func (s *Story) layOut(level int) {
	for i := range s.Outputs {
		s.Outputs[i].layOut(level)
	}
}

// Laid is the HTML of one of them.
func (s *Story) Laid(id string) template.HTML {
	for i := range s.Outputs {
		if o := &s.Outputs[i]; o.ID == id {
			o.layOut(answerLevel)
			return o.HTML
		}
	}
	return ""
}

// Add adds an event. What it returns is what has come new; a step without text, or an
// output without an id, is none.
func (s *Story) Add(raw []byte, seq int64) (Step, Piece) {
	if seq <= s.Last {
		return Step{}, Piece{}
	}
	s.Last = seq
	e, err := aaep.DecodeEvent(raw)
	if err != nil {
		return Step{}, Piece{} // not an event that this version can read; the record has it
	}
	switch p := e.Payload.(type) {
	case aaep.OutputStreaming:
		return Step{}, s.output(p)
	case aaep.ProgressUpdated:
		s.Progress = announce.Progress(p)
		return Step{}, Piece{}
	case aaep.StateChanged:
		s.answered(aaep.Read(e.Extensions[aaep.PrefixEarshot]))
	case aaep.ToolInvoked:
		if p.ToolCallID == s.undoCall {
			s.endUndo(s.Undo)
		}
	case aaep.ToolCompleted:
		s.Progress = ""
	}
	if e.IsTerminal() {
		s.Progress = ""
		s.endUndo(s.Undo)
	}
	line := Step{Seq: seq, Text: announce.Entry(e), At: e.Time, Question: askedNumber(e)}
	line.Language, line.Direction = language(e)
	if line.Text == "" {
		return Step{}, Piece{}
	}
	s.Steps = append(s.Steps, line)
	if len(s.Steps) > mostSteps {
		s.Earlier++
		s.Steps = s.Steps[1:]
	}
	return line, Piece{}
}

// answered notes whose yes can be taken back: of one that waits still to start.
func (s *Story) answered(ours aaep.Document) {
	how, resolved := ours.Text("resolution")
	question, _ := ours.Whole("question")
	_, waits := ours.Whole("undo_seconds")
	switch {
	case !resolved:
	case how == string(aaep.ResolutionAccepted) && waits:
		s.Undo = int(question)
		s.undoCall, _ = ours.Text("tool_call_id")
	default:
		s.endUndo(int(question))
	}
}

func (s *Story) endUndo(question int) {
	s.UndoEnded = question
	if question == s.Undo {
		s.Undo, s.undoCall = 0, ""
	}
}

// output adds a chunk to its output's text.
func (s *Story) output(p aaep.OutputStreaming) Piece {
	added := Piece{
		ID: cmp.Or(p.OutputID, "out"), Position: p.Position, Next: p.Position + int64(utf8.RuneCountInString(p.Chunk)),
		Text: legible.Text(p.Chunk), raw: p.Chunk, Language: p.Language, Complete: p.Complete,
	}
	for i := range s.Outputs {
		if o := &s.Outputs[i]; o.ID == added.ID {
			o.Text += added.Text
			o.raw += added.raw
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
