package listen

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestVisible(t *testing.T) {
	t.Parallel()

	cases := []struct{ name, in, text, value string }{
		{"plain", "a b", "a b", "\u2068a b\u2069"},
		{"escape", "a\x1b[31mb", "a<U+001B>[31mb", "\u2068a<U+001B>[31mb\u2069"},
		{"bell and C1", "\a\u009b", "<U+0007><U+009B>", "\u2068<U+0007><U+009B>\u2069"},
		{"line break", "a\nb", "a\nb", "\u2068a<U+000A>b\u2069"},
		{"carriage return", "a\r\nb\rc", "a\nb<U+000D>c", "\u2068a<U+000D><U+000A>b<U+000D>c\u2069"},
		{"tab", "a\tb", "a b", "\u2068a<U+0009>b\u2069"},
		{"override", "a\u202eb", "a<U+202E>b", "\u2068a<U+202E>b\u2069"},
		{"paired isolate", "\u2068a\u2069", "\u2068a\u2069", "\u2068<U+2068>a<U+2069>\u2069"},
		{"lone isolates", "\u2069a\u2067", "<U+2069>a<U+2067>", "\u2068<U+2069>a<U+2067>\u2069"},
		{"isolate over a line", "\u2068a\nb\u2069", "<U+2068>a\nb<U+2069>", "\u2068<U+2068>a<U+000A>b<U+2069>\u2069"},
		{"invisible", "a\u200b\u00ad\ufeffb\u3164", "a<U+200B><U+00AD><U+FEFF>b<U+3164>", "\u2068a<U+200B><U+00AD><U+FEFF>b<U+3164>\u2069"},
		{"separator", "a\u2028b", "a<U+2028>b", "\u2068a<U+2028>b\u2069"},
		{"tag", "a\U000e0041", "a<U+E0041>", "\u2068a<U+E0041>\u2069"},
		{"persian joiner", "می\u200cخواهم", "می\u200cخواهم", "\u2068می\u200cخواهم\u2069"},
		{"joiner out of place", "a\u200db\u200d", "a\u200db\u200d", "\u2068a<U+200D>b<U+200D>\u2069"},
		{"family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", "\u2068👨\u200d👩\u200d👧\u2069"},
		{"outer spaces", " a  b ", " a  b ", "\u2068<U+0020>a <U+0020>b<U+0020>\u2069"},
		{"forged name", "a<U+001B>", "a<U+001B>", "\u2068a<U+003C>U+001B>\u2069"},
		{"not UTF-8", "a\xffb", "a<0xFF>b", "\u2068a<0xFF>b\u2069"},
		{"combining", "e\u0301", "e\u0301", "\u2068e\u0301\u2069"},
	}
	for _, c := range cases {
		if got := visibleText(c.in); got != c.text {
			t.Errorf("%s: text %q, want %q", c.name, got, c.text)
		}

		if got := visibleValue(c.in); got != c.value {
			t.Errorf("%s: value %q, want %q", c.name, got, c.value)
		}
	}
}

// TestVisibleNeverActs shows that no text reaches the terminal with a control in it.
func TestVisibleNeverActs(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("a \n\x1b\u202e\u2066\u2069\u200d\u0301\u009b")))).Draw(t, "text")
		for _, out := range []string{visibleText(in), visibleValue(in)} {
			for _, r := range out {
				if (r < ' ' && r != '\n') || (r >= 0x7f && r < 0xa0) || (r >= 0x202a && r <= 0x202e) {
					t.Fatalf("%q became %q", in, out)
				}
			}

			if !utf8.ValidString(out) {
				t.Fatalf("%q became %q", in, out)
			}
		}

		if strings.ContainsRune(visibleValue(in), '\n') {
			t.Fatalf("a value breaks the line: %q", in)
		}
	})
}

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
		in := visibleText(rapid.StringOf(rapid.RuneFrom(letters)).Draw(t, "text"))
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
		grouped(0): "0", grouped(999): "999", grouped(-1000): "-1,000", grouped(1_234_567): "1,234,567",
		counted(1, "item"): "1 item", counted(1000, "item"): "1,000 items",
		bytesText(1): "1 byte", bytesText(9_999): "9,999 bytes", bytesText(12_345): "12,345 bytes (12.3 kB)",
		bytesText(999_960): "999,960 bytes (1.0 MB)", bytesText(1 << 62): "4,611,686,018,427,387,904 bytes (4.6 EB)",
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
