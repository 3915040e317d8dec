package markdown

import (
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// strikes reads text that is struck through: between one or two tildes, and as many again.
type strikes struct{}

// Trigger is the sign that a mark begins with.
func (strikes) Trigger() []byte { return []byte("~") }

// Parse returns a mark, which the parser pairs with another, or nothing where there is none.
func (s strikes) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	mark := parser.ScanDelimiter(line, before, 1, s)
	if before == '~' || mark == nil || mark.OriginalLength > 2 {
		return nil
	}
	mark.Segment = segment.WithStop(segment.Start + mark.OriginalLength)
	block.Advance(mark.OriginalLength)
	pc.PushDelimiter(mark)
	return mark
}

// IsDelimiter reports whether a byte belongs to a mark.
func (strikes) IsDelimiter(b byte) bool { return b == '~' }

// CanOpenCloser reports whether two marks are a pair.
func (strikes) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch returns the node for what stands between a pair.
func (strikes) OnMatch(int) ast.Node { return extast.NewStrikethrough() }
