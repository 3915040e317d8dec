package main_test

import (
	"os"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestSetUndoTime: what a person has set is what their yes can be taken back in, with the server running
// or not, and is told in the question and after the answer.
func TestSetUndoTime(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := newScene(t)
	contains(t, s.does(0, "set", "undo-time"), "can take an accept back for 8 seconds, or longer where the tool or the policy says so.")
	contains(t, s.does(0, "set", "undo-time", "2m"), "can take an accept back for 2 minutes")
	for _, bad := range []string{"", "0s", "2s", "121s", "unlimited", "soon"} {
		contains(t, s.does(2, "set", "undo-time", bad), "is not a valid time to take an accept back; it can be 3s to 2m")
	}
	contains(t, s.does(2, "set", "undo-time", "20"), `"20" has no unit; a time is one such as 20s or 1m`)
	alone := s.run("--json")
	alone.await(asked)
	alone.say("why")
	alone.await("Why question 1: After you accept, you have 2 minutes")
	alone.say("accept")
	alone.await("Starts in 2 minutes. Type undo to take it back.")
	alone.say("undo")
	alone.ends(3)
	s.untouched("after an undo")

	server := s.up()
	contains(t, s.does(0, "set", "undo-time", "3s"), "can take an accept back for 3 seconds")
	run := s.run("--json")
	run.await(asked)
	run.say("accept")
	run.await("Starts in 3 seconds. Type undo to take it back.")
	run.ends(0)
	s.tidied()
	contains(t, s.does(0, "set", "undo-time", "default", "--json"), `"undo_seconds": 0`)
	contains(t, s.does(0, "set", "answer-time"), "stay open as long as the policy and the tool say.")
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestRestartedAfterTheYes: the server is killed between the yes and the start. What was agreed to is
// not done by the next one: it asks again, under the number that the person knows, and says why.
func TestRestartedAfterTheYes(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := newScene(t)
	first := s.upApart()
	session := s.starts(s.dials())
	s.reaches(s.dials(), session, func(e aaep.Event) bool { _, asks := e.Payload.(aaep.AwaitingConfirmation); return asks })
	contains(t, s.does(0, "reply", "1", "accept"), "Recorded: question 1 is accepted.", "Starts in 8 seconds. `earshot undo 1` takes it back.")
	first.kill()
	first.wait()
	second := s.up()
	remote := s.dials()
	s.reaches(remote, session, func(e aaep.Event) bool {
		return e.Extension(aaep.PrefixEarshot, "changed") == "restarted"
	})
	s.untouched("after a restart")
	var number int
	for end := time.Now().Add(patience); number == 0 && time.Now().Before(end); {
		for _, q := range s.pending() {
			number = q.Number
		}
	}
	if number != 1 {
		t.Errorf("it is asked again as question %d", number)
	}
	contains(t, s.does(0, "pending", "1"), "Earshot restarted after your yes. Nothing was done.")
	contains(t, s.does(0, "reply", "1", "accept"), "Recorded: question 1 is accepted.")
	s.reaches(remote, session, func(e aaep.Event) bool { return e.IsTerminal() })
	s.tidied()
	second.signal(os.Interrupt)
	second.ends(0)
}
