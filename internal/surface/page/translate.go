package page

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// translated replaces what a template's source says: the text between its tags, and the attributes that are read out. A piece of text
// reaches from one tag or control action, such as {{if}}, to the next, and keeps the values in it, such as {{.Number}}: that is what
// a catalogue translates. White space around it stays.
func translated(source string, say func(string) string) string {
	var out strings.Builder
	code := false // within <code>: a command stays as it is
	for source != "" {
		token, kind := nextToken(source)
		source = source[len(token):]
		switch {
		case kind == tagToken:
			code = strings.HasPrefix(token, "<code") || code && !strings.HasPrefix(token, "</code")
			token = readOut().ReplaceAllStringFunc(token, func(attribute string) string {
				parts := readOut().FindStringSubmatch(attribute)
				return parts[1] + saidAs(parts[2], say) + `"`
			})
		case kind == textToken && !code:
			token = saidAs(token, say)
		}
		out.WriteString(token)
	}
	return out.String()
}

// readOut is an attribute whose value is read out or shown.
var readOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`( (?:aria-label|label|title|placeholder|data-said)=")([^"]*)"`)
})

// saidAs translates a piece of text, without the white space around it.
func saidAs(text string, say func(string) string) string {
	core := strings.TrimSpace(text)
	if !speaks(core) {
		return text
	}
	before, after, _ := strings.Cut(text, core)
	return before + say(core) + after
}

// speaks reports whether a piece of text has words of a language, outside of its values.
func speaks(text string) bool {
	rest := valueAction().ReplaceAllString(text, "")
	if strings.Contains(rest, `="`) || strings.HasPrefix(rest, "-") { // an attribute, or a part of its value
		return false
	}
	rest = strings.ReplaceAll(strings.ReplaceAll(rest, "Earshot", ""), "&amp;", "")
	return strings.ContainsFunc(rest, unicode.IsLetter)
}

var (
	valueAction = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\{\{.*?\}\}`)
	})
	// control is an action that ends a piece of text.
	control = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\{\{-? *(?:if|else|end|range|with|template|define|block|/\*|\$\w+ *:=)`)
	})
)

type tokenKind int

const (
	textToken tokenKind = iota
	tagToken
	controlToken
)

// nextToken is the beginning of a source, which is not empty, up to where another kind begins.
func nextToken(source string) (string, tokenKind) {
	switch {
	case source[0] == '<':
		return source[:endOfTag(source)], tagToken
	case control().MatchString(source):
		return source[:endOfAction(source)], controlToken
	}
	end := 0
	for end < len(source) && source[end] != '<' && !control().MatchString(source[end:]) {
		if strings.HasPrefix(source[end:], "{{") {
			end += endOfAction(source[end:])
			continue
		}
		end++
	}
	return source[:end], textToken
}

// endOfTag is behind the tag that a source begins with.
func endOfTag(source string) int {
	for i := 0; i < len(source); i++ {
		switch {
		case strings.HasPrefix(source[i:], "{{"):
			i += endOfAction(source[i:]) - 1
		case source[i] == '>':
			return i + 1
		}
	}
	return len(source)
}

// endOfAction is behind the action that a source begins with.
func endOfAction(source string) int {
	if i := strings.Index(source, "}}"); i >= 0 {
		return i + len("}}")
	}
	return len(source)
}
