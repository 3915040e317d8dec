package subscriber

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
)

// TestScriptIsBorne: what a subscriber has to bear is an event that can be acted on, and breaks no rule but what its step is about.
// Otherwise a subscriber that drops it would be said to bear what it never read.
func TestScriptIsBorne(t *testing.T) {
	t.Parallel()
	filled := strings.NewReplacer("evt_#", "evt_1", `"@"`, `"2026-05-24T14:22:11.000Z"`)
	about := map[string][]string{ // the rules that a step breaks, or departs from
		"unknown words": {"ENV-34", "ENV-35"}, "large": {"PROG-07"},
		"unreadable": nil, "part": nil, "without context": nil, // no events
	}
	for _, s := range slices.Concat(tolerance(), consent(true)) {
		for _, template := range s.events {
			allowed, broken := about[s.name]
			if template == "again" || broken && allowed == nil {
				continue
			}
			raw := []byte(filled.Replace(template))
			if _, err := aaep.DecodeEvent(raw); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			for _, v := range aaep.Validate(raw, aaep.ModeProducer) {
				if v.Severity == aaep.SeverityError && !slices.Contains(allowed, v.Rule) {
					t.Errorf("%s: %s", s.name, v)
				}
			}
		}
	}
}
