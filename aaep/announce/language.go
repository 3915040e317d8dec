package announce

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// english is the language of the sentences made here.
const english = "en"

// text is what an event says of itself, at the length and in the language that are
// wanted where it has them, politely.
func (a *Announcer) text(e aaep.Event, terse, normal, detailed string) saying {
	return a.at(a.preferences.Verbosity, e, terse, normal, detailed)
}

// failed is own for a failure: its reason is what a listener can act on, and stands in the
// detailed summary.
func (a *Announcer) failed(e aaep.Event, terse, normal, detailed string) saying {
	length := a.preferences.Verbosity
	if length == aaep.VerbosityNormal {
		length = aaep.VerbosityDetailed
	}
	return a.at(length, e, terse, normal, detailed)
}

func (a *Announcer) at(length aaep.Verbosity, e aaep.Event, terse, normal, detailed string) saying {
	lengths := []struct{ name, text string }{{"summary_normal", normal}, {"summary_terse", terse}, {"summary_detailed", detailed}}
	switch length {
	case aaep.VerbosityTerse:
		lengths[0], lengths[1] = lengths[1], lengths[0]
	case aaep.VerbosityDetailed:
		lengths[0], lengths[1], lengths[2] = lengths[2], lengths[0], lengths[1]
	case aaep.VerbosityNormal:
	}
	if !speaks(primary(e), a.preferences.Language) {
		for _, l := range lengths {
			if text, tag := variant(e, l.name, a.preferences.Language); text != "" {
				return saying{text: sentence(text, tag), language: tag, priority: Polite}
			}
		}
	}
	for _, l := range lengths {
		if l.text != "" {
			return saying{text: sentence(l.text, primary(e)), language: primary(e), priority: Polite}
		}
	}
	return saying{language: primary(e), priority: Polite}
}

// framed is own words where the event speaks English, or says nothing; else what the
// event says of itself.
func (a *Announcer) framed(e aaep.Event, text, terse, normal, detailed string) saying {
	if isEnglish(primary(e)) && speaks(english, a.preferences.Language) {
		return saying{text: legible.Shorten(text, MaxText), language: english, priority: Polite}
	}
	w := a.text(e, terse, normal, detailed)
	if w.text == "" || isEnglish(w.language) {
		w.text, w.language = legible.Shorten(text, MaxText), english
	}
	return w
}

func primary(e aaep.Event) string {
	if e.Hints == nil {
		return ""
	}
	return e.Hints.PrimaryLanguage
}

// variant is a readable field in the wanted language, which is cut from the right until
// the event has it (C-102).
func variant(e aaep.Event, name, tag string) (text, found string) {
	for tag != "" {
		if text := e.Variants[name+"_"+strings.ToLower(strings.ReplaceAll(tag, "-", "_"))]; text != "" {
			return text, tag
		}
		tag = tag[:max(0, strings.LastIndexByte(tag, '-'))]
	}
	return "", ""
}

// speaks reports whether a text in a language serves who wants another one.
func speaks(have, want string) bool {
	base := func(tag string) string {
		tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
		return tag
	}
	return want == "" || have == "" || base(have) == base(want)
}

// isEnglish takes what does not say its language for English, as the sentences are that
// stand round it.
func isEnglish(tag string) bool { return speaks(english, tag) }

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
