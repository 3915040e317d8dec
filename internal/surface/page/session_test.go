package page_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestSessionState: a list says of a session that it runs, on whom it waits, or since when nothing was heard from its program, in the
// reader's zone. What it waits for comes first, and one that has ended is not quiet.
func TestSessionState(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", 2*60*60)
	quiet := time.Date(2026, 5, 1, 12, 2, 0, 0, time.UTC)
	for want, tt := range map[string]struct {
		session api.Session
		waiting string
	}{
		"running":                 {session: api.Session{Status: "running"}},
		"not begun yet":           {session: api.Session{Status: "queued"}},
		"quiet since 14:02":       {session: api.Session{Status: "running", QuietSince: quiet}},
		"waiting for your answer": {session: api.Session{Status: "running", QuietSince: quiet}, waiting: "waiting for your answer"},
		string(page.Ended):        {session: api.Session{Status: "ended", Ended: true, QuietSince: quiet}},
	} {
		if got := page.NewSession(tt.session, tt.waiting, zone).State; got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}
