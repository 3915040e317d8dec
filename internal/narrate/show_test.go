package narrate_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/earshot-dev/earshot/internal/narrate"
)

// speaker speaks English, with a few messages more.
func speaker(tb testing.TB, more map[string]string) *narrate.Speaker {
	tb.Helper()
	c := narrate.English()
	for key, text := range more {
		c.Messages[key] = narrate.Message{Normal: text}
	}
	s, err := narrate.NewSpeaker(c)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func rendered(tb testing.TB, s *narrate.Speaker, key string, p narrate.Params) string {
	tb.Helper()
	said, err := s.Render(key, p.JSON())
	if err != nil {
		tb.Fatalf("%s: %v", key, err)
	}
	return said["summary_normal"]
}

func TestForeignText(t *testing.T) {
	t.Parallel()
	s := speaker(t, map[string]string{"x": "{v}"})
	tests := []struct{ name, text, want string }{
		{"plain", "/home/anna/a b.txt", "/home/anna/a b.txt"},
		{"an escape sequence", "a\x1b[2Jb", "a<U+001B>[2Jb"},
		{"line breaks and tabs", "a\r\nb\tc", "a<U+000D><U+000A>b<U+0009>c"},
		{"a run is counted", "a\u200b\u200b\u200bb", "a<U+200B ×3>b"},
		{"direction marks", "txt.\u202egpj", "txt.<U+202E>gpj"},
		{"somebody else's isolates", "a\u2069b\u2068c", "a<U+2069>b<U+2068>c"},
		{"our own names", "<U+001B>", "<U+003C>U+001B>"},
		{"spaces at the ends", " a ", "<U+0020>a<U+0020>"},
		{"spaces in a row", "a   b", "a <U+0020 ×2>b"},
		{"unusual spaces", "a\u00a0b\u2003c", "a<U+00A0>b<U+2003>c"},
		{"a space of Chinese text", "一\u3000二", "一\u3000二"},
		{"soft hyphen and byte order mark", "a\u00adb\ufeffc", "a<U+00AD>b<U+FEFF>c"},
		{"tags", "a\U000e0041", "a<U+E0041>"},
		{"private use", "a\ue000", "a<U+E000>"},
		{"invisible letters", "a\u3164b\u115fc", "a<U+3164>b<U+115F>c"},
		{"joiner in Persian", "می\u200cخواهم", "می\u200cخواهم"},
		{"joiner in Latin", "pay\u200dpal", "pay<U+200D>pal"},
		{"joiner at the end", "می\u200c", "می<U+200C>"},
		{"an emoji family", "👩\u200d👧", "👩\u200d👧"},
		{"an emoji with a selector", "❤\ufe0f", "❤\ufe0f"},
		{"a selector behind a letter", "a\ufe0f", "a<U+FE0F>"},
		{"composed", "café", "café"},
		{"decomposed is another name", "cafe\u0301", "cafe<U+0301>"},
		{"a letter that stands for another", "\u212b", "<U+212B>"},
		{"a mark at the start", "\u0301a", "<U+0301>a"},
		{"stacked marks", "q\u0300\u0301\u0302\u0303\u0304\u0305", "q\u0300\u0301\u0302\u0303<U+0304><U+0305>"},
		{"Cyrillic in a Latin word", "p\u0430ypal", "p\u0430<U+0430>ypal"},
		{"Latin in a Cyrillic word", "Росси\u0061 мир", "Росси\u0061<U+0061> мир"},
		{"two scripts in two words", "мир peace", "мир peace"},
		{"Arabic", "مرحبا", "مرحبا"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := tt.want
			switch {
			case tt.text == "":
				want = "(empty)"
			case strings.ContainsAny(tt.text, "میمرحبا"): // written from right to left
				want = "\u2068" + tt.want + "\u2069"
			}
			if got := rendered(t, s, "x", narrate.Params{"v": {Text: tt.text}}); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// FuzzForeignText: whatever an argument holds, the sentence around it stays whole, and
// two arguments that differ look different.
func FuzzForeignText(f *testing.F) {
	for _, seed := range []string{"a", "a\x1b[0m", "\u202e", "e\u0301", "é", "<U+0041>", "👩\u200d👧", "\u1100\u1161\u11a8", "각", "\u0958"} {
		f.Add(seed, "b")
	}
	s := speaker(f, map[string]string{"x": "Delete {v} now."})
	show := func(t *testing.T, text string) string {
		t.Helper()
		return rendered(t, s, "x", narrate.Params{"v": {Text: text}})
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || len(a) > 100 || len(b) > 100 {
			return
		}
		got := show(t, a)
		if !norm.NFC.IsNormalString(got) || !utf8.ValidString(got) {
			t.Errorf("%q is shown as %q, not in normal form", a, got)
		}
		inside := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(got, "Delete "), " now."), "\u2068"), "\u2069")
		for _, r := range inside {
			if unicode.IsControl(r) || strings.ContainsRune("\u2066\u2067\u2068\u2069\u202a\u202b\u202c\u202d\u202e\u2028\u2029", r) {
				t.Errorf("%q is shown as %q with %U in it", a, got, r)
			}
		}
		if a != b && show(t, b) == got {
			t.Errorf("%q and %q are both shown as %q", a, b, got)
		}
	})
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := speaker(t, map[string]string{
		"x":      "{v}",
		"plural": "{v, plural, =0 {none} one {# file} other {# files}}",
		"select": "{v, select, yes {Y} none {N} some {S} other {O}}",
		"quoted": "a '{'b'}' '#' it's",
	})
	n := func(n int64) *int64 { return &n }
	tests := []struct {
		name, key string
		param     narrate.Param
		want      string
	}{
		{"count", "x", narrate.Param{Count: n(1234567)}, "1,234,567"},
		{"no bytes", "x", narrate.Param{Bytes: n(0)}, "0 bytes"},
		{"one byte", "x", narrate.Param{Bytes: n(1)}, "1 byte"},
		{"below a kilobyte", "x", narrate.Param{Bytes: n(999)}, "999 bytes"},
		{"a kilobyte", "x", narrate.Param{Bytes: n(1000)}, "1.0 kB (1,000 bytes)"},
		{"megabytes", "x", narrate.Param{Bytes: n(12345678)}, "12.3 MB (12,345,678 bytes)"},
		{"rounded up to the next unit", "x", narrate.Param{Bytes: n(999_999)}, "1.0 MB (999,999 bytes)"},
		{"the largest", "x", narrate.Param{Bytes: n(1 << 53)}, "9.0 PB (9,007,199,254,740,992 bytes)"},
		{"tenths of a second", "x", narrate.Param{Time: n(1430)}, "1.4 seconds"},
		{"a second", "x", narrate.Param{Time: n(1000)}, "1 second"},
		{"minutes", "x", narrate.Param{Time: n(300_000)}, "5 minutes"},
		{"minutes and seconds", "x", narrate.Param{Time: n(61_000)}, "1 minute 1 second"},
		{"hours and minutes", "x", narrate.Param{Time: n(3_661_000)}, "1 hour 1 minute"},
		{"a day", "x", narrate.Param{Time: n(86_400_000)}, "1 day"},
		{"quote", "x", narrate.Param{Quote: "yes"}, "“yes”"},
		{"exact", "x", narrate.Param{Exact: "a ”b“ <U+201D>"}, "“a <U+201D>b<U+201C> <U+003C>U+201D>”"},
		{"exact and cut", "x", narrate.Param{Exact: "long", More: 1}, "“long” (and 1 more character)"},
		{"cut", "x", narrate.Param{Text: "long", More: 5}, "long (and 5 more characters)"},
		{"secret", "x", narrate.Param{Secret: true}, "a secret"},
		{"list", "x", narrate.Param{List: []narrate.Param{{Text: "a"}, {Text: "b"}}, Left: 3}, "a, b and 3 others"},
		{"sentences", "x", narrate.Param{All: []narrate.Param{{Verbatim: "One."}, {Verbatim: "Two."}}, Left: 1}, "One. Two. And 1 more."},
		{"own words", "x", narrate.Param{Verbatim: "{n, plural, one {# thing} other {# things}}", Params: narrate.Params{"n": {Count: n(2)}}}, "2 things"},
		{"plural zero", "plural", narrate.Param{Count: n(0)}, "none"},
		{"plural one", "plural", narrate.Param{Count: n(1)}, "1 file"},
		{"plural many", "plural", narrate.Param{Count: n(1000)}, "1,000 files"},
		{"select a word", "select", narrate.Param{Keyword: "yes"}, "Y"},
		{"select another word", "select", narrate.Param{Keyword: "no"}, "O"},
		{"select nothing", "select", narrate.Param{}, "N"},
		{"select something", "select", narrate.Param{Text: "x"}, "S"},
		{"quoted braces", "quoted", narrate.Param{}, "a {b} # it's"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := rendered(t, s, tt.key, narrate.Params{"v": tt.param}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestOtherLanguages: plural forms and numbers are those of the catalogue's language.
func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	s, err := narrate.NewSpeaker(narrate.Catalogue{Tag: language.Polish, Messages: map[string]narrate.Message{
		"files": {Normal: "{n, plural, one {# plik} few {# pliki} many {# plików} other {# pliku}}"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int64]string{1: "1 plik", 3: "3 pliki", 5: "5 plików", 22: "22 pliki", 12345: "12 345 plików"} {
		got := strings.ReplaceAll(rendered(t, s, "files", narrate.Params{"n": {Count: &n}}), "\u00a0", " ")
		if got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestMessagesThatFail(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{", "}", "{}", "{a", "{a,}", "{a, plural}", "{a, plural, one {x}}", "{a, date, other {x}}", "{a, select, other {x}",
		"{a, select, other {{b, select, other {{c, select, other {{d, select, other {{e, select, other {x}}}}}}}}}}", strings.Repeat("x", 5000),
	} {
		_, err := narrate.NewSpeaker(narrate.Catalogue{Tag: language.English, Messages: map[string]narrate.Message{"the.key": {Normal: text}}})
		if err == nil || !strings.Contains(err.Error(), "the.key") {
			t.Errorf("%.60q: got %v, want an error that names the message", text, err)
		}
	}
	s := speaker(t, map[string]string{
		"missing": "{nothing}", "plural": "{v, plural, other {x}}", "word": "{v}", "loop": "{l}",
	})
	loop := narrate.Param{Key: "loop"}
	for range 20 {
		loop = narrate.Param{Key: "loop", Params: narrate.Params{"l": loop}}
	}
	for key, p := range map[string]narrate.Param{
		"missing": {Text: "x"}, "plural": {Text: "x"}, "word": {Keyword: "yes"}, "unknown": {}, "loop": {},
	} {
		if _, err := s.Render(key, narrate.Params{"v": p, "l": loop}.JSON()); err == nil {
			t.Errorf("%s was said", key)
		}
	}
	if _, err := s.Render("word", []byte(`[]`)); err == nil {
		t.Error("parameters that are not an object passed")
	}
}
