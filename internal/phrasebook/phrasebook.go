package phrasebook

import (
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
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

// Read reads a book in gettext's form. An empty translation is as if it were not there.
func Read(tag string, po []byte) *Book {
	b := &Book{Tag: tag, exact: map[string]string{}}
	file := gotext.NewPo()
	file.Parse(po)
	for english, t := range file.GetDomain().GetTranslations() {
		said := t.Get()
		if english == "" || said == "" || !file.IsTranslated(english) {
			continue
		}
		b.exact[english] = said
		if verb.MatchString(english) && !strings.Contains(english, "{{") {
			b.patterns = append(b.patterns, newPattern(english, said))
		}
	}
	// The one that says more comes first, so that it is found before one that says less; the order is the same each time.
	slices.SortFunc(b.patterns, func(x, y pattern) int {
		return cmp.Or(cmp.Compare(y.literal, x.literal), strings.Compare(x.said, y.said))
	})
	return b
}

// longest is how many bytes of a sentence are looked up: ours are shorter.
const longest = 2000

// Say translates a text: as a whole, or else sentence by sentence. It is false, and the text stays as it is, unless all of it has a
// translation. A value that is a phrase itself, such as a state, is translated too; one that is isolated never is.
func (b *Book) Say(english string) (said string, ok bool) {
	if english == "" || len(english) > longest {
		return english, false
	}
	if said, ok = b.say(english, 2); ok {
		return said, true
	}
	rest := b.dates(english)
	var all []string
	for rest != "" {
		sentence, after := first(rest)
		one, ok := b.say(sentence, 2)
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
var date = regexp.MustCompile(`\x{2068}[^\x{2069}]*\x{2069}|(?:(\d\d:\d\d) on )?\b(\d{1,2} ` +
	`(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?)\b`)

// dates translates the days in a text.
func (b *Book) dates(english string) string {
	return date.ReplaceAllStringFunc(english, func(found string) string {
		parts := date.FindStringSubmatch(found)
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
	for _, p := range b.patterns {
		if values := p.english.FindStringSubmatch(english); values != nil {
			for i, value := range values[1:] {
				values[i+1], _ = b.say(value, depth-1)
			}
			return p.with(values[1:]), true
		}
	}
	if strings.ContainsFunc(date.ReplaceAllString(plain, ""), unicode.IsLetter) {
		return plain, false
	}
	return english, true // a day, a number, a name
}

// Phrases are all English texts that have a translation, in order.
func (b *Book) Phrases() []string {
	all := make([]string, 0, len(b.exact))
	for english := range b.exact {
		all = append(all, english)
	}
	slices.Sort(all)
	return all
}

// verb is a value in a sentence. A translation names the second by %2$s, where it comes in another order.
var verb = regexp.MustCompile(`%(?:(\d)\$)?([sd])`)

// anyText is a value within a sentence: what is isolated from the text around it is one piece, and no other sentence begins in it.
const anyText = `((?:\x{2068}[^\x{2069}]*\x{2069}|[^.!?\x{2068}]|[.!?][^ ])+?)`

// pattern translates the sentences of one form.
type pattern struct {
	english *regexp.Regexp
	said    string
	literal int // bytes of the English text that are no values
}

func newPattern(english, said string) pattern {
	var source strings.Builder
	literal := 0
	for rest := english; rest != ""; {
		at := verb.FindStringSubmatchIndex(rest)
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
	return pattern{english: regexp.MustCompile(`(?s)\A` + source.String() + `\z`), said: said, literal: literal}
}

// with puts values into the translation.
func (p pattern) with(values []string) string {
	next := 0
	return verb.ReplaceAllStringFunc(p.said, func(v string) string {
		at := next
		if number := verb.FindStringSubmatch(v)[1]; number != "" {
			at = int(number[0] - '1')
		}
		next++
		if at < 0 || at >= len(values) {
			return v
		}
		return values[at]
	})
}
