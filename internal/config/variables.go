package config

import (
	"slices"
	"strings"

	"github.com/earshot-dev/earshot/tool/settings"
)

// prefix is that of the program's variables.
const prefix = "EARSHOT_"

// Unknown returns a sentence about each variable EARSHOT_… of an environment that is none of the known, with the one that is similar. Of those
// whose names begin with an ignored prefix, which are not for people, it says nothing.
func Unknown(environment, known, ignored []string) []string {
	short := make([]string, len(known)) // what all begin with does not make them similar
	for i, name := range known {
		short[i] = strings.TrimPrefix(name, prefix)
	}
	var all []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) ||
			slices.ContainsFunc(ignored, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		line := name + " is not a setting, and does nothing"
		if near := settings.Nearest(strings.TrimPrefix(name, prefix), short); near != "" {
			line += "; " + settings.Meaning(prefix+near, "")
		} else {
			line += "."
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}
