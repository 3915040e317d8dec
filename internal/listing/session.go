package listing

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/wording"
)

// SessionLine describes a session in a line: its state and since when, its request, and its outcome.
func (p Printer) SessionLine(s api.Session) string {
	state := map[string]string{"suspended": "waiting", "queued": "not begun yet"}[s.Status]
	parts := []string{fmt.Sprintf("%s: %s, %s of %s, %s.",
		s.ID, cmp.Or(state, s.Status), cause.OneLine(cmp.Or(s.Name, s.Agent)), cause.OneLine(s.Owner), p.Time(s.Created))}
	if !s.QuietSince.IsZero() {
		parts = append(parts, "Quiet since "+p.Time(s.QuietSince)+".")
	}
	return strings.Join(append(parts, said(s.Request, wording.Summary(s.Summary))...), " ")
}

// said are the request and the outcome of a session, each a sentence of its own: where one stands behind the other without a stop, they
// are heard as one.
func said(texts ...string) []string {
	var all []string
	for _, text := range texts {
		text = strings.Join(strings.Fields(text), " ")
		if text == "" {
			continue
		}
		if last, _ := utf8.DecodeLastRuneInString(text); !strings.ContainsRune(".!?…:;؟。！？", last) {
			text += "."
		}
		all = append(all, legible.Value(text))
	}
	return all
}
