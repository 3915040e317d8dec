package acp

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readBlock reads a block of content. One that cannot be read is empty.
func readBlock(raw jsontext.Value) block {
	var b block
	if len(raw) == 0 || json.Unmarshal(raw, &b) != nil {
		return block{}
	}
	return b
}

// words returns the text of a block, or what it is if it has none.
func (b block) words() string {
	switch b.Type {
	case "text":
		return b.Text
	case "image":
		return "[an image]"
	case "audio":
		return "[a recording]"
	case "resource_link":
		return "[" + cmp.Or(b.Name, b.URI) + "]"
	case "resource":
		return cmp.Or(b.Resource.Text, "["+b.Resource.URI+"]")
	}
	return ""
}

// shortened returns a text of at most so many bytes, which says so if something is left out.
func shortened(text string, most int) string {
	const mark = " … (shortened)"
	if len(text) <= most {
		return text
	}
	return cut(text, most-len(mark)) + mark
}

// cut returns the beginning of a text, at most so many bytes, that does not end within a character.
func cut(text string, most int) string {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// pieces cuts a text into pieces of at most so many bytes.
func pieces(text string, most int) []string {
	text = strings.ToValidUTF8(text, "�")
	var all []string
	for len(text) > most {
		head := cut(text, most)
		all, text = append(all, head), text[len(head):]
	}
	return append(all, text)
}
