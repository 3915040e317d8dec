package markdown

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// MaxSize is how many bytes of a text are rendered; a longer one stays plain.
	MaxSize = 128 << 10
	// maxDepth is how deep elements stand in each other; what is deeper is shown without its elements.
	maxDepth = 24
	// maxHeading is the last level of a heading in HTML.
	maxHeading = 6
)

// Part is a part of a text, with the language that its author has named and the direction of that language.
type Part struct{ Text, Language, Direction string }

// Render returns a text as HTML whose headings begin at a level, or false where it is better shown as it is: it is too long,
// or nested in a way that nobody writes for a reader. Where it has several parts, each is laid out by itself.
func Render(level int, parts ...Part) (_ template.HTML, ok bool) {
	defer func() {
		if recover() != nil { // a text on which the parser fails must not take the page away, with the questions on it
			ok = false
		}
	}()
	r := &renderer{level: level, heading: level - 1}
	size := 0
	for _, p := range parts {
		if size += len(p.Text); size > MaxSize || tangled(p.Text) {
			return "", false
		}
		if len(parts) > 1 {
			r.out.WriteString(`<div lang="` + template.HTMLEscapeString(p.Language) + `" dir="` + template.HTMLEscapeString(p.Direction) + `">`)
		}
		r.source = []byte(strings.ToValidUTF8(p.Text, "\uFFFD"))
		r.block(newParser().Parse(text.NewReader(r.source)))
		if len(parts) > 1 {
			r.out.WriteString("</div>")
		}
	}
	return template.HTML(r.out.String()), true //nolint:gosec // only open, close and text write, and text escapes
}

// newParser returns goldmark's parser of CommonMark, with tables and strikethrough.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(strikes{}, 500))...),
		parser.WithParagraphTransformers(append(parser.DefaultParagraphTransformers(), util.Prioritized(tables{}, 200))...),
	)
}

// renderer writes a parsed text. A caller calls block once.
type renderer struct {
	out     strings.Builder
	source  []byte
	level   int // of the first headings
	heading int // the level of the last one
	depth   int
	codes   int // blocks of code so far
}

// children writes what stands in a node.
func (r *renderer) children(n ast.Node) {
	if r.depth++; r.depth <= maxDepth {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			r.node(c)
		}
	} else {
		r.text(plain(n, r.source))
	}
	r.depth--
}

func (r *renderer) node(n ast.Node) {
	if n.Type() == ast.TypeInline {
		r.inline(n)
		return
	}
	r.block(n)
}

// in writes an element of the list below with what stands in a node.
func (r *renderer) in(e element, n ast.Node) {
	r.out.WriteString("<" + string(e) + e.attributes() + ">")
	r.children(n)
	r.out.WriteString("</" + string(e) + ">")
}

// text writes text of others.
func (r *renderer) text(of string) { r.out.WriteString(template.HTMLEscapeString(legible.Text(of))) }

// element is an element that may be written, without attributes of the author's.
type element string

// attributes are those that an element always has: the text of each block has a direction of its own.
func (e element) attributes() string {
	switch e {
	case "p", "li", "td", "h1", "h2", "h3", "h4", "h5", "h6":
		return ` dir="auto"`
	case "th":
		return ` scope="col" dir="auto"`
	default:
		return ""
	}
}

// headingElement is the element of a heading of so many signs. No level is left out below the one before: people who move by
// headings would look for it.
func (r *renderer) headingElement(signs int) element {
	r.heading = min(r.level+signs-1, r.heading+1, maxHeading)
	return element("h" + strconv.Itoa(r.heading))
}
