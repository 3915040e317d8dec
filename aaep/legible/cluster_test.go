package legible_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// TestJoined has one row for each way in which characters of a reader are made of
// several code points, and one for each that looks like it and is not (I18N-21, I18N-29). The
// bar is where the cut would be.
func TestJoined(t *testing.T) {
	t.Parallel()
	joined := []string{
		"e|\u0301", "\u0915|\u093F", "\u0E01|\u0E33", "\u0600|1", "a|\u200D", "a|\u200C", "\r|\n", "\u2764|\uFE0F", "👍|🏽", "\U0001F3F4|\U000E0067",
		"🇩|🇪", "🇩🇪🇫|🇷", "👩\u200D|💻", "👩🏽\u200D|💻", "\u0915\u094D|\u0937", "\u0915\u094D\u200D|\u0937",
		"\u1100|\u1161", "\u1100|\uAC00", "\uAC00|\u11A8", "\uAC01|\u11A8", "\u1161|\u11A8", "\u11A8|\u11A8", "\uFFFD|\u0301",
	}
	apart := []string{
		"a|b", "|a", "a|", "\n|\r", "\n|\u0301", "\r|a", "é|e", "🇩🇪|🇫", "👩|💻", "a\u200D|💻", "👩\u200D\u200D|💻", "\u0915|\u0937",
		"\u0915\u094D\u200C|\u0937", "\u094D|\u0937", "\uAC00|\u1100", "\u11A8|\u1161", "\u102B|a", "a|\u102B", "a|\u200B", "\u200B|\u0301", "字|字", "a|👍",
	}
	for want, rows := range map[bool][]string{true: joined, false: apart} {
		for _, row := range rows {
			before, after, _ := strings.Cut(row, "|")
			if got := legible.Joined(before, after); got != want {
				t.Errorf("Joined(%+q, %+q) = %t", before, after, got)
			}
		}
	}
}

// TestWhole: the last cut at or before a place, never inside a character.
func TestWhole(t *testing.T) {
	t.Parallel()
	family := "👨\u200D👩\u200D👧"
	for _, c := range []struct {
		text string
		end  int
		want int
	}{
		{"abc", 2, 2}, {"abc", 9, 3}, {"abc", -1, 0}, {"añb", 2, 1}, {"ae\u0301", 2, 1}, {"x" + family, 6, 1}, {family, 6, 0}, {family + "x", len(family), len(family)}, {"a\r\n", 2, 1},
	} {
		if got := legible.Whole(c.text, c.end); got != c.want {
			t.Errorf("Whole(%+q, %d) = %d, want %d", c.text, c.end, got, c.want)
		}
	}
}
