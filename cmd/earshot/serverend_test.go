//go:build !faults

package main_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

// journalled demands that the journals and the folder say the same, and returns what is gone.
func (s *scene) journalled() []string {
	s.t.Helper()
	gone := s.gone()
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

// TestServerEndsWhileDeleting: told to end in the middle of a removal, the server ends within 10
// seconds. The unlink in hand is finished, nothing more is removed, then or at the next start,
// and the session ends with exactly what went.
func TestServerEndsWhileDeleting(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := manyFiles(t)
			first := s.up()
			run := s.run("--json")
			run.await(asked)
			s.does(0, "reply", "1", "accept")
			s.underWay(run)
			began := time.Now()
			first.signal(signal)
			first.ends(0)
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("the end took %s", took)
			}
			contains(t, first.prompt.String(), "Ended.")
			gone := s.journalled()
			if len(gone) == 0 || len(gone) == len(s.duplicates()) {
				t.Fatalf("%d files are gone: the removal did not end on its way", len(gone))
			}
			s.tidied()
			if open := readLedger(t, s.data).one(`SELECT status FROM turns`); open == "ended" {
				t.Errorf("the turn is %s, want it parked", open)
			}
			second := s.up()
			second.await("Resumed: sess_")
			run.ends(1)
			if after := s.journalled(); !slices.Equal(after, gone) {
				t.Errorf("%d files were gone at the end, and %d after the next start", len(gone), len(after))
			}
			s.stoppedOnTheWay(run)
			second.signal(signal)
			second.ends(0)
			l := s.proved()
			if !slices.Equal(jsonLines(run.out.String()), l.bodies(l.sessions()[0])) {
				t.Error("the attached run did not hear the whole session once")
			}
			s.tidied()
		})
	}
}

// TestServerStopWhileDeleting stops a removal on its way from each place that can: the unlink in
// hand is finished, nothing more is removed, and the session is cancelled with exactly what went.
func TestServerStopWhileDeleting(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(s *scene, run *process, session string){
		"the command":           func(s *scene, _ *process, _ string) { contains(s.t, s.does(0, "stop"), "is stopped") },
		"the attached terminal": func(_ *scene, run *process, _ string) { run.say("stop") },
		"the API": func(s *scene, _ *process, session string) {
			_, err := s.dials().Halt(s.t.Context(), session)
			must(s.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := manyFiles(t)
			server := s.up()
			run := s.run("--json")
			run.await(asked)
			session := s.pending()[0].Session
			s.does(0, "reply", "1", "accept")
			s.underWay(run)
			stop(s, run, session)
			run.ends(1)
			s.stoppedOnTheWay(run)
			server.signal(os.Interrupt)
			server.ends(0)
			last := s.proved().rows(`SELECT type, body FROM events ORDER BY seq DESC LIMIT 1`)[0]
			if last[0] != aaep.TypeSessionCancelled || !strings.Contains(last[1], grouped(len(s.gone()))) {
				t.Errorf("%d files are gone, and the last event is %s", len(s.gone()), last[1])
			}
		})
	}
}

// TestServerKilledWhileAttached: a run is attached when the server is killed, in the middle of a
// removal, and started again. It says once that the connection is lost and once that it is
// back, hears everything once, and ends with what really went.
func TestServerKilledWhileAttached(t *testing.T) {
	t.Parallel()
	s := manyFiles(t)
	first := s.up()
	run := s.run("--json")
	run.await(asked)
	s.does(0, "reply", "1", "accept")
	s.underWay(run)
	must(t, first.cmd.Process.Kill())
	first.wait()
	run.await("Connection: lost; trying again.")
	s.up().await("Resumed: sess_")
	run.await("Connection: back; nothing was missed.")
	run.ends(1)
	s.stoppedOnTheWay(run)
	for _, once := range []string{"Connection: lost", "Connection: back"} {
		if n := strings.Count(run.prompt.String(), once); n != 1 {
			t.Errorf("it says %d times: %s", n, once)
		}
	}
	s.tidied()
}
