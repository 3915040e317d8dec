package producer

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
)

// The most bytes of what a session here is called, of a summary at its end, and of the reason of a hand-over.
const (
	maxLabel   = 80
	maxSummary = 1000
	maxReason  = 4096
)

// invoked says what the producer has begun.
func invoked(p aaep.ToolInvoked) string {
	text := cmp.Or(strings.TrimSpace(p.SummaryNormal), "It uses "+p.Tool+".")
	switch {
	case p.Irreversible:
		text = joined(text, "It cannot be undone.")
	case p.RiskLevel == aaep.RiskHigh:
		text = joined(text, "The risk is high.")
	}
	return text
}

// completed says how it has ended.
func completed(p aaep.ToolCompleted) string {
	text := strings.TrimSpace(p.SummaryNormal)
	if text == "" {
		text = map[aaep.ToolStatus]string{aaep.ToolSuccess: "Done: ", aaep.ToolTimeout: "Out of time: "}[p.Status]
		text = cmp.Or(text, "Failed: ") + p.Tool + "."
	}
	if p.Status != aaep.ToolSuccess {
		text = joined(text, p.ErrorMessage)
	}
	return text
}

// joined are two sentences.
func joined(a, b string) string {
	if b = strings.TrimSpace(b); b == "" {
		return a
	}
	a = strings.TrimSpace(a)
	if a != "" && !strings.ContainsAny(a[len(a)-1:], ".!?:;") {
		a += "."
	}
	return strings.TrimSpace(a + " " + b)
}

// shortened returns a text of at most so many bytes, which says so if something is left out.
func shortened(text string, most int) string {
	const mark = " … (shortened)"
	text = strings.ToValidUTF8(text, "�")
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
	var all []string
	for len(text) > most {
		head := cut(text, most)
		all, text = append(all, head), text[len(head):]
	}
	return append(all, text)
}
