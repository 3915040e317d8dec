package doctor

import (
	"fmt"
	"strings"
)

// Conclusion says in a sentence how it stands: that nothing stands in the way, or what is to be mended. What is needed first was
// examined first, and is named first.
func Conclusion(all []Finding) string {
	problems, notes := inState(all, Problem), inState(all, Note)
	switch {
	case problems.n == 1:
		return "1 thing to mend: " + problems.String() + "."
	case len(problems.names) == 1:
		return fmt.Sprintf("%d things to mend: %s.", problems.n, problems)
	case problems.n > 1:
		return fmt.Sprintf("%d things to mend, in this order: %s.", problems.n, problems)
	case notes.n == 1:
		return "Nothing stands in the way; 1 note: " + notes.String() + "."
	case notes.n > 1:
		return fmt.Sprintf("Nothing stands in the way; %d notes: %s.", notes.n, notes)
	}
	return "All is well: nothing stands in the way."
}

// named are the findings in one state: how many, and under which names, in their order.
type named struct {
	n     int
	names []string
	times map[string]int
}

func inState(all []Finding, state string) named {
	found := named{times: map[string]int{}}
	for _, f := range all {
		if f.State != state {
			continue
		}
		if found.times[f.Name] == 0 {
			found.names = append(found.names, f.Name)
		}
		found.n++
		found.times[f.Name]++
	}
	return found
}

// String lists the names; one that several findings have has their number behind it.
func (f named) String() string {
	parts := make([]string, len(f.names))
	for i, name := range f.names {
		parts[i] = name
		if n := f.times[name]; n > 1 {
			parts[i] = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	return strings.Join(parts, ", ")
}
