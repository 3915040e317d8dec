package main_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestServerDiskFull: a yes that cannot be recorded, because the disk is full, is never reported as done. The server ends and says why.
// Once there is room and it is started again, the same question is open, and a yes then counts. Mounting a small file system takes root.
func TestServerDiskFull(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	if os.Geteuid() != 0 {
		lacks(t, "not root, and only root can mount a small file system")
	}
	s := newScene(t)
	s.mount(20_000)
	first := s.up()
	run := s.run("--json", "--answer-within", "10m")
	run.await(asked)
	s.approver() // its token is on the disk, too
	before := s.pending()

	fill(t, s.data)
	refused := s.does(1, "reply", "1", "accept")
	if !strings.Contains(refused, "no room left for the ledger; nothing was recorded") && !strings.Contains(refused, "no `earshot up` works with the data") {
		t.Errorf("the yes is answered with:\n%s", refused)
	}
	first.ends(1)
	oneComplaint(t, first.prompt.String(), "no room is left for the ledger", "make room on the disk")
	oneComplaint(t, s.does(1, "up", "--root", s.folder, "--http", "127.0.0.1:0"), "no room is left for the ledger", "make room on the disk")
	s.untouched("on a full disk")

	empty(t, s.data)
	second := s.up()
	if after := s.pending(); len(before) != 1 || len(after) != 1 || before[0].Number != after[0].Number || before[0].Token != after[0].Token {
		t.Errorf("the question was %+v and is %+v", before, after)
	}
	s.does(0, "reply", "1", "accept")
	run.ends(0)
	if gone := s.gone(); !slices.Equal(gone, s.duplicates()) {
		t.Errorf("gone are %v", gone)
	}
	second.signal(os.Interrupt)
	second.ends(0)
}
