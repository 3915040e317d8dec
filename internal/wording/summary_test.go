package wording_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/wording"
)

// TestSummary: a list says of a session that was stopped what its last event says. What an agent has written stays.
func TestSummary(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		syscall.SIGHUP.String():                  "Stopped.",
		os.Interrupt.String():                    "Stopped.",
		syscall.SIGTERM.String():                 "Stopped.",
		api.SummaryUndone:                        "Taken back, and stopped.",
		"Nobody answered. Nothing was deleted.":  "Nobody answered. Nothing was deleted.",
		"The line was busy: hangup after a ring": "The line was busy: hangup after a ring",
		"":                                       "",
	} {
		if got := wording.Summary(stored); got != want {
			t.Errorf("%q is listed as %q, want %q", stored, got, want)
		}
		if got := wording.Stopped(stored); got != (want == "Stopped.") {
			t.Errorf("%q: Stopped is %v", stored, got)
		}
	}
}
