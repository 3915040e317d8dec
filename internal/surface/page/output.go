package page

import (
	"cmp"
	"html/template"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/surface/page/markdown"
)

// answerLevel is the level of the first headings of an answer on the page: below that which it stands under. viewLevel is
// that on the page of its session.
const (
	answerLevel = 4
	viewLevel   = 3
)

// Piece is a piece of an output's text. Position and Next count its characters. Language is the
// one that the agent has said it writes in; that of our own sentences says nothing of it. Direction is that of the language, or
// auto.
type Piece struct {
	ID        string `json:"id"`
	Position  int64  `json:"position"`
	Next      int64  `json:"next"`
	Text      string `json:"text"`
	Language  string `json:"language,omitzero"`
	Direction string `json:"direction,omitzero"`
	Complete  bool   `json:"complete,omitzero"`
	// HTML is the whole text as it is laid out, on the piece that completes it; "" where it stays plain.
	HTML template.HTML `json:"html,omitzero"`
	// Parts are the text, each in one language. A page that is shown with the output has them, and later pieces do not.
	Parts []markdown.Part `json:"-"`
}

// output is an output as its agent has written it so far. Its Text is made when it is shown: a text that grows by a
// sentence is not copied for each of them.
type output struct {
	Piece

	runs []*run
	size int // in bytes
}

// run is a text in one language.
type run struct {
	language string
	raw      strings.Builder
}

// write adds text in a language. What has no text has no language.
func (o *output) write(text, language string) {
	if text == "" {
		return
	}
	if last := len(o.runs) - 1; last < 0 || o.runs[last].language != language {
		o.runs = append(o.runs, &run{language: language})
	}
	o.runs[len(o.runs)-1].raw.WriteString(text)
	o.size += len(text)
}

// parts are the text by its languages, as it was written.
func (o *output) parts() []markdown.Part {
	parts := make([]markdown.Part, len(o.runs))
	for i, r := range o.runs {
		parts[i] = markdown.Part{Text: r.raw.String(), Language: r.language, Direction: written(r.language)}
	}
	return parts
}

// written is the direction in which a language is written; that of a text whose language nobody has named shows in its letters.
func written(language string) string {
	if language == "" {
		return string(aaep.DirectionAuto)
	}
	return cmp.Or(string(aaep.Direction(language)), string(aaep.DirectionLTR))
}

// outputs are those of a session, in their order.
type outputs []*output

func (all outputs) find(id string) *output {
	if i := slices.IndexFunc(all, func(o *output) bool { return o.ID == id }); i >= 0 {
		return all[i]
	}
	return nil
}

// add adds a chunk to its output's text, and returns it.
func (all *outputs) add(p aaep.OutputStreaming) Piece {
	added := Piece{
		ID: cmp.Or(p.OutputID, "out"), Position: p.Position, Next: p.Position + int64(utf8.RuneCountInString(p.Chunk)),
		Text: legible.Text(p.Chunk), Language: p.Language, Direction: written(p.Language), Complete: p.Complete,
	}
	o := all.find(added.ID)
	if o == nil {
		o = &output{Piece: added}
		*all = append(*all, o)
	}
	o.write(p.Chunk, p.Language)
	o.Next, o.Complete = added.Next, added.Complete
	return added
}

// pieces are the outputs with their texts. Those that are complete are laid out, with headings from a level on.
func (all outputs) pieces(level int) []Piece {
	pieces := make([]Piece, 0, len(all))
	for _, o := range all {
		one := o.Piece
		one.Parts, one.HTML = o.parts(), o.laid(level)
		for i := range one.Parts {
			one.Parts[i].Text = legible.Text(one.Parts[i].Text)
		}
		pieces = append(pieces, one)
	}
	return pieces
}

// laid is the HTML of an output that is complete.
func (o *output) laid(level int) template.HTML {
	if !o.Complete {
		return ""
	}
	html, _ := markdown.Render(level, o.parts()...)
	return html
}

// LayOut makes the outputs, once all of the story was added.
func (s *Story) LayOut() { s.Outputs = s.written.pieces(answerLevel) }

// Laid is the HTML of one of them, or false where the story has not all of its text.
func (s *Story) Laid(id string) (_ template.HTML, whole bool) {
	o := s.written.find(id)
	if o == nil || o.Position > 0 {
		return "", false
	}
	return o.laid(answerLevel), true
}

// Shown drops what a page now has: the steps, and the outputs that are complete, or too long to be laid out.
func (s *Story) Shown() {
	s.Steps = nil
	s.written = slices.DeleteFunc(s.written, func(o *output) bool { return o.Complete || o.size > markdown.MaxSize })
}
