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
}

// output is an output as its agent has written it so far. Its Text is made when it is shown: a text that grows by a
// sentence is not copied for each of them.
type output struct {
	Piece

	raw strings.Builder
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
		Text: legible.Text(p.Chunk), Language: p.Language, Complete: p.Complete,
	}
	o := all.find(added.ID)
	if o == nil {
		o = &output{Piece: added}
		*all = append(*all, o)
	}
	o.raw.WriteString(p.Chunk)
	o.Next, o.Complete = added.Next, added.Complete
	return added
}

// pieces are the outputs with their texts. Those that are complete are laid out, with headings from a level on.
func (all outputs) pieces(level int) []Piece {
	pieces := make([]Piece, 0, len(all))
	for _, o := range all {
		one := o.Piece
		one.Text, one.HTML = legible.Text(o.raw.String()), o.laid(level)
		pieces = append(pieces, one)
	}
	return pieces
}

// laid is the HTML of an output that is complete.
func (o *output) laid(level int) template.HTML {
	if !o.Complete {
		return ""
	}
	html, _ := markdown.Render(o.raw.String(), level)
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
	s.written = slices.DeleteFunc(s.written, func(o *output) bool { return o.Complete || o.raw.Len() > markdown.MaxSize })
}
