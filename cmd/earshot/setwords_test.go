package main_test

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestSetWords: the preferences that are words are kept with the server running or not, and refused with what is allowed.
func TestSetWords(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	contains(t, s.does(0, "set", "verbosity", "terse"), "hears is short")
	s.up()
	contains(t, s.does(0, "set", "verbosity", "--json"), `"verbosity": "terse"`)
	for name, word := range map[string]string{"time-zone": "Asia/Tokyo", "questions": "one", "density": "compact"} {
		contains(t, s.does(0, "set", name, word), "Recorded: ")
		contains(t, s.does(0, "set", name, "--json"), `"`+word+`"`)
		contains(t, s.does(2, "set", name, "Mars/Base"), `cannot be "Mars/Base"; it can be`)
		contains(t, s.does(0, "set", name, "default", "--json"), `: ""`)
	}
}
