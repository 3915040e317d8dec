package page

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/announce"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/phrasebook"
)

// Language is one in which the page is shown. It is safe for concurrent use.
type Language struct {
	// Tag names it, as in es; Direction is that of its script, ltr or rtl.
	Tag, Direction string

	book      *phrasebook.Book                   // nil for English
	templates func() (*template.Template, error) // read once
	script    File                               // what scripts say
}

// In is a language that the page is shown in; English, where it is not shown in that one.
func (p *Assets) In(tag string) *Language {
	if open := p.languages[tag]; open != nil {
		if l, err := open(); err == nil { // the tests open each
			return l
		}
	}
	return p.english
}

// open opens another language than English, when somebody reads in it: most servers offer none.
func (p *Assets) open(tag string) (*Language, error) {
	book, err := phrasebook.Open(tag)
	if err != nil {
		return nil, err
	}
	all, err := p.scripts()
	if err != nil {
		return nil, err
	}
	l := &Language{Tag: tag, Direction: cmp.Or(string(aaep.Direction(tag)), "ltr"), book: book}
	l.script = p.file(scriptKind, l.phrases(all.sources))
	l.layOut(p)
	if _, err := l.templates(); err != nil {
		return nil, err
	}
	return l, nil
}

// layOut has the templates read in this language, at the first page.
func (l *Language) layOut(p *Assets) {
	l.templates = sync.OnceValues(func() (*template.Template, error) { return l.parse(p) })
}

func (l *Language) parse(p *Assets) (*template.Template, error) {
	templates := template.New("").Funcs(template.FuncMap{
		"show":  legible.Text,
		"mixed": Mixed, "mixedin": MixedIn,
		"say":   l.marked,
		"told":  l.told,
		"plain": l.Say,
		"stamp": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"style": p.style,
		"script": func(name string) (template.HTML, error) {
			text, err := p.script(name)
			if l.book == nil {
				return text, err
			}
			return template.HTML(`<link rel="modulepreload" href="/page/`+l.scriptName()+"\">\n") + text, err //nolint:gosec // a name of our own
		},
	})
	names, err := fs.Glob(embedded, "assets/*.html")
	if err != nil {
		return nil, fmt.Errorf("its templates: %w", err)
	}
	for _, name := range names {
		source, err := embedded.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("its templates: %w", err)
		}
		if _, err := templates.New(path.Base(name)).Parse(l.source(string(source))); err != nil {
			return nil, fmt.Errorf("a template in %s: %w", l.Tag, err)
		}
	}
	return templates, nil
}

// source is the source of a template in this language.
func (l *Language) source(text string) string {
	if l.book == nil {
		return text
	}
	text = strings.ReplaceAll(text, `<html lang="en"`, `<html lang="`+l.Tag+`" dir="`+l.Direction+`"`)
	return translated(text, l.Say)
}

// spoken is a sentence of a script, which asks for it in the page's language.
var spoken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\btr\(\s*("(?:[^"\\]|\\.)*")`)
})

// scriptName is the name of the script with what scripts say in this language.
func (l *Language) scriptName() string { return scriptPrefix + l.Tag + scriptExt }

const (
	scriptPrefix = "phrases."
	scriptExt    = ".js"
	scriptKind   = "text/javascript; charset=utf-8"
)

// phrases is a script with the translations of what scripts say.
func (l *Language) phrases(scripts []byte) []byte {
	said := map[string]string{}
	for _, found := range spoken().FindAllSubmatch(scripts, -1) {
		var english string
		if json.Unmarshal(found[1], &english) == nil {
			said[english] = l.Say(english)
		}
	}
	raw, err := json.Marshal(said, json.Deterministic(true))
	if err != nil {
		return []byte("export default {};\n") // cannot happen: it is text alone
	}
	return append(append([]byte("export default "), raw...), ";\n"...)
}

// Render fills a template; half a page is never sent.
func (l *Language) Render(name string, data any) ([]byte, error) {
	templates, err := l.templates()
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return b.Bytes(), nil
}

// Say translates one of the house's sentences; one without a translation stays as it is.
func (l *Language) Say(text string) string {
	if l.book == nil || text == "" {
		return text
	}
	said, _ := l.book.Say(text)
	return said
}

// Announcers is the translation of what an announcer says of its own; that of English is none.
func (l *Language) Announcers() announce.Translation {
	if l.book == nil {
		return announce.Translation{}
	}
	return announce.Translation{Language: l.Tag, Say: l.book.Say}
}

// Notice says a notice in this language.
func (l *Language) Notice(n Notice) Notice {
	n.Text = l.Say(n.Text)
	n.Rows = slices.Clone(n.Rows)
	for i := range n.Rows {
		n.Rows[i].Text = l.Say(n.Rows[i].Text)
	}
	return n
}

// marked is Say for the page, where what stays English is marked as English.
func (l *Language) marked(text any) template.HTML {
	written := template.HTMLEscapeString(fmt.Sprint(text))
	if l.book == nil || written == "" {
		return template.HTML(written) //nolint:gosec // escaped above
	}
	said, ok := l.book.Say(fmt.Sprint(text))
	if ok {
		return template.HTML(template.HTMLEscapeString(said)) //nolint:gosec // escaped here
	}
	return template.HTML(`<span lang="en" dir="ltr">` + written + `</span>`) //nolint:gosec // escaped above
}

// told is a sentence for the page, whose values stay as they are and are set apart from it. What stays English of it is marked as English.
func (l *Language) told(s legible.Sentence) template.HTML {
	said, ok := s.Form, true
	if l.book != nil {
		said, ok = l.book.Form(s.Form)
	}
	text := func(piece string) string {
		if len(s.Values) > 0 {
			return template.HTMLEscapeString(strings.ReplaceAll(piece, "%%", "%"))
		}
		return template.HTMLEscapeString(legible.Line(piece)) // it may be a library's
	}
	written := phrasebook.Fill(said, text, func(n int) string {
		if n >= len(s.Values) {
			return ""
		}
		switch value := s.Values[n].(type) {
		case legible.Sentence:
			return string(l.told(value))
		case string:
			return `<bdi lang="">` + template.HTMLEscapeString(value) + `</bdi>`
		default:
			return template.HTMLEscapeString(fmt.Sprint(value))
		}
	})
	if !ok {
		written = `<span lang="en" dir="ltr">` + written + `</span>`
	}
	return template.HTML(written) //nolint:gosec // each part of it is escaped
}
