package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// group is the verdicts of one level and one weight.
type group struct {
	Name     string
	Verdicts []Verdict
}

// groups sorts the verdicts by level of conformance, duties before advice. Empty groups are left out.
func (r Report) groups() []group {
	var all []group
	for level := 1; level <= 3; level++ {
		duty := group{Name: fmt.Sprintf("Level %d, MUST", level)}
		advice := group{Name: fmt.Sprintf("Level %d, SHOULD", level)}
		for _, v := range r.Verdicts {
			switch {
			case v.Level != level:
			case v.Advice():
				advice.Verdicts = append(advice.Verdicts, v)
			default:
				duty.Verdicts = append(duty.Verdicts, v)
			}
		}
		for _, g := range []group{duty, advice} {
			if len(g.Verdicts) > 0 {
				all = append(all, g)
			}
		}
	}
	return all
}

// word is the state in words.
func (v Verdict) word() string {
	switch {
	case v.State == Passed:
		return "kept"
	case v.State == NotExercised:
		return "not exercised"
	case v.Known != "":
		return "known to be broken"
	case v.Grave():
		return "broken"
	default:
		return "not followed"
	}
}

// summary is the outcome in a sentence.
func (r Report) summary() string {
	t := r.Tally()
	return fmt.Sprintf("Level %d: kept %d, broken %d, advice not followed %d, known %d, not exercised %d.", r.Level, t.Passed, t.Broken, t.NotFollowed, t.Known, t.NotExercised)
}

// length says what was judged, and for how long.
func (r Report) length() string {
	return fmt.Sprintf("Judged the %s at %s for %s; sessions: %d.", r.Judges, r.URL, r.Length.Round(100*time.Millisecond), r.Sessions)
}

// String is the finding with its place, on one line.
func (f Finding) String() string {
	var at []string
	if f.Line > 0 {
		at = append(at, fmt.Sprintf("line %d of %q", f.Line, f.Peer))
	} else {
		at = append(at, fmt.Sprintf("%q", f.Peer))
	}
	if f.EventID != "" {
		at = append(at, f.EventID)
	}
	if f.Path != "" {
		at = append(at, f.Path)
	}
	weight := ""
	if f.Severity == aaep.SeverityWarning {
		weight = "advice: "
	}
	return strings.Join(at, ", ") + ": " + weight + f.Text
}

// WriteText writes the report for people, a line for each rule; what is broken with the events that show it. Without
// all, rules that were not exercised are only named, on one line for each group.
func (r Report) WriteText(to io.Writer, all bool) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.length())
	for _, l := range r.Peers {
		fmt.Fprintf(&b, "  %s: %s; messages: %d", l.Name, l.Role, l.Messages)
		if l.Problem != "" {
			fmt.Fprintf(&b, "; %s", l.Problem)
		}
		fmt.Fprintln(&b)
	}
	for _, g := range r.groups() {
		fmt.Fprintf(&b, "\n%s\n", g.Name)
		var idle []string
		for _, v := range g.Verdicts {
			if v.State == NotExercised && !all {
				idle = append(idle, v.Rule)
				continue
			}
			v.text(&b)
		}
		if len(idle) > 0 {
			fmt.Fprintf(&b, "  not exercised: %s\n", strings.Join(idle, " "))
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.summary())
	_, err := io.WriteString(to, b.String())
	return err //nolint:wrapcheck // it is the writer's
}

func (v Verdict) text(b *strings.Builder) {
	fmt.Fprintf(b, "  %s %s: %s (%s)\n", v.Rule, v.word(), v.Title, v.Spec)
	if v.Known != "" {
		fmt.Fprintf(b, "    known: %s\n", v.Known)
	}
	for _, f := range v.Findings {
		fmt.Fprintf(b, "    %s\n", f)
		if f.Message != "" {
			fmt.Fprintf(b, "      %s\n", strings.Join(strings.Fields(f.Message), " "))
		}
	}
	if more := v.Occurrences - len(v.Findings); more > 0 {
		fmt.Fprintf(b, "    and %d more\n", more)
	}
}
