package legible_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/aaep/legible"
)

func TestText(t *testing.T) {
	t.Parallel()

	cases := []struct{ name, in, text, value string }{
		{"plain", "a b", "a b", "a b"},
		{"escape", "a\x1b[31mb", "a<U+001B>[31mb", "a<U+001B>[31mb"},
		{"bell and C1", "\a\u009b", "<U+0007><U+009B>", "<U+0007><U+009B>"},
		{"line break", "a\nb", "a\nb", "a<U+000A>b"},
		{"carriage return", "a\r\nb\rc", "a\nb<U+000D>c", "a<U+000D><U+000A>b<U+000D>c"},
		{"tab", "a\tb", "a b", "a<U+0009>b"},
		{"override", "a\u202eb", "a<U+202E>b", "a<U+202E>b"},
		{"paired isolate", "\u2068a\u2069", "\u2068a\u2069", "<U+2068>a<U+2069>"},
		{"lone isolates", "\u2069a\u2067", "<U+2069>a<U+2067>", "<U+2069>a<U+2067>"},
		{"isolate over a line", "\u2068a\nb\u2069", "<U+2068>a\nb<U+2069>", "<U+2068>a<U+000A>b<U+2069>"},
		{"invisible", "a\u200b\u00ad\ufeffb\u3164", "a<U+200B><U+00AD><U+FEFF>b<U+3164>", "a<U+200B><U+00AD><U+FEFF>b<U+3164>"},
		{"separator", "a\u2028b", "a<U+2028>b", "a<U+2028>b"},
		{"tag", "a\U000e0041", "a<U+E0041>", "a<U+E0041>"},
		{"persian Joiner", "می\u200cخواهم", "می\u200cخواهم", "\u2068می\u200cخواهم\u2069"},
		{"right to left", "תמונות/1", "תמונות/1", "\u2068תמונות/1\u2069"},
		{"digits that turn others round", "a ٣ b", "a ٣ b", "\u2068a ٣ b\u2069"},
		{"accents and ideographs", "né 日本", "né 日本", "né 日本"},
		{"Joiner out of place", "a\u200db\u200d", "a\u200db\u200d", "a<U+200D>b<U+200D>"},
		{"family", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"outer spaces", " a  b ", " a  b ", "<U+0020>a <U+0020>b<U+0020>"},
		{"forged name", "a<U+001B>", "a<U+001B>", "a<U+003C>U+001B>"},
		{"not UTF-8", "a\xffb", "a<0xFF>b", "a<0xFF>b"},
		{"another spelling of a letter", "e\u0301", "e\u0301", "e<U+0301>"},
		{"a run", "a\u200b\u200b\u200bb", "a<U+200B ×3>b", "a<U+200B ×3>b"},
		{"two runs", "\a\a\x1b\x1b", "<U+0007 ×2><U+001B ×2>", "<U+0007 ×2><U+001B ×2>"},
		{"a letter of another script", "p\u0430y", "p\u0430y", "p\u0430<U+0430>y"},
		{"unusual space", "a\u00a0b", "a\u00a0b", "a<U+00A0>b"},
		{"forged byte", "<0xFF>", "<0xFF>", "<U+003C>0xFF>"},
		{"replacement character", "a\ufffd", "a\ufffd", "a<U+FFFD>"},
	}
	for _, c := range cases {
		if got := legible.Text(c.in); got != c.text {
			t.Errorf("%s: text %q, want %q", c.name, got, c.text)
		}

		if got := legible.Value(c.in); got != c.value {
			t.Errorf("%s: value %q, want %q", c.name, got, c.value)
		}
	}
}

// TestNothingActs shows that no text comes out with a control in it.
func TestNothingActs(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		in := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("a \n\x1b\u202e\u2066\u2069\u200d\u0301\u009b")))).Draw(t, "text")
		for _, out := range []string{legible.Text(in), legible.Line(in), legible.Value(in)} {
			for _, r := range out {
				if (r < ' ' && r != '\n') || (r >= 0x7f && r < 0xa0) || (r >= 0x202a && r <= 0x202e) {
					t.Fatalf("%q became %q", in, out)
				}
			}

			if !utf8.ValidString(out) {
				t.Fatalf("%q became %q", in, out)
			}
		}

		if strings.ContainsRune(legible.Value(in), '\n') {
			t.Fatalf("a value breaks the line: %q", in)
		}
	})
}

// TestDifferent: what differs in bytes is shown differently, in a value and in several lines.
func TestDifferent(t *testing.T) {
	t.Parallel()
	text := rapid.OneOf(
		rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("aeé <U+0x2D \n\t\u0301\u200b\u200d\u0430\u2068\u2069\ufffd×3>"))),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte("a<U0x\xff\xfe\xc3\xa9> F")), 0, 8), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if rapid.Bool().Draw(t, "forged") { // anyone who writes what is shown for another
			b = strings.Trim(legible.Value(a), "\u2068\u2069")
		}
		if a != b && (legible.Value(a) == legible.Value(b) || legible.Source(a) == legible.Source(b)) {
			t.Fatalf("%q and %q are both shown as %q", a, b, legible.Value(a))
		}
		if legible.Plain(a) != (legible.Value(a) == a && strings.Trim(a, asciiText()) == "") {
			t.Fatalf("%q is shown as %q", a, legible.Value(a))
		}
	})
}

func asciiText() string {
	var all strings.Builder
	for c := byte(' '); c <= '~'; c++ {
		all.WriteByte(c)
	}
	return all.String()
}

// TestSource: lines stay lines, and what differs in bytes differs to the eye.
func TestSource(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{\n\t\"a\": 1\n}":  "{\n\t\"a\": 1\n}",
		"a\u00a0b":          "a<U+00A0>b",
		"\u2068a\u2069":     "<U+2068>a<U+2069>",
		"a\u200db":          "a<U+200D>b",
		"می\u200cخواهم":     "می\u200cخواهم",
		"a\u3000b\u202fc":   "a\u3000b<U+202F>c",
		"  a  b ":           "  a  b ",
		"p\u0430y <U+0041>": "p\u0430<U+0430>y <U+003C>U+0041>",
		"a\r\nb":            "a<U+000D>\nb",
	} {
		if got := legible.Source(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestShorten cuts at words, keeps letters whole and closes what the cut left open.
func TestShorten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		most int
		want string
	}{
		{"short", 10, "short"},
		{"a few words in a row", 12, "a few words…"},
		{"onelongwordwithoutanyblank", 10, "onelongwor…"},
		{"cafe\u0301s are here", 4, "caf…"},
		{"see \u2068a long path name\u2069 there", 14, "see \u2068a long…\u2069"},
		{"see \u2068alongpathname\u2069 there", 14, "see \u2068alongpath…\u2069"},
		{"a few words\tin a row", 13, "a few words…"},
		{"a few words in a row", 11, "a few words…"},
		{"two 👩\u200d👧", 6, "two…"},
		{"flags 🇩🇪🇫🇷", 7, "flags…"},
		{"none at all", 0, "…"},
		{"none at all", -1, "…"},
	} {
		if got := legible.Shorten(c.in, c.most); got != c.want {
			t.Errorf("%q cut to %d: %q, want %q", c.in, c.most, got, c.want)
		}
	}
}

// TestCapital: the first character as a reader sees it, and nothing else.
func TestCapital(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "a": "A", "answer it": "Answer it", "already UP": "Already UP", "Up": "Up", "1 file": "1 file",
		"éa": "Éa", "e\u0301a": "E\u0301a", "ǆ is one letter": "ǅ is one letter", "ßa": "Ssa", "ﬁx": "Fix", "\u0390\u03b1": "\u0399\u0308\u0301\u03b1", "日本": "日本",
		"\u2068name\u2069 is gone": "\u2068name\u2069 is gone", "\xffa": "\xffa", "👩\u200d👧 a": "👩\u200d👧 a",
	} {
		if got := legible.Capital(in); got != want {
			t.Errorf("%+q: %+q, want %+q", in, got, want)
		}
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 999: "999 bytes", 1000: "1 kB", 35108: "35.1 kB", 999_949: "999.9 kB", 999_950: "1 MB", -1: "-1 bytes",
	} {
		if got := legible.Size(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		1: "1 byte", 9_999: "9,999 bytes", 12_345: "12,345 bytes (12.3 kB)", 999_960: "999,960 bytes (1 MB)",
		1 << 62: "4,611,686,018,427,387,904 bytes (4.6 EB)",
	} {
		if got := legible.Bytes(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{7: "7", 1234: "1,234", -1234567: "-1,234,567"} {
		if got := legible.Grouped(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got := legible.Counted(1, "line") + ", " + legible.Counted(1000, "line"); got != "1 line, 1,000 lines" {
		t.Error(got)
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 seconds", 400 * time.Millisecond: "0 seconds", time.Second: "1 second", 90 * time.Second: "1 minute 30 seconds", 15 * time.Minute: "15 minutes",
		24 * time.Hour: "1 day", 7 * 24 * time.Hour: "7 days", 25*time.Hour + time.Second: "1 day 1 hour 1 second", -time.Minute: "0 seconds",
	} {
		if got := legible.Duration(d); got != want {
			t.Errorf("%v is written %q, want %q", d, got, want)
		}
	}
}
