package web

import (
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestWhere: a session's name, which others may have chosen, can neither pass for a sentence of the
// page nor turn its letters round.
func TestWhere(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"tidy, photos":                   "tidy, photos",
		"":                               "tidy",
		"tidy, a\u2069\n\n b":            "tidy, a<U+2069> b",
		"tidy, \u202egpj.exe":            "tidy, <U+202E>gpj.exe",
		"tidy, \u05e9\u05dc\u05d5\u05dd": "tidy, \u05e9\u05dc\u05d5\u05dd",
	} {
		n := page.News{Chosen: &page.Session{Session: api.Session{Agent: "tidy", Name: name}, State: "running"}}
		if got := n.Where(); got != "No session is running. No question is open. You are looking at \u2068"+want+"\u2069, running." {
			t.Errorf("%q: %q", name, got)
		}
	}
}
