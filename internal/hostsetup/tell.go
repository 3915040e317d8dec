package hostsetup

import (
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hostfile"
)

// What became of an entry in the file of a host.
const (
	added    = "added"
	replaced = "replaced"
	removed  = "removed"
)

// Sentence says what changes in which file.
func (r Result) Sentence(host hostfile.Host) string {
	verb, verbs := "is", "are"
	if r.DryRun {
		verb, verbs = "would be", "would be"
	}
	var parts []string
	if r.Entry != "" {
		parts = append(parts, "the entry "+hostfile.EntryName+" "+verb+" "+r.Entry)
	}
	names := make([]string, 0, len(r.Moved))
	for _, m := range r.Moved {
		names = append(names, cause.OneLine(m.Name))
	}
	outcome := removed
	if r.Back {
		outcome = added + " again"
	}
	switch len(names) {
	case 0:
	case 1:
		parts = append(parts, "the entry "+names[0]+" "+verb+" "+outcome)
	default:
		last := len(names) - 1
		parts = append(parts, "the entries "+strings.Join(slices.Concat([]string{strings.Join(names[:last], ", ")}, names[last:]), " and ")+" "+verbs+" "+outcome)
	}
	return "In " + cause.OneLine(r.File) + ", the file of " + host.Title + ", " + strings.Join(parts, ", and ") + "."
}
