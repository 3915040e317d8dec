package narrate

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// The readable fields of most events; a message may have others, by their names in the event.
const (
	fieldTerse    = "summary_terse"
	fieldNormal   = "summary_normal"
	fieldDetailed = "summary_detailed"
)

// A Message is the text of one moment in one language: the text of each readable field, with {parameters}. The keys of
// the catalogue are those of the rows' Template.
type Message struct {
	// Terse, Normal and Detailed are the three summaries. A phrase inside other messages has only Normal.
	Terse, Normal, Detailed string
	// Fields are further readable fields of the event: action, consequence, question.
	Fields map[string]string
}

// Catalogue is one language: its messages by key.
type Catalogue struct {
	Tag language.Tag
	// Reader is the native speaker who has read every sentence; "" means that nobody has.
	Reader   string
	Messages map[string]Message
}

// ByMachine reports whether the sentences were translated by a machine, and no native speaker has read them.
func (c Catalogue) ByMachine() bool { return c.Tag != language.English && c.Reader == "" }

// Speaker renders messages of one catalogue. It is safe for concurrent use.
type Speaker struct{ localizer localizer }

// NewSpeaker compiles a catalogue. Its error names the message that does not compile.
func NewSpeaker(c Catalogue) (*Speaker, error) {
	s := &Speaker{localizer: newLocalizer(c.Tag)}
	for key, m := range c.Messages {
		fields, err := compile(m)
		if err != nil {
			return nil, fmt.Errorf("message %s (%s): %w", key, c.Tag, err)
		}
		s.localizer.messages[key] = fields
	}
	s.localizer.nameUnits()
	if c.Tag == language.English {
		return s, nil
	}
	source, err := NewSpeaker(English())
	if err != nil {
		return nil, err
	}
	s.localizer.source = &source.localizer
	return s, nil
}

func compile(m Message) (compiled, error) {
	out := compiled{}
	texts := map[string]string{fieldTerse: m.Terse, fieldNormal: m.Normal, fieldDetailed: m.Detailed}
	maps.Copy(texts, m.Fields)
	for name, text := range texts {
		if text == "" {
			continue
		}
		p, err := parsePhrase(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = p
	}
	return out, nil
}

var errNoMessage = errors.New("the catalogue has no such message")

// Render renders a row's message: each readable field of its event by name, shortened to a length that one can listen
// to. It is deterministic.
func (s *Speaker) Render(template string, params jsontext.Value) (map[string]string, error) {
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	return s.render(template, p)
}

func (s *Speaker) render(template string, params Params) (map[string]string, error) {
	fields, ok := s.localizer.messages[template]
	if !ok {
		return nil, fmt.Errorf("%w: %s", errNoMessage, template)
	}
	out := make(map[string]string, len(fields))
	for name, p := range fields {
		text, err := s.localizer.render(p, params, 0)
		if err != nil {
			return nil, fmt.Errorf("message %s, %s: %w", template, name, err)
		}
		if text = s.fit(tidy(text), s.limit(name)); text != "" {
			out[name] = text
		}
	}
	return out, nil
}

// limit returns the most characters of a field. A translation may be half as long again as the English text, so that
// it leaves out nothing that the English one has room for.
func (s *Speaker) limit(field string) int {
	if s.localizer.source == nil {
		return capOf(field)
	}
	return capOf(field) * 3 / 2
}

func capOf(field string) int {
	switch field {
	case fieldTerse:
		return capTerse
	case fieldNormal:
		return capNormal
	case fieldDetailed:
		return capDetailed
	}
	return capField
}

// tidy removes the spaces that empty forms leave behind, normalizes where prose and values meet (the values themselves
// are normalized or named), and gives a combining mark at the start a base.
func tidy(s string) string {
	for strings.Contains(s, "  ") {
		s = strings.ReplaceAll(s, "  ", " ")
	}
	s = norm.NFC.String(strings.TrimSpace(s))
	if first, _ := utf8.DecodeRuneInString(s); unicode.Is(unicode.M, first) {
		return "◌" + s
	}
	return s
}

// fit shortens a finished text and says by how much. It closes isolates that the cut left open.
func (s *Speaker) fit(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	const roomForNote = 60
	head, more := cut(text, limit-roomForNote)
	var out strings.Builder
	out.WriteString(strings.TrimSpace(head))
	out.WriteString(legible.Closing(head))
	out.WriteByte(' ')
	out.WriteString(s.left(more))
	return out.String()
}

// renderParam renders one parameter by itself.
func (s *Speaker) renderParam(p Param) (string, error) {
	var out strings.Builder
	err := s.localizer.writeParam(&out, p, 0)
	return out.String(), err
}

// left says how much was left out.
func (s *Speaker) left(more int) string {
	said, err := s.renderParam(phraseParam("value.more", Params{"n": count(int64(more))}))
	if err != nil {
		return "…"
	}
	return said
}
