package producer

import (
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// levels are the areas of the rules that are expected from level 2 or 3 on; all others are from level 1 on.
var levels = map[string]int{
	"confm": 2, "clar": 2, "conf": 2, "cla": 2,
	"hs": 3, "cap": 3, "bp": 3, "ms": 3, "ext": 3,
}

// sequences of level 2, which are about questions.
var questionOrder = []string{"SEQ-22", "SEQ-23", "SEQ-24", "SEQ-25", "SEQ-26", "SEQ-27", "SEQ-28", "SEQ-29", "SEQ-30", "SEQ-38", "SEQ-49"}

// expectedFrom is the level of conformance from which on a rule is expected.
func expectedFrom(r conform.Rule) int {
	if slices.Contains(questionOrder, r.ID) || r.ID == "TR-09" {
		return 2
	}
	return max(1, levels[r.Area()])
}

// elsewhere are areas that are not judged here: lists of what other rules say.
var elsewhere = []string{"l1p", "l2p", "l3p"}

// areas are those of the rules for one transport, by the scheme of its address.
var areas = map[string]string{"http": "tr-sse", "https": "tr-sse", "ws": "tr-ws", "wss": "tr-ws", "unix": "tr-uds", "grpc": "tr-grpc", "grpcs": "tr-grpc"}

// judged reports whether the rule binds a producer, and a listener on this transport could see it, whose rules are those of area.
func judged(r conform.Rule, area string) bool {
	if slices.Contains(elsewhere, r.Area()) || strings.HasPrefix(r.Area(), "tr-") && r.Area() != area {
		return false
	}
	binds := strings.ContainsAny(r.Who, "PTB")
	duty := !slices.Contains([]conform.Level{conform.LevelMay, conform.LevelNone, conform.LevelGuide, conform.LevelSuite}, r.Level)
	seen := slices.ContainsFunc(r.Check, func(m conform.Mark) bool {
		return slices.Contains([]conform.Mark{conform.MarkEvent, conform.MarkMessage, conform.MarkStream, conform.MarkSeveral, conform.MarkLive}, m)
	})
	return binds && duty && seen
}
