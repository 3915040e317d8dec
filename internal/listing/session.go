package listing

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// SessionLine describes a session in a line: its state and since when, its request, and its outcome.
func (p Printer) SessionLine(s api.Session) string {
	state := map[string]string{"suspended": "waiting", "queued": "not begun yet"}[s.Status]
	parts := []string{fmt.Sprintf("%s: %s, %s of %s, %s.",
		s.ID, cmp.Or(state, s.Status), cause.OneLine(cmp.Or(s.Name, s.Agent)), cause.OneLine(s.Owner), p.Time(s.Created))}
	if !s.QuietSince.IsZero() {
		parts = append(parts, "Quiet since "+p.Time(s.QuietSince)+".")
	}
	for _, text := range []string{s.Request, s.Summary} {
		if text = strings.Join(strings.Fields(text), " "); text != "" {
			parts = append(parts, legible.Value(text))
		}
	}
	return strings.Join(parts, " ")
}
