package cli_test

import (
	"slices"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/cli"
)

// TestOutage: an outage is spoken of after 10 seconds, 30 seconds and a minute, then every three minutes, and the next one from the start.
func TestOutage(t *testing.T) {
	t.Parallel()
	var o cli.Outage
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	said := func() (all []time.Duration) {
		for at := 5 * time.Second; at <= 10*time.Minute; at += 5 * time.Second {
			if lasted, again := o.Again(since, since.Add(at)); again {
				all = append(all, lasted)
			}
		}
		return all
	}
	want := []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, 4 * time.Minute, 7 * time.Minute, 10 * time.Minute}
	for range 2 {
		if got := said(); !slices.Equal(got, want) {
			t.Errorf("said after %v, expected %v", got, want)
		}
		o.Reset()
	}
}
