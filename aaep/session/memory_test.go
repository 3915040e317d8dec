package session_test

import (
	"fmt"
	"testing"

	"github.com/earshot-dev/earshot/aaep/session"
)

// TestMemory shows that a checker's memory is bounded, and that it says so when it can
// no longer be exact: a repetition from before the limit is judged as a new event.
func TestMemory(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	event := func(kind string, n int, sessionID string) []byte {
		return fmt.Appendf(nil, `{"type":"aaep:agent.%s","event_id":"evt_%d","session_id":%q}`, kind, n, sessionID)
	}
	if found := c.Check(event("session.started", 0, "sess_1")); len(found) > 0 {
		t.Fatalf("found%s", list(found))
	}
	infos := 0
	for n := 1; n <= 65_537; n++ {
		found := c.Check(event("progress.updated", n, "sess_1"))
		if names(found, asInfo, "SEQ-45") {
			infos++
		}
		if n == 65_535 && infos != 0 {
			t.Errorf("the limit is told within the limit")
		}
	}
	if infos != 1 {
		t.Errorf("the limit is told %d times, want once", infos)
	}
	if found := c.Check(event("session.started", 0, "sess_1")); !names(found, asError, "SEQ-01") {
		t.Errorf("found%s", list(found))
	}
	if found := c.Check(event("progress.updated", 65_537, "sess_1")); len(found) > 0 {
		t.Errorf("a late repetition within the limit: found%s", list(found))
	}
}

// TestManySessions: ended sessions are forgotten first, and that is told once.
func TestManySessions(t *testing.T) {
	t.Parallel()
	c := session.NewChecker()
	send := func(kind, sessionID string) int {
		infos := 0
		for _, v := range c.Check(fmt.Appendf(nil, `{"type":"aaep:agent.session.%s","session_id":%q}`, kind, sessionID)) {
			if v.Severity != asInfo {
				t.Fatalf("found %s", v)
			}
			infos++
		}
		return infos
	}
	infos := send("started", "sess_open")
	for n := range 100_001 {
		id := fmt.Sprintf("sess_%d", n)
		infos += send("started", id) + send("completed", id)
	}
	if infos != 1 {
		t.Errorf("told %d times, want once", infos)
	}
	if left := c.CloseEach(); len(left) != 1 || left[0].SessionID != "sess_open" {
		t.Errorf("left %+v", left)
	}
}
