package markdown

import (
	"bufio"
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	goldhtml "github.com/yuin/goldmark/renderer/html"
)

// inline writes a part of a line. What is not on the list is written without its element.
func (r *renderer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		r.text(textOf(n, r.source))
		switch {
		case n.HardLineBreak():
			r.out.WriteString("<br>")
		case n.SoftLineBreak():
			r.out.WriteString("\n")
		}
	case *ast.String:
		r.text(string(n.Value))
	case *ast.Emphasis:
		if n.Level == 1 {
			r.in("em", n)
		} else {
			r.in("strong", n)
		}
	case *extast.Strikethrough:
		r.in("del", n)
	case *ast.CodeSpan:
		r.out.WriteString(`<code dir="ltr">`)
		r.text(plain(n, r.source))
		r.out.WriteString("</code>")
	case *ast.RawHTML:
		r.text(string(n.Segments.Value(r.source)))
	case *ast.AutoLink:
		r.link(string(n.Label(r.source)), string(n.URL(r.source)))
	case *ast.Link:
		if to := unescaped(n.Destination); plain(n, r.source) == to {
			r.link(to, to)
		} else {
			r.children(n)
			r.address(to)
		}
	case *ast.Image:
		r.out.WriteString("Image: ")
		r.text(plain(n, r.source))
		r.address(unescaped(n.Destination))
	default:
		r.children(n)
	}
}

// textOf is the text that a node stands for: without the signs that say that other signs mean nothing.
func textOf(n *ast.Text, source []byte) string {
	if n.IsRaw() {
		code := string(n.Value(source))
		if strings.Contains(code, `\|`) && inCell(n) {
			return strings.ReplaceAll(code, `\|`, "|")
		}
		return code
	}
	return unescaped(n.Value(source))
}

// unescaped resolves the escapes and the character references of Markdown.
func unescaped(of []byte) string {
	var b strings.Builder
	w := bufio.NewWriter(&b)
	goldhtml.DefaultWriter.Write(w, of)
	_ = w.Flush() // a Builder takes everything
	return html.UnescapeString(b.String())
}

// plain is all text in a node, without elements.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(textOf(n, source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.RawHTML:
			b.Write(n.Segments.Value(source))
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.HTMLBlock:
			b.WriteString(htmlText(n, source))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			b.WriteString(lines(n, source))
		case *ast.ListItem, *ast.Paragraph:
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
