package terminal

import (
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/aaep/outline"
)

// arguments are what a question lists of the values that its call is about.
type arguments struct {
	outline.Outline

	// Said are the paths of those that the question's own sentence says in full.
	Said []string `json:"said"`
}

// argumentsOf reads the list of a question's event; one of another producer has none.
func argumentsOf(e aaep.Event) arguments {
	var ours struct {
		Arguments arguments `json:"arguments"`
	}

	if json.Unmarshal(e.Extensions[aaep.PrefixEarshot], &ours) != nil {
		return arguments{}
	}

	return ours.Arguments
}

// ShowsAll reports whether a question's event lists every value that it is about.
func ShowsAll(e aaep.Event) bool { return argumentsOf(e).Complete() }

// SaysAll reports whether a question's own sentence says every value that it is about, or stands for it.
func SaysAll(e aaep.Event) bool {
	a := argumentsOf(e)

	return a.Complete() && !slices.ContainsFunc(a.Values, a.unsaid)
}

// unsaid is true for a value that the question's sentence neither says nor stands for.
func (a arguments) unsaid(v outline.Value) bool {
	return v.Kind != outline.Covered && !slices.Contains(a.Said, v.Path)
}

// unreadText says how many values have not been shown, "" where all have.
func (a arguments) unreadText() string {
	switch n := a.Unread(); n {
	case 0:
		return ""
	case 1:
		return "1 value has not been shown in full"
	default:
		return legible.Counted(n, "value") + " have not been shown in full"
	}
}

// unread is true for a question that cannot be accepted before all of it was shown: what cannot be
// undone, or is of high risk.
func (q *question) unread() bool {
	must := q.what.irreversible || q.what.risk == string(aaep.RiskHigh)

	return must && !q.read && !q.what.arguments.Complete()
}

// showValues prints the values that the question's sentence does not say, a line each.
func (t *Terminal) showValues(q *question) {
	label := "Values: "
	if len(q.what.arguments.Said) > 0 {
		label = "More values: "
	}

	t.listValues(label, q.what.arguments, q.what.arguments.unsaid)
}

// showAllValues prints what is listed of the values, also those that the sentence says or stands for.
func (t *Terminal) showAllValues(q *question) {
	t.listValues("Values: ", q.what.arguments, func(outline.Value) bool { return true })
}

func (t *Terminal) listValues(label string, a arguments, wanted func(outline.Value) bool) {
	for _, v := range a.Values {
		if text := t.valueText(v); text != "" && wanted(v) {
			t.promptf("%s%s", label, text)
			label = "  "
		}
	}

	if unread := a.unreadText(); unread != "" {
		t.promptf("%s.", unread)
	}
}

// valueText is one value under its name.
func (t *Terminal) valueText(v outline.Value) string {
	name := t.settings.Show(v.Name())

	switch said := v.InPlace(); {
	case v.Kind == outline.Empty && v.Path == "":
		return "" // there are no arguments
	case v.Kind == outline.Masked: // not even its name, which readers scan for (SEC-07)
		return "one value is " + said
	case said != "":
		return name + ": " + said
	case v.Kind == outline.Literal:
		return name + ": " + t.settings.Show(v.Value)
	}

	text := name + ": “" + t.settings.Show(v.Value) + "”"
	if v.More > 0 {
		text += " and " + legible.Counted(int64(v.More), "more character")
	}

	return text
}
