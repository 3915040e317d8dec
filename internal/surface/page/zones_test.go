package page_test

import (
	"testing"
	_ "time/tzdata" // the program has it, too

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestZones: every zone to choose from can be set, and stands there once.
func TestZones(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, group := range page.Zones() {
		for _, one := range group.Choices {
			if _, err := api.Zone(one.Value); err != nil || seen[one.Value] {
				t.Errorf("%s: %v, seen before: %v", one.Value, err, seen[one.Value])
			}
			seen[one.Value] = true
		}
	}
	for _, name := range []string{"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Tokyo"} {
		if !seen[name] {
			t.Errorf("%s is not there", name)
		}
	}
	if groups := len(page.Zones()); groups > 12 {
		t.Errorf("they have %d regions", groups)
	}
}
