package main_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// midway is a removal of 2,000 files that is held in the middle, after the 1,000th, and goes on once
// the word to end has come to it.
type midway struct {
	*scene

	middle, told *hold
}

// newMidway names the point at which a program has passed on the word to end.
func newMidway(t *testing.T, told string) *midway {
	t.Helper()
	m := &midway{scene: manyFiles(t), middle: newHold(t), told: newHold(t)}
	m.fault = m.middle.at("delete.middle") + "," + m.told.at(told)
	return m
}

// ends lets the removal of p go on after the word to end has been passed on.
func (m *midway) ends(p *process) {
	m.t.Helper()
	m.told.wait(p)
	m.told.release()
	m.middle.release()
}

// sits is a removal held in the middle on a terminal.
func (m *midway) sits() *process {
	m.t.Helper()
	p := m.sit(80)
	p.await(asked)
	p.say("accept")
	p.await("Tool: What question 1 asked for begins now.")
	m.middle.wait(p)
	return p
}

// serves is a removal held in the middle at a server, with the run that is attached to it.
func (m *midway) serves() (server, run *process, session string) {
	m.t.Helper()
	server = m.upWith(options{fault: m.fault})
	m.fault = ""
	run = m.run("--json")
	run.await(asked)
	session = m.pending()[0].Session
	m.does(0, "reply", "1", "accept")
	m.middle.wait(server)
	return server, run, session
}

// leavesTheRest says no to what is left of an interrupted removal, and waits for the end of the run.
func (m *midway) leavesTheRest(run *process) {
	m.t.Helper()
	run.await("Question 2, ")
	m.does(0, "reply", "2", "reject")
	run.ends(1)
}

// grouped writes a number below a million as the program does.
func grouped(n int) string {
	return regexp.MustCompile(`(\d)(\d{3})$`).ReplaceAllString(fmt.Sprint(n), "$1,$2")
}

// stoppedOnTheWay proves that what is said to be gone is gone, and nothing else.
func (s *scene) stoppedOnTheWay(p *process) {
	s.t.Helper()
	gone := s.gone()
	if len(gone) == 0 || len(gone) == len(s.duplicates()) {
		s.t.Errorf("%d files are gone: the removal was not stopped on its way", len(gone))
	}
	said := squeeze(p.prompt.String())
	if !strings.Contains(said, "Deleted "+grouped(len(gone))+" files and freed") {
		s.t.Errorf("%d files are gone; said was: %s", len(gone), said[max(0, len(said)-1500):])
	}
	all := slices.Concat(slices.Collect(maps.Values(s.removed()))...)
	slices.Sort(all)
	if !slices.Equal(all, gone) {
		s.t.Errorf("the journal has %d files, %d are gone", len(all), len(gone))
	}
	s.tidied()
}

// TestTerminalStopWhileDeleting stops a removal on its way by a word.
func TestTerminalStopWhileDeleting(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	m := newMidway(t, "stop.told")
	p := m.sits()
	p.say("stop")
	m.ends(p)
	p.ends(1)
	m.stoppedOnTheWay(p)
	if l := m.proved(); l.one(`SELECT type FROM events ORDER BY seq DESC LIMIT 1`) != "aaep:agent.session.cancelled" {
		t.Error("the session did not end as cancelled")
	}
	p.readable(80)
}

// TestTerminalSignalWhileDeleting stops a removal on its way by a signal.
func TestTerminalSignalWhileDeleting(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	m := newMidway(t, "stop.told")
	p := m.sits()
	p.signal(syscall.SIGTERM)
	m.ends(p)
	p.ends(143)
	m.stoppedOnTheWay(p)
	m.proved()
}

// TestTerminalHangupWhileDeleting stops a removal on its way by taking the terminal away.
func TestTerminalHangupWhileDeleting(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	m := newMidway(t, "stop.told")
	p := m.sits()
	p.hangUp()
	m.ends(p)
	p.ends(129)
	m.journalled()
	m.tidied()
	if l := m.proved(); l.one(`SELECT type FROM events ORDER BY seq DESC LIMIT 1`) != "aaep:agent.session.cancelled" {
		t.Error("the session did not end as cancelled")
	}
}

// journalled demands that the removal ended on its way, and that the journals and the folder say the
// same. It returns what is gone.
func (s *scene) journalled() []string {
	s.t.Helper()
	gone := s.gone()
	if len(gone) == 0 || len(gone) == len(s.duplicates()) {
		s.t.Fatalf("%d files are gone: the removal did not end on its way", len(gone))
	}
	var told []string
	for _, paths := range s.removed() {
		told = append(told, paths...)
	}
	slices.Sort(told)
	if !slices.Equal(told, gone) {
		s.t.Errorf("the journals say that %d files are gone, and %d are", len(told), len(gone))
	}
	return gone
}

// TestServerEndsWhileDeleting: told to end in the middle of a removal, the server ends gracefully.
// The unlink in hand is finished, nothing more is removed, then or at the next start, and the
// session ends with exactly what went.
func TestServerEndsWhileDeleting(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			m := newMidway(t, "services.ending")
			first, run, _ := m.serves()
			first.signal(signal)
			m.ends(first)
			first.ends(0)
			contains(t, first.prompt.String(), "Ended.")
			gone := m.journalled()
			m.tidied()
			if open := readLedger(t, m.data).one(`SELECT status FROM turns`); open == "ended" {
				t.Errorf("the turn is %s, want it parked", open)
			}
			second := m.up()
			second.await("Resumed: sess_")
			m.leavesTheRest(run)
			if after := m.journalled(); !slices.Equal(after, gone) {
				t.Errorf("%d files were gone at the end, and %d after the next start", len(gone), len(after))
			}
			m.stoppedOnTheWay(run)
			second.signal(signal)
			second.ends(0)
			l := m.proved()
			if !slices.Equal(jsonLines(run.out.String()), l.bodies(l.sessions()[0])) {
				t.Error("the attached run did not hear the whole session once")
			}
			m.tidied()
		})
	}
}

// TestServerStopWhileDeleting stops a removal on its way from each place that can: the unlink in
// hand is finished, nothing more is removed, and the session is cancelled with exactly what went.
func TestServerStopWhileDeleting(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	for name, stop := range map[string]func(m *midway, run *process, session string) (stopped func()){
		"the command": func(m *midway, _ *process, _ string) func() {
			p := start(m.t, options{verb: "stop", data: m.data, nobody: true})
			return func() { p.ends(0); contains(m.t, p.out.String(), "is stopped") }
		},
		"the attached terminal": func(_ *midway, run *process, _ string) func() {
			run.say("stop")
			return func() {}
		},
		"the API": func(m *midway, _ *process, session string) func() {
			failed := make(chan error, 1)
			go func() {
				_, err := m.dials().StopSession(m.t.Context(), session)
				failed <- err
			}()
			return func() { must(m.t, <-failed) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMidway(t, "stop.told")
			server, run, session := m.serves()
			stopped := stop(m, run, session)
			m.ends(server)
			stopped()
			run.ends(1)
			m.stoppedOnTheWay(run)
			server.signal(os.Interrupt)
			server.ends(0)
			last := m.proved().rows(`SELECT type, body FROM events ORDER BY seq DESC LIMIT 1`)[0]
			if last[0] != aaep.TypeSessionCancelled || !strings.Contains(last[1], grouped(len(m.gone()))) {
				t.Errorf("%d files are gone, and the last event is %s", len(m.gone()), last[1])
			}
		})
	}
}

// TestServerKilledWhileAttached: a run is attached when the server is killed, in the middle of a
// removal, and started again. It says once that the connection is lost and once that it is
// back, hears everything once, and ends with what really went.
func TestServerKilledWhileAttached(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	m := newMidway(t, "stop.told")
	first, run, _ := m.serves()
	first.kill()
	first.wait()
	must(t, m.middle.gate.Close())
	run.await("Connection: lost; trying again.")
	m.up().await("Resumed: sess_")
	run.await("Connection: back; nothing was missed.")
	m.leavesTheRest(run)
	m.stoppedOnTheWay(run)
	for _, once := range []string{"Connection: lost", "Connection: back"} {
		if n := strings.Count(run.prompt.String(), once); n != 1 {
			t.Errorf("it says %d times: %s", n, once)
		}
	}
	m.tidied()
}

// TestDiskFullWhileDeleting fills a real file system when a yes is to be recorded, and again in the
// middle of the removal. Mounting one takes root.
func TestDiskFullWhileDeleting(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	if os.Geteuid() != 0 {
		lacks(t, "not root, and only root can mount a small file system")
	}
	s := manyFiles(t)
	s.mount(20_000)
	p := s.run("--json")
	p.await(asked)
	fill(t, s.data)
	p.say("accept")
	p.ends(1)
	oneComplaint(t, p.prompt.String(), "no room is left for the ledger", "make room on the disk")
	s.untouched("on a full disk, before the yes was recorded")
	empty(t, s.data)

	middle := newHold(t)
	s.fault = middle.at("delete.middle")
	p = s.resume()
	p.await(asked)
	p.say("accept")
	middle.wait(p)
	fill(t, s.data)
	middle.release()
	p.ends(1)
	oneComplaint(t, p.prompt.String(), "", "")
	gone := s.gone()
	if len(gone) == 0 || len(gone) == len(s.duplicates()) {
		t.Errorf("%d of %d files are gone: the disk was not full in the middle", len(gone), len(s.duplicates()))
	}
	empty(t, s.data)
	s.fault = ""
	s.resume("--no-input").ends(1)
	if after := s.gone(); !slices.Equal(gone, after) {
		t.Errorf("%d files were gone, then %d: the removal went on without its consent", len(gone), len(after))
	}
	s.tidied()
	s.proved()
}
