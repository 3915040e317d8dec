package main_test

import (
	"os"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestAgentIsNotThere: a turn of an agent that has credentials and no process waits, and says so.
func TestAgentIsNotThere(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.does(0, "credential", "add", "counter", "--role", "agent")
	server := s.up("--nats-listen", "127.0.0.1:0")
	run := start(t, options{verb: "run", data: s.data, args: []string{"counter", "{}", "--json"}})
	run.await("Waiting: no process of the agent counter has taken this up.")
	run.signal(os.Interrupt)
	run.ends(130)
	server.signal(os.Interrupt)
	server.ends(0)
}
