package worker

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
)

func TestCuts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", api.AgentTextLimit)
	for _, tt := range []struct {
		text           string
		sentence, word int
	}{
		{"", 0, 0},
		{"One", 0, 0},
		{"One.", 0, 0},
		{"One. ", 5, 5},
		{"One. Two", 5, 5},
		{"One. Two! Three", 10, 10},
		{"3.14 is", 0, 5},
		{"He said \"No.\" And", 14, 14},
		{"a b c", 0, 4},
		{"A line\n\nand", 8, 8},
		{"好。再", 0, 6},
		{"e\u0301e", 0, 0},
		{"か\u3099き", 0, 0}, // the mark belongs to the letter before it
		{"かき", 0, 3},
		{long + ". More", 0, 0},
		{long[:api.AgentTextLimit-3] + "好好", 0, 0}, // the limit cuts a character
		{"word " + long, 0, 5},
	} {
		if got := sentenceCut(tt.text); got != tt.sentence {
			t.Errorf("%.20q: a sentence ends at %d; want %d", tt.text, got, tt.sentence)
		}
		if got := wordBoundary(tt.text); got != tt.word {
			t.Errorf("%.20q: a word ends at %d; want %d", tt.text, got, tt.word)
		}
		if n := anyCut(tt.text); n > api.AgentTextLimit || !utf8.ValidString(tt.text[:n]) || n == 0 && tt.text != "" {
			t.Errorf("%.20q: cut at %d", tt.text, n)
		}
	}
}
