//go:build !faults

package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// lacks skips a test that this machine has not got what it needs for, and says what.
// With CI=true in the environment that is a failure.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("left out: " + what)
	}
	t.Skip("left out: " + what)
}

// TestNoRoom lets files grow to a bound, at each of which another thing fails: making
// the ledger, taking it into use, or working with it. The limit of the process stands
// in for the disk's, for it needs no rights.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	for _, blocks := range []int{1, 16, 64, 200, 420, 500, 700, 1000} {
		t.Run(fmt.Sprint(blocks), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			p := start(t, options{data: s.data, args: []string{"tidy", s.folder, "--no-input", "--json"}, limit: fmt.Sprint(blocks)})
			p.ends(1)
			oneComplaint(t, p.prompt.String(), "the ledger", "")
			s.untouched("without room")
			judge(t, jsonLines(p.out.String()), false)
			s.takesUp()
		})
	}
}

// takesUp shows, now that there is room, that nothing was left half-written: what was
// begun goes on, or there was nothing yet.
func (s *scene) takesUp() {
	s.t.Helper()
	again := s.resume("--no-input")
	switch again.wait() {
	case 2:
		oneComplaint(s.t, again.prompt.String(), "there is nothing to resume", "start a new one")
		s.healthy()
	case 3:
		s.untouched("taken up again")
		s.proved()
	default:
		s.t.Errorf("resuming ends with %d:\n%s", again.cmd.ProcessState.ExitCode(), again.prompt)
	}
}

// TestDiskFull fills a real file system, before the ledger is made, in use, and in the
// middle of a removal. Mounting one takes root.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		lacks(t, "not root, and only root can mount a small file system; TestNoRoom tries the same by a limit of the process")
	}
	for _, size := range []int{64, 256, 300, 400, 500, 600} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.mount(size)
			p := s.run("--no-input", "--json")
			p.ends(1)
			oneComplaint(t, p.prompt.String(), "no room is left", "make room") // for the ledger, or for the journal: whichever comes to the end of the disk
			s.untouched("on a full disk")
			s.grow()
			s.takesUp()
		})
	}
	t.Run("while deleting", func(t *testing.T) {
		t.Parallel()
		s := manyFiles(t)
		s.mount(20_000)
		p := s.run("--json")
		p.await(asked)
		fill(t, s.data)
		p.say("accept")
		p.ends(1)
		oneComplaint(t, p.prompt.String(), "no room is left for the ledger", "make room on the disk")
		s.untouched("on a full disk, before the yes was recorded")
		must(t, os.Remove(filepath.Join(s.data, "ballast")))

		p = s.resume()
		p.await(asked)
		fill(t, s.data)
		leave(t, s.data, 400<<10) // the yes and the start need half of it, the journal as much again
		p.say("accept")
		p.ends(1)
		oneComplaint(t, p.prompt.String(), "", "")
		gone := s.gone()
		if len(gone) == 0 || len(gone) == len(s.duplicates()) {
			t.Errorf("%d of %d files are gone: the disk was not full in the middle", len(gone), len(s.duplicates()))
		}
		must(t, os.Remove(filepath.Join(s.data, "ballast")))
		s.resume("--no-input").ends(1)
		if after := s.gone(); !slices.Equal(gone, after) {
			t.Errorf("%d files were gone, then %d: the removal went on without its consent", len(gone), len(after))
		}
		s.tidied()
		s.proved()
	})
}

// mount puts the data directory on a file system of its own, of so many KiB.
func (s *scene) mount(size int) {
	s.t.Helper()
	mount(s.t, "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk,mode=700", size), "earshot", s.data)
	s.t.Cleanup(func() {
		if out, err := exec.Command("umount", s.data).CombinedOutput(); err != nil {
			s.t.Errorf("umount: %v: %s", err, out)
		}
	})
}

// grow makes room.
func (s *scene) grow() { mount(s.t, "-o", "remount,size=20m", s.data) }

func mount(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.Command("mount", args...).CombinedOutput()
	if err != nil && strings.Contains(string(out), "permission denied") {
		lacks(t, fmt.Sprintf("mounting a small file system is not allowed here (%s); TestNoRoom tries the same by a limit of the process", bytes.TrimSpace(out)))
	}
	if err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
}

// fill takes all the room that is left.
func fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "ballast"))
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	_ = f.Close() // the last write has failed already
}

// leave makes so many bytes of room beside the ballast.
func leave(t *testing.T, dir string, room int64) {
	t.Helper()
	ballast := filepath.Join(dir, "ballast")
	info, err := os.Stat(ballast)
	must(t, err)
	must(t, os.Truncate(ballast, info.Size()-room))
}

// TestVanishing takes the folder away: while it is looked through, when it may be seen or
// not, and while the question is open, when its removal can only fail. Either way it ends
// with what happened, and nothing is half done.
func TestVanishing(t *testing.T) {
	t.Parallel()
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
	for _, want := range []string{"error: Failed: what it was looking for is not there.", "Nothing has been changed.", "hint: Find out what is in the way"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, p.prompt)
		}
	}
	if strings.Contains(said, "internal error") {
		t.Errorf("it calls that an internal error:\n%s", p.prompt)
	}
}
