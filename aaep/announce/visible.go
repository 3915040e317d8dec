package announce

import (
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// sentence makes an event's readable text fit to be said: on one line, with what cannot
// be seen named, not longer than [MaxText], and ended.
func sentence(text, language string) string {
	text = legible.Shorten(legible.Line(text), MaxText)
	if text == "" || !isEnglish(language) || ended(text) {
		return text
	}
	return text + "."
}

// ended reports whether a text ends as a sentence does, closing marks aside.
func ended(text string) bool {
	text = strings.TrimRight(text, string(legible.PopIsolate)+"”’\"')»")
	r, _ := utf8.DecodeLastRuneInString(text)
	return strings.ContainsRune(".!?…:;", r)
}

// shown is a foreign value inside a sentence, on one line, with every hidden character
// named.
func shown(value string, most int) string {
	if value = oneBlank(value); value == "" {
		return ""
	}
	return legible.Shorten(legible.Value(value), most)
}

// oneBlank joins words with one blank each.
func oneBlank(text string) string { return strings.Join(strings.Fields(text), " ") }

// nameText writes a name. One of plain letters stands for itself; any other is quoted
// and isolated, so that it cannot be taken for a sentence.
func nameText(name string) string {
	plain := name != "" && len(name) <= maxName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+-") == ""
	if plain {
		return name
	}
	return "“" + shown(name, maxName) + "”"
}
