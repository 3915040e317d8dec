package bus_test

import (
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/bus"
)

// TestConnected: who is connected is listed with the time since when, and no longer once they have left or were cut off.
func TestConnected(t *testing.T) {
	t.Parallel()
	begun := time.Now().Add(-time.Second)
	server, _ := listening(t, worker)
	all := drawn(t, words, counter)
	must(t, server.SetKnown(all))
	agent, err := bus.Dial(t.Context(), at(server, all[1]), bus.DialOptions{})
	must(t, err)
	defer agent.Close()
	connected := func() map[bus.Principal]time.Time {
		t.Helper()
		found, err := server.Connected()
		must(t, err)
		return found
	}
	found := connected()
	if since := found[counter]; len(found) != 1 || since.Before(begun) || since.After(time.Now()) {
		t.Errorf("found %v, want %v alone, since a moment", found, counter)
	}
	must(t, server.SetKnown(all[:1]))
	if found := connected(); len(found) != 0 {
		t.Errorf("once it is revoked: %v", found)
	}
}
