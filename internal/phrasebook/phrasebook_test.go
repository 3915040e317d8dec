package phrasebook_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/phrasebook"
)

const sample = `
msgid "running"
msgstr "en curso"

msgid "You are looking at %s, %s."
msgstr "Miras %1$s, que está %2$s."

msgid "%d questions open: %s."
msgstr "Preguntas abiertas (%2$s): %1$d."

msgid "%s and %s"
msgstr "%s y %s"

msgid "%d January"
msgstr "%d de enero"

msgid "%d January %d"
msgstr "%d de enero de %d"

msgid "Answer by %s."
msgstr "Responde antes de las %s."

msgid "Not yet."
msgstr ""
`

func TestSay(t *testing.T) {
	t.Parallel()
	book := phrasebook.Read("es", []byte(sample))
	for _, tt := range []struct {
		english, want string
		ok            bool
	}{
		{"running", "en curso", true},
		{"You are looking at photos, running.", "Miras photos, que está en curso.", true},
		{"2 questions open: 3, 4.", "Preguntas abiertas (3, 4): 2.", true},
		{"some questions open: 3.", "some questions open: 3.", false},
		{"running. running", "running. running", false}, // the first has a full stop that no phrase has
		{"Answer by 14:05. You are looking at a, running.", "Responde antes de las 14:05. Miras a, que está en curso.", true},
		{"Answer by 14:05. Something else.", "Answer by 14:05. Something else.", false},
		{"Answer by 14:05 on 2 January.", "Responde antes de las 2 de enero, 14:05.", true},
		{"2 January 2026, 15:04", "2 de enero de 2026, 15:04", true},
		{"14:05", "14:05", true},
		{"Not yet.", "Not yet.", false},
		{"", "", false},
		{"You are looking at $1 %s \\1, running.", "Miras $1 %s \\1, que está en curso.", true},
		{"You are looking at \u2068a, b\u2069\nc, d.", "Miras \u2068a, b\u2069\nc, que está d.", true},
		{"You are looking at \u2068running, 2 January 2026\u2069, running.", "Miras \u2068running, 2 January 2026\u2069, que está en curso.", true},
		{"\u2068running\u2069", "\u2068running\u2069", true},
	} {
		if got, ok := book.Say(tt.english); got != tt.want || ok != tt.ok {
			t.Errorf("%q: found %q, %v, expected %q, %v", tt.english, got, ok, tt.want, tt.ok)
		}
	}
	if long := strings.Repeat("running ", 1000); !slices.Equal([]string{long}, []string{first(book.Say(long))}) {
		t.Error("a long text was changed")
	}
}

func first(text string, _ bool) string { return text }

// TestSayNumbers: a number in front has the form that the language has for it, also in a length of time and in a sentence around it.
func TestSayNumbers(t *testing.T) {
	t.Parallel()
	for tag, rows := range map[string]map[string]string{
		"ar": {
			"0 hours": "0 ساعة", "1 hour": "ساعة واحدة", "2 hours": "ساعتين", "3 hours": "3 ساعات", "10 hours": "10 ساعات", "11 hours": "11 ساعة", "99 hours": "99 ساعة",
			"100 hours": "100 ساعة", "103 days": "103 أيام", "1,002 days": "1,002 يوم", "45 days": "45 يومًا", "Starts in 2 seconds.": "يبدأ خلال ثانيتين.",
			"Starts in 1 minute 3 seconds.": "يبدأ خلال دقيقة واحدة 3 ثوانٍ.",
		},
		"es": {"1 minute": "1 minuto", "20 minutes": "20 minutos", "2 more questions wait: 3 in all.": "Esperan 2 preguntas más: 3 en total."},
		"fr": {"0 minutes": "0 minute", "1 minute": "1 minute", "2 minutes": "2 minutes"},
		"yo": {"1 minute": "ìṣẹ́jú 1", "20 minutes": "ìṣẹ́jú 20"},
	} {
		b, err := phrasebook.Open(tag)
		if err != nil {
			t.Fatal(err)
		}
		for english, want := range rows {
			if got, ok := b.Say(english); !ok || got != want {
				t.Errorf("%s: %q: found %q, %v, expected %q", tag, english, got, ok, want)
			}
		}
	}
}

// TestSayOnlyAsAValue: what is translated as a part of a sentence is not taken for a sentence.
func TestSayOnlyAsAValue(t *testing.T) {
	t.Parallel()
	b, err := phrasebook.Open("es")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := b.Say("Question 3 was accepted by ada on the page."); !ok || got != "ada en la página aceptó la pregunta 3." {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := b.Say("log in on the page"); ok {
		t.Errorf("%q is translated", got)
	}
}

// values are what a translation has to keep: those of the code, of a template and of a script.
var values = regexp.MustCompile(`\{\{.*?\}\}|\{\w+\}|%(?:\d\$)?[sd]`)

// TestBooks: each book has all sentences, with the same values, and nothing that would be read as markup.
func TestBooks(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("sentences.txt")
	if err != nil {
		t.Fatal(err)
	}
	sentences := strings.Split(strings.TrimSpace(string(raw)), "\n")
	if !slices.IsSorted(sentences) || len(slices.Compact(slices.Clone(sentences))) != len(sentences) {
		t.Error("sentences.txt is not in order, or has a sentence twice")
	}
	if tags := phrasebook.Tags(); !slices.Equal(tags, []string{"ar", "es", "fr", "yo"}) {
		t.Errorf("the languages are %q", tags)
	}
	if _, err := phrasebook.Open("xx"); err == nil {
		t.Error("there is a book of no language")
	}
	for _, tag := range phrasebook.Tags() {
		b, err := phrasebook.Open(tag)
		if err != nil {
			t.Fatal(err)
		}
		known := b.Phrases()
		for _, sentence := range sentences {
			if _, found := slices.BinarySearch(known, sentence); !found {
				t.Errorf("%s has no translation of %q", b.Tag, sentence)
			}
		}
		for _, english := range known {
			forms := b.Forms(english)
			for i, said := range forms {
				got, want := kept(said), kept(english)
				for len(got) < len(want) && i < len(forms)-1 { // one and two of something may be words
					got = append([]string{"%d"}, got...)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q has the values %q, expected those of %q", b.Tag, said, got, english)
				}
				if strings.ContainsAny(values.ReplaceAllString(said, ""), "<>&") && !strings.ContainsAny(english, "<>&") {
					t.Errorf("%s: %q has markup", b.Tag, said)
				}
			}
		}
	}
}

// kept are the values of a sentence in their order in English.
func kept(text string) []string {
	all := values.FindAllString(text, -1)
	for i, v := range all {
		if v[0] == '%' {
			all[i] = "%" + v[len(v)-1:]
		}
	}
	slices.Sort(all)
	return all
}

// formed are the files with sentences that come apart from their values, and how they begin there.
var (
	formed = []string{
		"../../api/audit/*.go", "../passkey/verify.go", "../wording/*.go", "../kernel/rulebook/*.go", "../policyfile/*.go", "../../tool/settings/error.go",
		"../../tool/settings/syntax.go",
	}
	formIn   = regexp.MustCompile(`\b(?:part|NewSentence|refuse|wrong|ended|orElse)\([^"\x60\n]*("(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `)`)
	quotedIn = regexp.MustCompile(`\t("the [^"]*%s[^"]*"|"its [^"]*%s[^"]*"|"the \w+ are written[^"]*"), ?("[^"]*")?,? ?("[^"]*")?`)
	rowIn    = regexp.MustCompile(`\t\{"[^"]*", ("[^"]*"), ("[^"]*")\},`)
)

// TestForms: each book has the form of each sentence that comes apart from its values.
func TestForms(t *testing.T) {
	t.Parallel()
	var forms []string
	for _, pattern := range formed {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %q, %v", pattern, names, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range slices.Concat(formIn.FindAllSubmatch(raw, -1), quotedIn.FindAllSubmatch(raw, -1), rowIn.FindAllSubmatch(raw, -1)) {
				for _, literal := range found[1:] {
					if form, err := strconv.Unquote(string(literal)); err == nil {
						forms = append(forms, form)
					}
				}
			}
		}
	}
	if len(forms) < 150 {
		t.Errorf("found %d forms, expected more", len(forms))
	}
	for _, tag := range phrasebook.Tags() {
		b, err := phrasebook.Open(tag)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			if _, ok := b.Form(form); !ok {
				t.Errorf("%s has no translation of the form %q", tag, form)
			}
		}
	}
}

// TestForm: a form is said with its values in the order of the language, and without its full stop where it has lost that.
func TestForm(t *testing.T) {
	t.Parallel()
	b := phrasebook.Read("es", []byte("msgctxt \"form\"\nmsgid \"%s is %d.\"\nmsgstr \"%2$d es %1$s.\"\n"))
	for form, want := range map[string]string{"%s is %d.": "[1] es [0].", "%s is %d": "[1] es [0]", "%s: %s": "[0]: [1]"} {
		said, ok := b.Form(form)
		got := phrasebook.Fill(said, func(text string) string { return text }, func(n int) string { return "[" + strconv.Itoa(n) + "]" })
		if !ok || got != want {
			t.Errorf("%q: found %q, %v, expected %q", form, got, ok, want)
		}
	}
	if said, ok := b.Form("%s was %d."); ok || said != "%s was %d." {
		t.Errorf("found %q, %v", said, ok)
	}
	if said, ok := b.Say("a is 1."); ok {
		t.Errorf("a text is translated by a form: %q", said)
	}
}

// FuzzSay: whatever a text is, it is translated or stays as it is.
func FuzzSay(f *testing.F) {
	for _, text := range []string{"", "running", "You are looking at a, b.", "2 questions open: %s.", "Answer by . . . .", "1 January and 2 January 2026 and %d"} {
		f.Add(text)
	}
	book := phrasebook.Read("es", []byte(sample))
	f.Fuzz(func(t *testing.T, text string) {
		if said, ok := book.Say(text); !ok && said != text {
			t.Errorf("%q became %q without a translation", text, said)
		}
	})
}
