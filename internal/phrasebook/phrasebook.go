package phrasebook

import (
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/leonelquinteros/gotext"
)

//go:embed po/*.po
var books embed.FS

// Book has the translations of one language. It is safe for concurrent use.
type Book struct {
	// Tag is that of the language, as in es.
	Tag string

	exact    map[string]string // by the English text
	patterns []pattern
	parts    []pattern         // of values alone
	forms    map[string]string // of sentences that come apart from their values; see [Book.Form]
}

// Tags are the languages that this program has besides English, in order.
func Tags() []string {
	entries, err := books.ReadDir("po")
	if err != nil {
		return nil // cannot happen: the folder is part of the program
	}
	tags := make([]string, 0, len(entries))
	for _, e := range entries {
		tags = append(tags, strings.TrimSuffix(e.Name(), ".po"))
	}
	return tags
}

// Open reads the book of one of the [Tags].
func Open(tag string) (*Book, error) {
	po, err := books.ReadFile("po/" + tag + ".po")
	if err != nil {
		return nil, fmt.Errorf("phrasebook: found no language %q, expected one of %s: %w", tag, strings.Join(Tags(), ", "), err)
	}
	return Read(tag, po), nil
}

// valueContext is the context, in gettext's sense, of what is translated only as a value of a sentence, and formContext that of sentences
// that come apart from their values: no text is looked up by their form.
const valueContext, formContext = "value", "form"

// manyOfEach is a number whose form in a language is that of numbers in general.
const manyOfEach = 100

// Read reads a book in gettext's form. An empty translation is as if it were not there.
func Read(tag string, po []byte) *Book {
	b := &Book{Tag: tag, exact: map[string]string{}, forms: map[string]string{}}
	file := gotext.NewPo()
	file.Parse(po)
	for english, t := range file.GetDomain().GetTranslations() {
		if english == "" || t.Trs[0] == "" {
			continue
		}
		if t.PluralID == "" {
			b.add(english, pattern{said: t.Get()})
			continue
		}
		form := func(n int) string { return file.GetN(english, t.PluralID, n) }
		b.add(english, pattern{said: form(1), form: form})
		if t.PluralID != english {
			b.add(t.PluralID, pattern{said: form(manyOfEach), form: form})
		}
	}
	for english, t := range file.GetDomain().GetCtxTranslations()[valueContext] {
		if t.Trs[0] != "" {
			b.parts = append(b.parts, newPattern(english, pattern{said: t.Get()}))
		}
	}
	for english, t := range file.GetDomain().GetCtxTranslations()[formContext] {
		if t.Trs[0] != "" {
			b.forms[english] = t.Get()
		}
	}
	for _, list := range [][]pattern{b.patterns, b.parts} {
		// The one that says more comes first, so that it is found before one that says less; the order is the same each time.
		slices.SortFunc(list, func(x, y pattern) int {
			return cmp.Or(cmp.Compare(y.literal, x.literal), strings.Compare(x.source, y.source))
		})
	}
	return b
}

// add adds the translation of an English text.
func (b *Book) add(english string, p pattern) {
	b.exact[english] = p.said
	if verb().MatchString(english) && !strings.Contains(english, "{{") {
		b.patterns = append(b.patterns, newPattern(english, p))
	}
}

// whole is the depth of a text itself; that of its values is less.
const whole = 2

// longest is how many bytes of a sentence are looked up: ours are shorter.
const longest = 2000

// Say translates a text: as a whole, or else sentence by sentence. It is false, and the text stays as it is, unless all of it has a
// translation. A value that is a phrase itself, such as a state, is translated too; one that is isolated never is.
func (b *Book) Say(english string) (said string, ok bool) {
	if english == "" || len(english) > longest {
		return english, false
	}
	if said, ok = b.say(english, whole); ok {
		return said, true
	}
	rest := b.dates(english)
	var all []string
	for rest != "" {
		sentence, after := first(rest)
		one, ok := b.say(sentence, whole)
		if !ok || len(all) == 0 && after == "" {
			return english, false
		}
		all, rest = append(all, one), after
	}
	return strings.Join(all, " "), len(all) > 0
}

// first is the first sentence of a text, and what is behind it.
func first(text string) (sentence, rest string) {
	for i := 0; i+1 < len(text); i++ {
		if text[i+1] == ' ' && strings.IndexByte(".!?", text[i]) >= 0 {
			return text[:i+1], text[i+2:]
		}
	}
	return text, ""
}

// date is a day as the house writes it, with the time before it or without; or a value that is isolated, in which nothing is a day of ours.
var date = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x{2068}[^\x{2069}]*\x{2069}|(?:(\d\d:\d\d) on )?\b(\d{1,2} ` +
		`(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?)\b`)
})

// dates translates the days in a text.
func (b *Book) dates(english string) string {
	return date().ReplaceAllStringFunc(english, func(found string) string {
		parts := date().FindStringSubmatch(found)
		day := parts[2]
		if day == "" {
			return found
		}
		for _, p := range b.patterns {
			if values := p.english.FindStringSubmatch(day); values != nil {
				day = p.with(values[1:])
				break
			}
		}
		if parts[1] != "" {
			day += ", " + parts[1]
		}
		return day
	})
}

func (b *Book) say(english string, depth int) (string, bool) {
	if said, ok := b.exact[english]; ok {
		return said, true
	}
	if depth == 0 {
		return english, false
	}
	plain := english
	english = b.dates(english)
	patterns := b.patterns
	if depth < whole {
		if said, ok := b.length(english); ok {
			return said, true
		}
		patterns = slices.Concat(b.parts, b.patterns)
	}
	for _, p := range patterns {
		if values := p.english.FindStringSubmatch(english); values != nil {
			for i, value := range values[1:] {
				values[i+1], _ = b.say(value, depth-1)
			}
			return p.with(values[1:]), true
		}
	}
	if strings.ContainsFunc(date().ReplaceAllString(plain, ""), unicode.IsLetter) {
		return plain, false
	}
	return english, true // a day, a number, a name
}

// length is a length of time in several units, such as 1 minute 30 seconds.
var length = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\A(?:\d[\d,]* (?:day|hour|minute|second)s? ?){2,}\z`)
})

// unit is one unit of such a length.
var unit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d[\d,]* \w+`)
})

// length translates such a length of time, unit by unit.
func (b *Book) length(english string) (string, bool) {
	if !length().MatchString(english) {
		return english, false
	}
	return unit().ReplaceAllStringFunc(english, func(one string) string {
		said, _ := b.say(one, 1)
		return said
	}), true
}

// Phrases are all English texts that have a translation, in order; also those that have one only as a value of a sentence, or
// apart from their values.
func (b *Book) Phrases() []string {
	all := make([]string, 0, len(b.exact)+len(b.parts)+len(b.forms))
	for english := range b.exact {
		all = append(all, english)
	}
	for _, p := range b.parts {
		all = append(all, p.source)
	}
	for english := range b.forms {
		all = append(all, english)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Forms are all forms of the translation of an English text, the one of numbers in general last. There are several where a number
// decides.
func (b *Book) Forms(english string) []string {
	for _, p := range slices.Concat(b.patterns, b.parts) {
		if p.source != english {
			continue
		}
		var all []string
		for n := range manyOfEach + 1 {
			if said := p.as(n); !slices.Contains(all, said) || n == manyOfEach {
				all = append(slices.DeleteFunc(all, func(s string) bool { return s == said }), said)
			}
		}
		return all
	}
	if said, ok := b.exact[english]; ok {
		return []string{said}
	}
	if said, ok := b.forms[english]; ok {
		return []string{said}
	}
	return nil
}

// verb is a value in a sentence. A translation names the second by %2$s, where it comes in another order.
var verb = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%(?:(\d)\$)?([sd])`)
})

// anyText is a value within a sentence: what is isolated from the text around it is one piece, and no other sentence begins in it.
const anyText = `((?:\x{2068}[^\x{2069}]*\x{2069}|[^.!?\x{2068}]|[.!?][^ ])+?)`

// pattern translates the sentences of one form.
type pattern struct {
	source  string
	english *regexp.Regexp
	said    string
	form    func(n int) string // what is said with a number; nil where all numbers have the same form
	number  int                // which value is that number
	literal int                // bytes of the English text that are no values
}

// as is the translation for a number.
func (p pattern) as(n int) string {
	if p.form == nil {
		return p.said
	}
	return p.form(n)
}

// newPattern completes a pattern with the English text that it is for.
func newPattern(english string, p pattern) pattern {
	var source strings.Builder
	literal := 0
	p.number = slices.IndexFunc(verb().FindAllString(english, -1), func(v string) bool { return v[len(v)-1] == 'd' })
	for rest := english; rest != ""; {
		at := verb().FindStringSubmatchIndex(rest)
		if at == nil {
			source.WriteString(regexp.QuoteMeta(rest))
			literal += len(rest)
			break
		}
		source.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		literal += at[0]
		if rest[at[4]:at[5]] == "d" {
			source.WriteString(`(\d[\d,]*)`)
		} else {
			source.WriteString(anyText)
		}
		rest = rest[at[1]:]
	}
	p.source, p.literal, p.english = english, literal, regexp.MustCompile(`(?s)\A`+source.String()+`\z`)
	return p
}

// with puts values into the translation.
func (p pattern) with(values []string) string {
	next, said := 0, p.said
	if p.form != nil && p.number >= 0 {
		if n, err := strconv.Atoi(strings.ReplaceAll(values[p.number], ",", "")); err == nil {
			said = p.form(n)
		}
	}
	return verb().ReplaceAllStringFunc(said, func(v string) string {
		at := next
		if number := verb().FindStringSubmatch(v)[1]; number != "" {
			at = int(number[0] - '1')
		}
		next++
		if at < 0 || at >= len(values) {
			return v
		}
		return values[at]
	})
}

// Form translates the form of a sentence that comes apart from its values, such as "entry %d behind entry %d", which also may have lost its
// full stop. A form without words is said as it is.
func (b *Book) Form(english string) (said string, ok bool) {
	if said, ok := b.forms[english]; ok {
		return said, true
	}
	if said, ok := b.forms[english+"."]; ok {
		return strings.TrimSuffix(said, "."), true
	}
	if said, ok := b.exact[english]; ok {
		return said, true
	}
	return english, !strings.ContainsFunc(verb().ReplaceAllString(english, ""), unicode.IsLetter)
}

// Fill writes a form: the texts between its values, and each value by its number, which begins with 0.
func Fill(form string, text func(string) string, value func(n int) string) string {
	var out strings.Builder
	for next := 0; form != ""; next++ {
		at := verb().FindStringSubmatchIndex(form)
		if at == nil {
			out.WriteString(text(form))
			break
		}
		out.WriteString(text(form[:at[0]]))
		n := next
		if at[2] >= 0 {
			n = int(form[at[2]] - '1')
		}
		out.WriteString(value(n))
		form = form[at[1]:]
	}
	return out.String()
}
