package main_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestDamagedTurn: a turn that cannot be read keeps the server neither from starting nor from
// the turns of others, no matter who looks at it; and it is told.
func TestDamagedTurn(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	first := s.runApart("--json")
	first.await(asked)
	first.kill()
	first.ends(-int(syscall.SIGKILL))
	broken := s.newest()
	alter(t, s.data, `UPDATE turns SET doc = '{"turn":'`, `UPDATE agenda SET due_at = 0 WHERE due_at IS NOT NULL`)
	server := s.up()
	server.await("Left alone: sess_")
	for range 2 {
		contains(t, s.does(1, "turns", "show", broken), "cannot be read")
	}
	run := start(t, options{verb: "run", data: s.data, args: []string{"tidy", s.folder}})
	run.hears("Question 2")
	run.say("reject")
	run.ends(3)
	var rows []api.SessionRow
	s.reads(&rows, "turns", "list", "--json")
	if len(rows) != 2 {
		t.Errorf("the turns are %+v", rows)
	}
	server.signal(os.Interrupt)
	server.ends(0)
}
