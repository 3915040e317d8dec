package acp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
)

// plan is the agent's plan, as it was last reported.
type plan []planEntry

// changed stores the plan and returns what is new about it in words; "" is nothing. If only the progress has changed, the
// steps are not told again.
func (p *plan) changed(entries []planEntry) string {
	before := *p
	if len(entries) == 0 || slices.Equal(before, entries) {
		return ""
	}
	*p = entries
	same := slices.EqualFunc(before, entries, func(a, b planEntry) bool { return a.Content == b.Content })
	done := 0
	var steps, current []string
	for i, e := range entries {
		text := shortened(strings.TrimRight(strings.Join(strings.Fields(e.Content), " "), "."), maxTitle)
		switch e.Status {
		case statusCompleted:
			done++
			steps = append(steps, fmt.Sprintf("%d, done: %s.", i+1, text))
		case statusRunning:
			current = append(current, text)
			steps = append(steps, fmt.Sprintf("%d, now: %s.", i+1, text))
		default:
			steps = append(steps, fmt.Sprintf("%d: %s.", i+1, text))
		}
	}
	words := "Plan: " + legible.Counted(int64(len(entries)), "step")
	if done > 0 {
		words += fmt.Sprintf(", %d done", done)
	}
	switch {
	case !same:
		return words + ". " + strings.Join(steps, " ")
	case len(current) > 0:
		return words + ". Now: " + strings.Join(current, "; ") + "."
	}
	return words + "."
}
