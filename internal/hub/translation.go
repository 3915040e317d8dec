package hub

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Translation says events in one language. It is safe for concurrent use and deterministic.
type Translation interface {
	// Tag is the language, as a BCP 47 tag.
	Tag() string
	// ByMachine reports whether no native speaker has read the sentences.
	ByMachine() bool
	// Event returns an event in this language, given the message that it says.
	Event(raw []byte, template string, params jsontext.Value) ([]byte, error)
}

// translation returns the one for a language; nil for that of the ledger's events.
func (h *Hub) translation(language string) Translation {
	i := slices.IndexFunc(h.o.Translations, func(t Translation) bool { return t.Tag() == language })
	if i < 0 {
		return nil
	}
	return h.o.Translations[i]
}

// translated returns an event in the language of the subscription. Where that fails, it is delivered as it is: no event
// is left out for its language (I18N-18).
func (st *stream) translated(session string, e *entry) *entry {
	t := st.hub.translation(st.terms.Language)
	if t == nil {
		return e
	}
	other, err := e.in(t)
	if err != nil {
		st.hub.o.Logger.Error("an event is told in English, for it cannot be translated", "session", session, "seq", e.seq, "language", t.Tag(), "error", err)
		return e
	}
	return other
}

// translatedBy says who has made the translation that a subscriber gets, if nobody has read it.
func (h *Hub) translatedBy(language string) string {
	if t := h.translation(language); t != nil && t.ByMachine() {
		return "The language " + t.Tag() + " was translated by a machine, and no native speaker has read it yet. " +
			"Questions about what is irreversible or of high risk have their English text too."
	}
	return ""
}
