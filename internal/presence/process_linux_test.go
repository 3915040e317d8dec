package presence_test

import (
	"os"
	"testing"

	"github.com/earshot-dev/earshot/internal/presence"
)

// TestProcesses: this process is in the table, with its parent.
func TestProcesses(t *testing.T) {
	t.Parallel()
	p, found := presence.Processes(os.Getpid())
	if !found || p.ID != os.Getpid() || p.Parent != os.Getppid() || p.Started == 0 || p.Name == "" || p.Session == 0 || p.Group == 0 {
		t.Errorf("it is %+v, %v", p, found)
	}
	if p, found := presence.Processes(1 << 30); found {
		t.Errorf("a process that does not exist is %+v", p)
	}
}
