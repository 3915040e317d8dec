package page

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
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
	Language  string // "" for a sentence of the page, which it translates
	Agents    string // the language of the agent's own words in it, where only they are quoted; "" if it is not known
	Direction string
	At        time.Time
	Question  int // if the line belongs to a question
}

// Story is what a page shows of a session: made from its events, in their order.
type Story struct {
	Steps    []Step
	Earlier  int     // steps that are not shown
	Outputs  []Piece // made by LayOut
	Progress string
	Last     int64 // the sequence number of the last event
	// Undo is the question whose accept can be taken back, Over the last one whose accept no longer can; 0 if there is
	// none.
	Undo, UndoEnded int
	undoCall        string
	written         outputs
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
	return s.add(e, seq)
}

func (s *Story) add(e aaep.Event, seq int64) (Step, Piece) {
	switch p := e.Payload.(type) {
	case aaep.OutputStreaming:
		return Step{}, s.written.add(p)
	case aaep.ProgressUpdated:
		s.Progress = progress(e, p)
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
	entry := entryOf(e)
	if entry.Text == "" {
		return Step{}, Piece{}
	}
	line := Step{Seq: seq, Text: entry.Text, Language: entry.Language, Direction: entry.Direction, Agents: agents(e), At: e.Time, Question: askedNumber(e)}
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

// progress says how far the work is. Another language than English has its own sentence for it, or
// its number stands before its words.
func progress(e aaep.Event, p aaep.ProgressUpdated) string {
	tag, _ := language(e)
	if tag == "" || tag == english {
		return announce.Progress(p)
	}
	text := legible.Text(cmp.Or(p.SummaryNormal, p.SummaryTerse, p.Progress.Description))
	if at := p.Progress.Percent; at != nil && *at >= 0 && *at <= 100 && !strings.Contains(text, strconv.Itoa(int(*at))) {
		text = strings.TrimSpace(strconv.Itoa(int(*at)) + "% " + text)
	}
	return text
}

// english is the tag of the language that events of the ledger, and the page's own sentences, are in.
const english = "en"

// automatic is the direction that the first letter of a text decides.
const automatic = "auto"

// agents returns the language of the agent's own words in the line of an event, if it is said and only they are quoted there: that of a
// call quotes arguments.
func agents(e aaep.Event) string {
	if _, call := e.Payload.(aaep.AwaitingConfirmation); call {
		return ""
	}
	return e.Extension(aaep.PrefixEarshot, "agent_language")
}

// language returns the language and the direction of an event's text.
func language(e aaep.Event) (tag, direction string) {
	if e.Hints == nil || e.Hints.PrimaryLanguage == "" {
		return "", automatic
	}
	return e.Hints.PrimaryLanguage, cmp.Or(string(e.Hints.TextDirection), string(aaep.Direction(e.Hints.PrimaryLanguage)))
}
