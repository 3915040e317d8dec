package subscriber

import (
	"cmp"
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// levels are the areas of the rules that are expected from level 2 or 3 on; all others are from level 1 on.
var levels = map[string]int{"conf": 2, "cla": 2, "gd": 2, "l2s": 2, "hs": 3, "cap": 3, "bp": 3, "jws": 3, "l3s": 3}

// expectedFrom is the level of conformance from which on a rule is expected.
func expectedFrom(r conform.Rule) int {
	if r.ID == "SEQ-44" {
		return 3
	}
	return max(1, levels[r.Area()])
}

// judged reports whether the rule binds a subscriber, and a producer on this transport could see it.
func judged(r conform.Rule, via carrier) bool {
	if area := r.Area(); strings.HasPrefix(area, "tr-") && area != string(cmp.Or(via, overHTTP)) {
		return false
	}
	if r.ID == "GD-08" {
		return true
	}
	duty := !slices.Contains([]conform.Level{conform.LevelMay, conform.LevelNone, conform.LevelGuide, conform.LevelSuite}, r.Level)
	seen := slices.ContainsFunc(r.Check, func(m conform.Mark) bool {
		return slices.Contains([]conform.Mark{conform.MarkEvent, conform.MarkMessage, conform.MarkLive}, m)
	})
	return strings.ContainsAny(r.Who, "SB") && duty && seen
}
