package hub

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
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

// offer returns what a subscriber is offered: one who asks for no language gets the one that they prefer. Where that cannot
// be read it is English, and nothing waits for it.
func (h *Hub) offer(ctx context.Context, who access.Principal, asked aaep.Capabilities) pacing.Offer {
	offer := h.o.Offer
	if asked.Languages != nil || len(h.o.Translations) == 0 {
		return offer
	}
	var a api.PreferAnswer
	if err := rpc.AskWithin(ctx, h.o.Conn, inspectTimeout, api.OpPrefer, api.PreferRequest{Person: who.Name}, &a); err != nil {
		h.o.Logger.Info("the language that a listener prefers is not known", "person", who.Name, "reason", err)
	}
	offer.Unasked = api.Chosen(a.Language)
	return offer
}

// checkLanguage refuses to prefer a language that is not offered.
func (h *Hub) checkLanguage(tag string) error {
	offered := append([]string{"en"}, h.o.Offer.Languages...)
	if tag == "" || slices.ContainsFunc(offered, func(o string) bool { return strings.EqualFold(o, tag) }) {
		return nil
	}
	return &Error{
		Code: CodeMalformed, Message: fmt.Sprintf("this server does not offer the language %.64q; it offers %s", tag, strings.Join(h.o.Offer.Languages, ", ")),
		Hint: "choose one of those, or have the server offer it: earshot up --languages es",
	}
}

// translation returns the one for a language; nil for that of the ledger's events.
func (h *Hub) translation(language string) Translation {
	i := slices.IndexFunc(h.o.Translations, func(t Translation) bool { return t.Tag() == language })
	if i < 0 {
		return nil
	}
	return h.o.Translations[i]
}

// translated returns an event in the language of the subscription.
func (st *stream) translated(session string, e *entry) *entry {
	return st.hub.translated(st.language, session, e)
}

// translated returns an event in the language of a translation; nil is that of the ledger's events. Where that fails, it
// is delivered as it is: no event is left out for its language (I18N-18).
func (h *Hub) translated(t Translation, session string, e *entry) *entry {
	if t == nil {
		return e
	}
	other, err := e.in(t)
	if err != nil {
		h.o.Logger.Error("an event is told in English, for it cannot be translated", "session", session, "seq", e.seq, "language", t.Tag(), "error", err)
		return e
	}
	return other
}

// serving returns the translation for somebody who asks for a language, whether it is offered or not; nil for English.
func (h *Hub) serving(tag string) Translation { return h.translation(h.o.Offer.Serves(tag)) }

// shownIn returns the language in which a question was shown to somebody who says that it was this one: "", English,
// unless it is offered.
func (h *Hub) shownIn(tag string) string {
	if t := h.serving(tag); t != nil {
		return t.Tag()
	}
	return ""
}

// translatedBy says who has made the translation that a subscriber gets, if nobody has read it.
func (h *Hub) translatedBy(language string) string {
	if t := h.translation(language); t != nil && t.ByMachine() {
		return "The language " + t.Tag() + " was translated by a machine, and no native speaker has read it yet. " +
			"Questions about what is irreversible or of high risk have their English text too."
	}
	return ""
}
