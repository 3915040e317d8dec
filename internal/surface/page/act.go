package page

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// maxAct is how many characters the name of a button may have.
const maxAct = 32

// act is what an action does, in the few words that name a button: "Delete 15 files" of "Delete 15 files under /photos,
// and keep one copy." The whole sentence stands above the button. It ends where quoted words of others begin, and before
// where, to whom and with what. It is "" where nothing short is left that says it. It takes English: of another language nothing is cut.
func act(action string) string {
	text := strings.TrimSuffix(action, ".")
	for _, end := range []string{string(isolate), ", ", ". ", "; ", ": ", " (", "“"} {
		text, _, _ = strings.Cut(text, end)
	}
	words := strings.Fields(text)
	if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(prepositions, w) }); i >= 0 {
		words = words[:i]
	}
	text = strings.Join(words, " ")
	if len(words) < 2 || utf8.RuneCountInString(text) > maxAct || slices.Contains(unfinished, words[len(words)-1]) {
		return ""
	}
	return text
}

var (
	prepositions = []string{"at", "by", "for", "from", "in", "into", "of", "on", "to", "under", "with"} //nolint:gochecknoglobals // a table
	// unfinished are words after which something has to follow.
	unfinished = []string{"a", "an", "and", "its", "named", "or", "own", "the", "tool", "use"} //nolint:gochecknoglobals // a table
)
