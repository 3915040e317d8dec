package announce

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// Translation says the announcer's own sentences in another language. The zero value leaves them in English.
type Translation struct {
	Language string // BCP 47
	// Say translates own sentences, or a part of one that ends before the text of others. It is false for what it
	// has no translation of, which is then said in English.
	Say func(english string) (said string, translated bool)
}

// own is a text of the announcer's own, and its language.
func (a *Announcer) own(sentence string) (text, language string) {
	if tag := a.preferences.Translation.Language; tag != "" {
		if said := a.in(tag, sentence); said != "" {
			return said, tag
		}
	}
	return sentence, english
}

// in is an own text in the language of the text beside it, so that no announcement mixes two; "" where it cannot be said
// in that one.
func (a *Announcer) in(language, text string) string {
	if text == "" || isEnglish(language) {
		return text
	}
	t := a.preferences.Translation
	if t.Say == nil || !speaks(t.Language, language) {
		return ""
	}
	said, translated := t.Say(text)
	if !translated {
		return ""
	}
	return said
}

// ours is an own text that says all that the event says; where it cannot be said in the event's language, it is what the
// event says of itself.
func (a *Announcer) ours(e aaep.Event, text, terse, normal, detailed string) (w saying, own bool) {
	if isEnglish(primary(e)) || !speaks(primary(e), a.preferences.Language) {
		w = a.framed(e, text, terse, normal, detailed)
		return w, isEnglish(w.language)
	}
	if said := a.in(primary(e), text); said != "" {
		return saying{text: legible.Shorten(said, MaxText), language: primary(e), priority: Polite}, true
	}
	return a.text(e, terse, normal, detailed), false
}

// list is a list of own parts, one behind the other, and its language.
func (a *Announcer) list(parts []string) (text, language string) {
	tag := a.preferences.Translation.Language
	said := make([]string, 0, len(parts))
	for _, part := range parts {
		if one := a.in(tag, part); one != "" {
			said = append(said, one)
		}
	}
	if tag == "" || len(said) < len(parts) {
		return strings.Join(parts, ", "), english
	}
	comma := a.in(tag, ", ")
	if comma == "" {
		comma = ", "
	}
	return strings.Join(said, comma), tag
}
