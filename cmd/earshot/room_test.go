package main_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestNoRoom lets files grow to a share of what a run needs, at each of which another thing fails:
// making the ledger, taking it into use, or working with it. The limit of the process stands
// in for the disk's, for it needs no rights.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	largest, _ := needed(t)
	for _, share := range testkit.Sample(t, shares(), 2) {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			blocks := max(1, largest*int64(share)/100/512)
			p := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--no-input", "--json"}, limit: fmt.Sprint(blocks)})
			p.ends(1)
			oneComplaint(t, p.prompt.String(), "the ledger", "")
			s.untouched("without room")
			judge(t, jsonLines(p.out.String()), false)
			s.takesUp()
		})
	}
}

// shares are of a hundred, from nearly nothing to nearly enough.
func shares() []int { return []int{0, 1, 5, 20, 40, 60, 80, 90} }

// needed is how large the largest file of a run is that meets no limit, and all of them together.
func needed(t *testing.T) (largest, all int64) {
	t.Helper()
	s := newScene(t)
	s.run("--no-input", "--json").ends(3)
	must(t, filepath.WalkDir(s.data, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		largest, all = max(largest, info.Size()), all+info.Size()
		return nil
	}))
	return largest, all
}

// takesUp shows, now that there is room, that nothing was left half-written: what was
// begun goes on, or there was nothing yet.
func (s *scene) takesUp() {
	s.t.Helper()
	again := s.resume("--no-input")
	switch code := again.wait(); code {
	case 2:
		oneComplaint(s.t, again.prompt.String(), "there is nothing to resume", "start a new one")
		s.healthy()
	case 3:
		s.untouched("taken up again")
		s.proved()
	default:
		s.t.Errorf("resuming ends with %d:\n%s", code, again.prompt)
	}
}

// TestDiskFull fills a real file system, before the ledger is made and in use. Mounting one takes root.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	if os.Geteuid() != 0 {
		lacks(t, "not root, and only root can mount a small file system; TestNoRoom tries the same by a limit of the process")
	}
	_, all := needed(t)
	for _, share := range shares() {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.mount(max(64, all*int64(share)/100>>10))
			p := s.run("--no-input", "--json")
			p.ends(1)
			oneComplaint(t, p.prompt.String(), "no room is left", "make room") // for the ledger, or for the journal: whichever comes to the end of the disk
			s.untouched("on a full disk")
			s.grow()
			s.takesUp()
		})
	}
}

// grow makes room.
func (s *scene) grow() { mount(s.t, "-o", "remount,size=20m", s.data) }

// TestVanishing takes the folder away: while it is looked through, when it may be seen or
// not, and while the question is open, when its removal can only fail. Either way it ends
// with what happened, and nothing is half done.
func TestVanishing(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	t.Run("while scanned", func(t *testing.T) {
		t.Parallel()
		s := manyFiles(t)
		p := s.run("--no-input", "--json")
		must(t, os.RemoveAll(s.folder))
		switch code := p.wait(); code {
		case 0, 3: // all of it was seen before, or what was left of it
		case 1:
			failsWell(t, p)
		case 2:
			oneComplaint(t, p.prompt.String(), "there is no folder", "check the name")
		default:
			t.Errorf("the exit code is %d:\n%s", code, p.prompt)
		}
		if _, err := os.Stat(filepath.Join(s.data, "ledger.db")); err == nil {
			judge(t, jsonLines(p.out.String()), p.out.String() != "")
		}
	})
	t.Run("while asked about", func(t *testing.T) {
		t.Parallel()
		s := newScene(t)
		p := s.run("--json")
		p.await(asked)
		must(t, os.RemoveAll(s.folder))
		p.say("accept")
		p.ends(1)
		failsWell(t, p)
		judge(t, jsonLines(p.out.String()), true)
	})
}

// TestDataDirectoryGone removes the data directory while a question is open. Nothing can
// be done with a yes that nobody can find again, and the person is told what is wrong.
func TestDataDirectoryGone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	p := s.run("--json")
	p.await(asked)
	must(t, os.RemoveAll(s.data))
	p.say("accept")
	p.ends(1)
	oneComplaint(t, p.prompt.String(), "has been moved or removed while the program worked", "before you run it again")
	s.untouched("without its data directory")
}

// failsWell looks for an end that says what is wrong, and that nothing was changed.
func failsWell(t *testing.T, p *process) {
	t.Helper()
	said := squeeze(p.prompt.String())
	for _, want := range []string{"error: Failed: what it was looking for is not there.", "Nothing has been changed.", "Find out what is in the way"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, p.prompt)
		}
	}
	if strings.Contains(said, "internal error") {
		t.Errorf("it calls that an internal error:\n%s", p.prompt)
	}
}
