package settings

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// lineOf is the form of what the YAML reader says.
var lineOf = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
})

// syntaxError is what the YAML reader says, in words for the author of the file.
func syntaxError(err error) error {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if match := lineOf().FindStringSubmatch(err.Error()); match != nil {
		line, _ = strconv.Atoi(match[1]) // the pattern lets only digits through
		text = match[2]
	}
	for _, row := range syntax() {
		if strings.Contains(text, row.contains) {
			return &Error{Line: line, Found: row.found, Expected: row.expected}
		}
	}
	return &Error{Line: line, Found: "it is not written as YAML"}
}

type syntaxRow struct{ contains, found, expected string }

// syntax is what the YAML reader may say, the more particular first.
func syntax() []syntaxRow {
	return []syntaxRow{
		{"mapping values are not allowed", "there is a colon where none can stand", "a text with a colon in quotes, and names that belong together indented alike"},
		{"could not find expected ':'", "a name stands there without a colon", "`name: value`, or a text in quotes"},
		{"did not find expected '-'", "the list is not indented alike", "each item under the one before, behind a dash"},
		{"did not find expected ',' or", "a list or names in brackets do not end, or lack a comma", "[a, b] or {name: value}"},
		{"did not find expected key", "it is not indented like what it belongs to, or a text in it needs quotes", "names that belong together indented alike"},
		{"did not find expected node content", "a value is missing, or a list does not end", "a value behind the colon or the dash"},
		{"cannot start any token", "a text begins with a character that cannot begin one, such as a tab, % or @", "spaces to indent, and such a text in quotes"},
		{"tab character", "it is indented with a tab", "spaces"},
		{"unexpected end of stream", "a text in quotes does not end", "the quote that closes it"},
		{"unknown escape character", "a backslash in double quotes means nothing there", "single quotes, or two backslashes"},
		{"unknown anchor", "it uses an anchor or an alias (& or *)", "the value itself, written out"},
		{"control characters", "it holds control characters", "text in UTF-8"},
		{"UTF-8", "it holds bytes that are not text", "text in UTF-8"},
		{"invalid trailing", "it holds bytes that are not text", "text in UTF-8"},
		{"excessive", "it repeats too much by aliases", "the values themselves, written out"},
		{"exceeded max depth", "it is nested too deep", "at most 64 levels"},
	}
}
