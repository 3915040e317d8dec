package agenthost_test

import (
	"io"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// TestLeftBehind: a process that has left the group of its host is found and ended, and no other one.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	command := agenthost.NewCommand(t, "setsid sh -c 'echo begun; sleep 1001; true' & read line")
	process, _, from := agenthost.Talk(t, command)
	if _, err := io.ReadFull(from, make([]byte, len("begun\n"))); err != nil {
		t.Fatal(err)
	}
	other := agenthost.NewCommand(t, "read line")
	bystander, to, _ := agenthost.Talk(t, other)
	process.Kill()
	left := agenthost.EndAllOf(t, command.Root())
	if len(left) == 0 || !strings.Contains(strings.Join(left, "\n"), "echo begun") {
		t.Errorf("found %q, expected the process that says begun", left)
	}
	if left := agenthost.EndAllOf(t, command.Root()); len(left) > 0 {
		t.Errorf("found %q after all were ended", left)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if out := bystander.Wait(t.Context()); out.Code != 1 { // read has met the end of its input
		t.Errorf("the process of another run was ended: %v", out)
	}
}
