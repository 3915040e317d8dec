package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// tables makes tables of the paragraphs that are ones, as GitHub's Markdown has them. goldmark has the same in a package that
// compiles the expressions of all its extensions at each start of the program.
type tables struct{}

// Transform puts a table in the place of the lines of a paragraph from the one before a line of dashes on.
func (tables) Transform(p *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, lines := reader.Source(), p.Lines()
	for i := 1; i < lines.Len(); i++ {
		rule := lines.At(i)
		columns := columnsOf(rule.Value(source))
		if columns == 0 {
			continue
		}
		head := cellsOf(lines.At(i-1), source)
		if len(head) > columns {
			return
		}
		table := extast.NewTable()
		table.AppendChild(table, extast.NewTableHeader(row(head, columns)))
		for j := i + 1; j < lines.Len(); j++ {
			table.AppendChild(table, row(cellsOf(lines.At(j), source), columns))
		}
		p.Parent().InsertAfter(p.Parent(), p, table)
		lines.SetSliced(0, i-1)
		if i == 1 {
			p.Parent().RemoveChild(p.Parent(), p)
			return
		}
		last := lines.At(i - 2)
		lines.Set(i-2, last.TrimRightSpace(source))
		return
	}
}

// columnsOf returns how many columns a line of dashes rules, such as | --- | :-: |, or 0 if it is another line.
func columnsOf(line []byte) int {
	if width, _ := util.IndentWidth(line, 0); width > 3 || len(bytes.Trim(line, "-")) == 0 {
		return 0
	}
	columns := bytes.Split(line, []byte("|"))
	if util.IsBlank(columns[0]) {
		columns = columns[1:]
	}
	if last := len(columns) - 1; last >= 0 && util.IsBlank(columns[last]) {
		columns = columns[:last]
	}
	for _, column := range columns {
		dashes := bytes.TrimSuffix(bytes.TrimPrefix(bytes.Trim(column, " \t\r\n\f"), []byte(":")), []byte(":"))
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return 0
		}
	}
	return len(columns)
}

// cellsOf returns what stands between the bars of a line. A bar behind a backslash parts nothing.
func cellsOf(line text.Segment, source []byte) []text.Segment {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	from, to := line.Start, line.Stop
	if from < to && source[from] == '|' {
		from++
	}
	if from < to && source[to-1] == '|' {
		to--
	}
	var cells []text.Segment
	for from < to {
		end := from
		for end < to && (source[end] != '|' || end > from && source[end-1] == '\\') {
			end++
		}
		cell := text.NewSegment(from, end)
		cell = cell.TrimLeftSpace(source)
		cells = append(cells, cell.TrimRightSpace(source))
		from = end + 1
	}
	return cells
}

// row returns a row with as many cells as there are columns.
func row(cells []text.Segment, columns int) *extast.TableRow {
	row := extast.NewTableRow(nil)
	for i := range columns {
		cell := extast.NewTableCell()
		if i < len(cells) {
			cell.Lines().Append(cells[i])
		}
		row.AppendChild(row, cell)
	}
	return row
}

// inCell reports whether a node stands in a cell of a table.
func inCell(n ast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n.Kind() == extast.KindTableCell {
			return true
		}
	}
	return false
}
