package terminal

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep/legible"
)

func TestWrap(t *testing.T) {
	t.Parallel()

	cases := []struct {
		name  string
		text  string
		width int
		want  []string
	}{
		{"fits", "Done: all good.", 20, []string{"Done: all good."}},
		{"words", "Tool: look for files in the folder", 20, []string{"Tool: look for files", "  in the folder"}},
		{"paragraphs", "Output: one\nRecorded: two", 20, []string{"Output: one", "  Recorded: two"}},
		{"long word", "File: abcdefghijklmnopqrstuvwxyz", 20, []string{"File: abcdefghijklmn", "  opqrstuvwxyz"}},
		{"wide", "Done: 日本語の長い文章がここにあります", 20, []string{"Done: 日本語の長い文", "  章がここにあります"}},
		{"marks", "aaaaaaaaaaaaaaaaaaae\u0301b", 20, []string{"aaaaaaaaaaaaaaaaaaae\u0301", "  b"}},
		{"emoji", "aaaaaaaaaaaaaaaaaaa👨\u200d👩\u200d👧", 20, []string{"aaaaaaaaaaaaaaaaaaa", "  👨\u200d👩\u200d👧"}},
		{"flags", "aaaaaaaaaaaaaaaaa🇩🇪🇫🇷", 20, []string{"aaaaaaaaaaaaaaaaa🇩🇪", "  🇫🇷"}},
		{"jamo", "aaaaaaaaaaaaaaaaaaa\u1112\u1161\u11ab", 20, []string{"aaaaaaaaaaaaaaaaaaa", "  \u1112\u1161\u11ab"}},
		{"isolate over a break", "In \u2068a folder with words\u2069 here", 20, []string{"In \u2068a folder with\u2069", "  \u2068words\u2069 here"}},
		{"too narrow", "Tool: look for files", 3, []string{"Tool: look for files"}},
		{"empty", "", 20, []string{""}},
	}
	for _, c := range cases {
		if got := wrap(c.text, c.width); strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWrapKeepsEverything shows that wrapping loses nothing, keeps to the width
// and begins no line but the first at the margin.
func TestWrapKeepsEverything(t *testing.T) {
	t.Parallel()

	letters := []rune("ab .-é\u0301日한\U0001f1e9\U0001f468\u200d\u2066\u2069\u2068אب\n")

	rapid.Check(t, func(t *rapid.T) {
		in := legible.Text(rapid.StringOf(rapid.RuneFrom(letters)).Draw(t, "text"))
		columns := rapid.IntRange(20, 60).Draw(t, "columns")
		lines := wrap(in, columns)

		for i, line := range lines {
			used := 0
			for _, c := range clusters(line) {
				used += c.columns
			}

			if used > columns || (i > 0 && line != "" && !strings.HasPrefix(line, hanging)) {
				t.Fatalf("line %d of %q fills %d of %d: %q", i, in, used, columns, line)
			}
		}

		if bare(strings.Join(lines, "")) != bare(in) {
			t.Fatalf("%q became %q", in, lines)
		}
	})
}

// bare leaves only what wrapping must keep.
func bare(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \n\u2066\u2067\u2068\u2069", r) {
			return -1
		}

		return r
	}, text)
}

func TestAmounts(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	zone := time.FixedZone("east", 2*3600)

	for got, want := range map[string]string{
		legible.Grouped(0): "0", legible.Grouped(999): "999", legible.Grouped(-1000): "-1,000", legible.Grouped(1_234_567): "1,234,567",
		legible.Counted(1, "item"): "1 item", legible.Counted(1000, "item"): "1,000 items",
		durationText(-time.Second): "0 seconds", durationText(time.Millisecond): "1 second",
		durationText(5 * time.Minute): "5 minutes", durationText(270 * time.Second): "4 minutes 30 seconds",
		durationText(601 * time.Second): "11 minutes", durationText(24 * time.Hour): "24 hours",
		durationText(90*time.Minute - time.Millisecond): "1 hour 30 minutes",
		momentText(now.Add(time.Minute), now, zone):     "11:01:00", momentText(now.Add(14*time.Hour), now, zone): "22 November 01:00:00",
		percentText(99.99): "99 %", percentText(0): "0 %",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
