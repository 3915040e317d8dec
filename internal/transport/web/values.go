package web

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
)

// value is one value of a question's arguments: its own text, or a description in its place.
type value struct {
	Name string
	Text string
	Said string
}

// arguments adds the arguments that a question's event lists. An irreversible or high-risk call can be accepted only
// once all of them were shown: in the list, or on the pages of the arguments.
func (a *asked) arguments(e aaep.Event) {
	var ours struct {
		Arguments outline.Outline `json:"arguments"`
		ByClass   bool            `json:"by_class"`
	}
	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) != nil {
		return
	}
	if ours.ByClass && a.Effect != "" {
		a.Consequence = "" // it adds nothing to the effect
	}
	for _, v := range ours.Arguments.Values {
		if v.Kind != outline.Empty || v.Path != "" {
			a.Values = append(a.Values, shownValue(v))
		}
	}
	switch n := ours.Arguments.Unread(); n {
	case 0:
		return
	case 1:
		a.Unread = "1 value is not shown here in full."
	default:
		a.Unread = legible.Counted(n, "value") + " are not shown here in full."
	}
	if p, asks := e.Payload.(aaep.AwaitingConfirmation); asks && (p.Irreversible || p.RiskLevel == aaep.RiskHigh) {
		a.ReadFirst = slices.Contains(p.AllowedReplies, aaep.DecisionAccept) || len(p.AllowedReplies) == 0
		a.Accept = false
	}
}

func shownValue(v outline.Value) value {
	out := value{Name: legible.Source(v.Name()), Said: v.Placeholder()}
	switch {
	case v.Kind == outline.Masked:
		out.Name = "One value"
	case out.Said != "":
	case v.More > 0:
		out.Text = legible.Source(v.Value) + "… and " + legible.Counted(int64(v.More), "more character")
	default:
		out.Text = legible.Source(v.Value)
	}
	return out
}
