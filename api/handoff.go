package api

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Handoff asks for someone else to take over the work; it ends the agent's turn.
type Handoff struct {
	// Reason tells the person why, 1 to 4,096 characters.
	Reason string `json:"reason"`
	// Lang is the language of Reason, as a BCP 47 tag such as es; "" if it is not known.
	Lang string `json:"lang,omitzero"`
	// To is human, specialist_agent or escalation_queue; default human.
	To string `json:"to,omitzero"`
	// URI is where to reach them; Urgency is low, medium or high.
	URI     string `json:"uri,omitzero"`
	Urgency string `json:"urgency,omitzero"`
	// Context is what they need to know: an object of at most 16 KiB.
	Context jsontext.Value `json:"context,omitzero"`
}

const maxHandoffContext = 16 << 10

// Complete fills in the default and validates the fields.
func (h Handoff) Complete() (Handoff, error) {
	if h.To == "" {
		h.To = "human"
	}
	h.Reason = strings.TrimSpace(h.Reason)
	switch {
	case h.Reason == "" || utf8.RuneCountInString(h.Reason) > maxQuestion:
		return h, wrong("reason", fmt.Sprintf("%d characters", utf8.RuneCountInString(h.Reason)), "1 to 4096 characters")
	case !slices.Contains([]string{"human", "specialist_agent", "escalation_queue"}, h.To):
		return h, wrong("to", utp.Shown(h.To), "human, specialist_agent or escalation_queue")
	case !slices.Contains([]string{"", "low", "medium", "high"}, h.Urgency):
		return h, wrong("urgency", utp.Shown(h.Urgency), "low, medium or high")
	case len(h.Context) > 0 && (h.Context.Kind() != '{' || len(h.Context) > maxHandoffContext || !h.Context.IsValid()):
		return h, wrong("context", fmt.Sprintf("%d bytes", len(h.Context)), "a JSON object of at most 16 KiB")
	case h.URI != "" && !uri(h.URI):
		return h, wrong("uri", utp.Shown(h.URI), "a URI such as mailto:help@example.org, of at most 2048 printable ASCII characters")
	}
	return h, CheckLang(h.Lang)
}

// uri reports whether a text is a plain URI: a scheme, a colon, and no character that needs escaping.
func uri(s string) bool {
	const most = 2048
	scheme, rest, found := strings.Cut(s, ":")
	plain := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"<>\^{|}`+"`", r) }
	return found && scheme != "" && rest != "" && len(s) <= most && !strings.ContainsFunc(s, plain) &&
		scheme[0]|0x20 >= 'a' && scheme[0]|0x20 <= 'z' && !strings.ContainsFunc(scheme, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("+-.", r)
	})
}
