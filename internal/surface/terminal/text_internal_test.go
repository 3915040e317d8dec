package terminal

import (
	"strings"
	"testing"

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
		{"long word", "File: abcdefghijklmnopqrstuvwxyz end", 20, []string{"File:", "  abcdefghijklmnopqrstuvwxyz", "  end"}},
		{"path", "In /home/ada/写真/2026/holiday now", 20, []string{"In", "  /home/ada/写真/2026/holiday", "  now"}},
		{"address", "See https://example.org/a/b?c=d.", 20, []string{"See", "  https://example.org/a/b?c=d."}},
		{"code", "Output: Do\n    if x { y } // and so on\nend", 20, []string{"Output: Do", "    if x { y } // and so on", "  end"}},
		{"wide", "Done: 日本語の長い文章がここにあります", 20, []string{"Done: 日本語の長い文", "  章がここにあります"}},
		{"marks", "aaaaaaaaaaaaaaaaaa e\u0301b", 20, []string{"aaaaaaaaaaaaaaaaaa", "  e\u0301b"}},
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
			used, wide := 0, false
			for _, c := range clusters(line) {
				used += c.columns
				wide = wide || c.columns > 1
			}

			word := strings.Trim(line, " \u2066\u2068\u2069")
			whole := !strings.Contains(word, " ") && !wide || isCode(line)

			if used > columns && !whole || (i > 0 && line != "" && !strings.HasPrefix(line, hanging)) {
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
