package main_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// starts starts a turn that nobody listens to.
func (s *scene) starts(remote *client.Client) string {
	s.t.Helper()
	args, err := json.Marshal(map[string]any{"root": s.folder})
	must(s.t, err)
	started, err := remote.Start(s.t.Context(), api.TurnStart{Agent: "tidy", Args: jsontext.Value(args), Request: "Tidy up."})
	must(s.t, err)
	return started.Session
}

// reaches reads a session until one of its events fits. To read it shows nobody anything.
func (s *scene) reaches(remote *client.Client, session string, fits func(aaep.Event) bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		for d, err := range remote.PastEvents(s.t.Context(), session) {
			must(s.t, err)
			if fits(d.Event) {
				return
			}
		}
	}
	s.t.Fatal("waited in vain")
}

// flagged looks for a question that says something of its time.
func flagged(name string) func(aaep.Event) bool {
	return func(e aaep.Event) bool {
		_, asks := e.Payload.(aaep.AwaitingConfirmation)
		is, _ := aaep.Read(e.Extensions[aaep.PrefixEarshot]).Flag(name)
		return asks && is
	}
}

// TestServerWaitsForSomebody: while nobody who can answer is shown a question it waits for a
// day; its own time starts when somebody lists it, without an extension.
func TestServerWaitsForSomebody(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	server := s.up()
	remote := s.dials()
	session := s.starts(remote)
	s.reaches(remote, session, flagged("waiting"))
	now := time.Now()
	open := s.pending()
	if len(open) != 1 || open[0].Number != 1 || open[0].Deadline.After(now.Add(6*time.Minute)) || open[0].Deadline.Before(now.Add(4*time.Minute)) {
		t.Fatalf("pending lists %+v", open)
	}
	if again := s.pending(); again[0].Token != open[0].Token || !again[0].Deadline.Equal(open[0].Deadline) {
		t.Errorf("listed again it is %+v", again)
	}
	contains(t, s.does(0, "reply", "1", "reject"), "Recorded: question 1 is rejected.")
	s.untouched("after a no")
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestServerTellsWhoIsLate: an answer after the deadline is told so, by the command as by the
// API; nothing is done.
func TestServerTellsWhoIsLate(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.up()
	run := s.run("--json", "--answer-within", "2s")
	run.await(asked)
	open := s.pending()
	run.ends(3)
	contains(t, s.does(3, "reply", "1", "accept"), "too late: the time to answer question 1 ended at")
	if len(open) == 1 { // else it was over before it was listed
		_, err := s.dials().Reply(t.Context(), 1, api.Reply{Token: open[0].Token, Decision: "accept"})
		if err == nil || !strings.Contains(err.Error(), "Too late: the time to answer question 1 ended at") || !strings.Contains(err.Error(), "Nothing was done.") {
			t.Errorf("the API says %v", err)
		}
	}
	s.untouched("after a late yes")
}

// TestServerParkedQuestion: a question of a turn in a folder that is not allowed now is told
// as parked; a yes is refused and says what to do, a no is taken.
func TestServerParkedQuestion(t *testing.T) {
	t.Parallel()
	s, other := newScene(t), newScene(t)
	first := s.up()
	run := s.run("--json")
	run.await(asked)
	first.signal(os.Interrupt)
	first.ends(0)
	second := start(t, options{verb: "up", data: s.data, args: []string{"--root", other.folder, "--http", "127.0.0.1:0"}})
	second.hears("Control C ends it")
	contains(t, s.does(0, "pending"), "Parked: its session is not under way at the server, so it can be rejected and not accepted.")
	refused := s.does(3, "reply", "1", "accept")
	contains(t, refused, "the turn is parked")
	contains(t, refused, "hint: start the server with the folder of the session (earshot up --root)")
	contains(t, s.does(3, "extend", "1"), "the turn is parked")
	contains(t, s.does(0, "reply", "1", "reject"), "Recorded: question 1 is rejected.")
	s.untouched("after a no")
	second.signal(os.Interrupt)
	second.ends(0)
	s.up()
	run.ends(3)
	s.untouched("at the end")
}

// TestSetAnswerTime: what a person has set holds for the questions of their turns, with the
// server running or not, and is told in the question.
func TestSetAnswerTime(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	contains(t, s.does(0, "set", "answer-time"), "Questions to ", "stay open as long as the policy and the tool say.")
	contains(t, s.does(0, "set", "answer-time", "unlimited"), "have no time limit; a question stays open for 24 hours at most.")
	for _, bad := range []string{"", "0s", "29s", "25h", "soon"} {
		contains(t, s.does(2, "set", "answer-time", bad), "is not a valid time to answer; it can be 30s to 24h")
	}
	for _, bad := range []string{"5", "90", "86401"} {
		contains(t, s.does(2, "set", "answer-time", bad), `"`+bad+`" has no unit; a time is one such as 90s or 15m`)
	}
	alone := s.run()
	alone.hears("There is no time limit; it stays open until")
	alone.say("reject")
	alone.ends(3)
	server := s.up()
	contains(t, s.does(0, "set", "answer-time"), "have no time limit")
	remote := s.dials()
	session := s.starts(remote)
	s.reaches(remote, session, flagged("unlimited"))
	contains(t, s.does(0, "pending"), "There is no time limit; it stays open until")
	contains(t, s.does(3, "extend"), "no more time can be given")
	contains(t, s.does(0, "reply", "reject"), "is rejected")
	contains(t, s.does(0, "set", "answer-time", "90s"), "stay open for 1 minute 30 seconds once they are shown")
	contains(t, s.does(0, "set", "answer-time", "default", "--json"), `"answer_seconds": 0`)
	server.signal(os.Interrupt)
	server.ends(0)
	s.untouched("after two times no")
}
