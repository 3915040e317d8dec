package page

import (
	_ "embed"
	"strings"
	"sync"
)

// zoneNames are the time zones to choose from, one a line, by region: those of the time zone database in which clocks have differed
// since 1970. It is in the public domain. Another name, such as an older one, can be set in a terminal.
//
//go:embed zones.txt
var zoneNames string

// Zones are the time zones to choose from, by region.
var Zones = sync.OnceValue(func() []FieldGroup { //nolint:gochecknoglobals // made once
	var all []FieldGroup
	for name := range strings.Lines(zoneNames) {
		name = strings.TrimSpace(name)
		region, _, found := strings.Cut(name, "/")
		if !found {
			region = "Everywhere"
		}
		if len(all) == 0 || all[len(all)-1].Label != region {
			all = append(all, FieldGroup{Label: region})
		}
		last := &all[len(all)-1]
		last.Choices = append(last.Choices, FieldChoice{Value: name, Text: strings.ReplaceAll(name, "_", " ")})
	}
	return all
})
