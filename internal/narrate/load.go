package narrate

import (
	"embed"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/language"
)

// catalogues holds one file for each language: its messages as text, for translators and not for programmers.
//
//go:embed catalogue/*.txt
var catalogues embed.FS

// English is the first catalogue, in which rows are written. It is the source of the others: they have the same keys
// and parameters.
func English() Catalogue { return mustLoad("en") }

// others are the names of the catalogues of the other languages.
var others = []string{"es", "fr", "ar", "yo"} //nolint:gochecknoglobals // it is constant

// Translations are the catalogues of the other languages.
func Translations() []Catalogue {
	all := make([]Catalogue, len(others))
	for i, name := range others {
		all[i] = mustLoad(name)
	}
	return all
}

// Headers are the catalogues of the other languages without their messages, which are most of the work of reading one.
func Headers() []Catalogue {
	all := make([]Catalogue, len(others))
	for i, name := range others {
		header, _, _ := strings.Cut(mustRead(name), "\n[")
		all[i] = mustParse(name, header)
	}
	return all
}

// WithMessages returns the catalogue of [Headers] with its messages.
func (c Catalogue) WithMessages() Catalogue { return mustLoad(c.Tag.String()) }

// mustLoad reads a catalogue of this program. That each can be read is tested.
func mustLoad(name string) Catalogue { return mustParse(name, mustRead(name)) }

func mustRead(name string) string {
	text, err := catalogues.ReadFile("catalogue/" + name + ".txt")
	if err != nil {
		panic("narrate: " + err.Error())
	}
	return string(text)
}

func mustParse(name, text string) Catalogue {
	c, err := ParseCatalogue(text)
	if err != nil {
		panic("narrate: catalogue " + name + ": " + err.Error())
	}
	return c
}

// ParseCatalogue reads a catalogue. A line is one of these; empty lines and those that begin with # mean nothing:
//
//	language: es            the language, as a BCP 47 tag; it comes first
//	reader: Ana Pérez       the native speaker who has read every sentence
//	[turn.began]            the key of the message whose texts follow
//	terse: Empezado.        terse, normal and detailed are its summaries, other names further readable fields
//	  y sigue               a line that begins with spaces continues the text before it
//
// Quotation marks (") around a text keep the spaces at its ends.
func ParseCatalogue(text string) (Catalogue, error) {
	r := catalogueReader{into: Catalogue{Messages: map[string]Message{}}}
	for i, line := range strings.Split(text, "\n") {
		if err := r.line(line); err != nil {
			return Catalogue{}, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	if err := r.finish(); err != nil {
		return Catalogue{}, err
	}
	if r.into.Tag == language.Und {
		return Catalogue{}, errNoTag
	}
	return r.into, nil
}

// catalogueReader is the state between two lines.
type catalogueReader struct {
	into        Catalogue
	key         string // of the message
	field, text string // the field that may be continued
}

var (
	errLine      = errors.New(`found neither a key in brackets nor a name, a colon and a text`)
	errTwice     = errors.New("it is there twice")
	errNoTag     = errors.New("it does not say its language, as in language: es")
	errUnmatched = errors.New("a line that continues nothing")
)

func (r *catalogueReader) line(line string) error {
	switch trimmed := strings.TrimSpace(line); {
	case trimmed == "" || line[0] == '#':
		return nil
	case line[0] == ' ':
		if r.field == "" {
			return errUnmatched
		}
		r.text += " " + trimmed
		return nil
	case trimmed[0] == '[' && trimmed[len(trimmed)-1] == ']':
		if err := r.finish(); err != nil {
			return err
		}
		r.key = trimmed[1 : len(trimmed)-1]
		if _, twice := r.into.Messages[r.key]; twice {
			return fmt.Errorf("message %s: %w", r.key, errTwice)
		}
		r.into.Messages[r.key] = Message{}
		return nil
	}
	if err := r.finish(); err != nil {
		return err
	}
	name, text, found := strings.Cut(line, ":")
	if !found {
		return errLine
	}
	r.field, r.text = name, strings.TrimSpace(text)
	return nil
}

// finish adds the field that no line continues any more.
func (r *catalogueReader) finish() error {
	name, text := r.field, r.text
	r.field, r.text = "", ""
	if r.key == "" {
		return r.header(name, text)
	}
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	m := r.into.Messages[r.key]
	into := map[string]*string{"terse": &m.Terse, "normal": &m.Normal, "detailed": &m.Detailed}[name]
	switch {
	case name == "":
		return nil
	case into == nil && m.Fields[name] != "" || into != nil && *into != "":
		return fmt.Errorf("message %s, %s: %w", r.key, name, errTwice)
	case into != nil:
		*into = text
	default:
		if m.Fields == nil {
			m.Fields = map[string]string{}
		}
		m.Fields[name] = text
	}
	r.into.Messages[r.key] = m
	return nil
}

// header reads a line before the first message.
func (r *catalogueReader) header(name, text string) error {
	switch name {
	case "":
		return nil
	case "language":
		tag, err := language.Parse(text)
		if err != nil {
			return fmt.Errorf("language %q: %w", text, err)
		}
		r.into.Tag = tag
		return nil
	case "reader":
		r.into.Reader = text
		return nil
	}
	return fmt.Errorf("%w: %q", errLine, name)
}
