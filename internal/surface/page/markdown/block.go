package markdown

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// block writes a block. What is not on the list is written without its element.
func (r *renderer) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Paragraph:
		r.in("p", n)
	case *ast.Heading:
		r.in(r.headingElement(n.Level), n)
	case *ast.Blockquote:
		r.in("blockquote", n)
	case *ast.List:
		r.list(n)
	case *ast.ListItem:
		r.in("li", n)
	case *ast.ThematicBreak:
		r.out.WriteString("<hr>")
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		r.code(lines(n, r.source))
	case *ast.HTMLBlock:
		r.out.WriteString(`<p dir="auto">`)
		r.text(strings.TrimSpace(htmlText(n, r.source)))
		r.out.WriteString("</p>")
	case *extast.Table:
		r.table(n)
	default: // the document, the lines of a tight list
		r.children(n)
	}
}

func (r *renderer) list(n *ast.List) {
	switch {
	case !n.IsOrdered():
		r.in("ul", n)
	case n.Start == 1:
		r.in("ol", n)
	default:
		r.out.WriteString(`<ol start="` + strconv.Itoa(n.Start) + `">`)
		r.children(n)
		r.out.WriteString("</ol>")
	}
}

// code writes a block of code. Its button is hidden until a script has given it something to do.
func (r *renderer) code(text string) {
	r.codes++
	r.out.WriteString(`<div class="code"><pre dir="ltr"><code>`)
	r.out.WriteString(template.HTMLEscapeString(legible.Source(text)))
	r.out.WriteString(`</code></pre><button type="button" lang="en" dir="ltr" class="quiet" data-copy hidden>Copy code <span class="unseen">`)
	r.out.WriteString(strconv.Itoa(r.codes) + "</span></button></div>")
}

// table writes a table: a head of one row, and a body where there is one.
func (r *renderer) table(n *extast.Table) {
	r.out.WriteString("<table>")
	body := false
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		if _, head := row.(*extast.TableHeader); head {
			r.out.WriteString("<thead>")
			r.row(row, "th")
			r.out.WriteString("</thead>")
			continue
		}
		if !body {
			r.out.WriteString("<tbody>")
			body = true
		}
		r.row(row, "td")
	}
	if body {
		r.out.WriteString("</tbody>")
	}
	r.out.WriteString("</table>")
}

func (r *renderer) row(n ast.Node, cell element) {
	r.out.WriteString("<tr>")
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.HasChildren() {
			r.in(cell, c)
		} else {
			r.in("td", c) // an empty cell heads nothing
		}
	}
	r.out.WriteString("</tr>")
}

// lines is the text of a block that has no other structure than lines.
func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	all := n.Lines()
	for i := range all.Len() {
		line := all.At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}

// htmlText is the text of HTML, with the line that closes it.
func htmlText(n *ast.HTMLBlock, source []byte) string {
	if !n.HasClosure() {
		return lines(n, source)
	}
	return lines(n, source) + string(n.ClosureLine.Value(source))
}
