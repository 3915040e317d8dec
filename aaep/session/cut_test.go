package session_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

// TestCut: the strongest boundary in the second half of the room, and never inside a character of a reader.
func TestCut(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		text     string
		room     int
		first    string
		boundary aaep.CoalesceHint
	}{
		"paragraph before sentence": {"One two.\n\nThree. Four five six seven", 20, "One two.\n\nThree. ", aaep.BoundarySentence},
		"paragraph":                 {"One two three.\n\nFour. five six seven", 20, "One two three.\n\n", aaep.BoundaryParagraph},
		"sentence before word":      {"One two three. four five", 20, "One two three. ", aaep.BoundarySentence},
		"of another script":         {"एक दो। तीन चार पाँच छह", 24, "एक दो। ", aaep.BoundarySentence},
		"word":                      {"one two three four five", 16, "one two three ", aaep.BoundaryWord},
		"none":                      {strings.Repeat("a", 40), 16, strings.Repeat("a", 15), aaep.BoundaryNone},
		"less room than it takes":   {"ééé", 1, "é", aaep.BoundaryNone},
		"a cluster stays whole":     {"aaaaaaaaaaaae\u0301bbbb", 14, "aaaaaaaaaaaa", aaep.BoundaryNone},
	} {
		n, boundary := session.Cut(row.text, row.room)
		if row.text[:n] != row.first || boundary != row.boundary {
			t.Errorf("%s: %q at %s, want %q at %s", name, row.text[:n], boundary, row.first, row.boundary)
		}
	}
}

func TestEndOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]aaep.CoalesceHint{
		"One.\n\n": aaep.BoundaryParagraph, "One. ": aaep.BoundarySentence, "一。": aaep.BoundarySentence, "One.": aaep.BoundaryNone,
		"one ": aaep.BoundaryWord, "one": aaep.BoundaryNone, "": aaep.BoundaryNone,
	} {
		if got := session.EndOf(text); got != want {
			t.Errorf("%q ends at %s, want %s", text, got, want)
		}
	}
}
