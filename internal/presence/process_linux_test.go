package presence_test

import (
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/earshot-dev/earshot/internal/presence"
)

// TestProcesses: this process is in the table as the system's own calls describe it. In a container its session may be
// 0: that of a process outside.
func TestProcesses(t *testing.T) {
	t.Parallel()
	session, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	p, found := presence.Processes(os.Getpid())
	if !found || p.ID != os.Getpid() || p.Parent != os.Getppid() || p.Session != session || p.Group != syscall.Getpgrp() {
		t.Errorf("it is %+v, %v; its session is %d, its group %d", p, found, session, syscall.Getpgrp())
	}
	if p.Started == 0 || p.Name != "presence.test" {
		t.Errorf("it is %+v", p)
	}
	if p, found := presence.Processes(1 << 30); found {
		t.Errorf("a process that does not exist is %+v", p)
	}
}
