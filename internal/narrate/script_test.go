package narrate_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

var update = flag.Bool("update", false, "write the scripts in testdata again")

// TestScripts plays each way that a turn can go and compares every event that it
// makes. Each event is judged by the rules of AAEP on the way (see stage.judge).
func TestScripts(t *testing.T) {
	t.Parallel()
	for name, play := range scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			play(s)
			s.close()
			path := filepath.Join("testdata", strings.ReplaceAll(name, " ", "_")+".golden")
			got := s.script()
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				s.lend(name)
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the script differs from %s; look at it, then run with -update\n%s", path, difference(got, string(want)))
			}
		})
	}
}

// lend writes the events of a scenario where the announcer's tests play them, if they do.
func (s *stage) lend(name string) {
	s.tb.Helper()
	path := filepath.Join("..", "aaep", "announce", "testdata", strings.NewReplacer(" ", "_", "'", "").Replace(name)+".jsonl")
	if _, err := os.Stat(path); err != nil {
		return
	}
	var out strings.Builder
	for _, row := range s.rows {
		out.WriteString(string(row.Body) + "\n")
	}
	if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
		s.tb.Fatal(err)
	}
}

// difference shows where two scripts part.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	i := 0
	for i < len(g) && i < len(w) && g[i] == w[i] {
		i++
	}
	rest := func(lines []string) string { return strings.Join(lines[i:min(i+8, len(lines))], "\n") }
	return "line " + strconv.Itoa(i+1) + "\ngot:\n" + rest(g) + "\nwant:\n" + rest(w)
}

// asks plays up to the open question about deleting.
func asks(s *stage) string {
	s.claim()
	c := s.call("files.delete", deleteArgs)
	s.step(c)
	return c.ID
}

// runs plays up to a running deletion.
func runs(s *stage) string {
	id := asks(s)
	s.answer(1, true, false)
	s.after(turn.DefaultUndo)
	s.tick()
	s.start(id)
	return id
}

// delegates plays up to a call that other agents do, all of which have begun.
func (s *stage) delegates(agents ...string) {
	s.tb.Helper()
	s.claim()
	c := turn.Call{
		ID: "tc_1", Key: "k1", Tool: "fork_join", Class: utp.Read, Risk: utp.RiskLow, Decision: turn.Allow, Digest: "digest",
		Batch: &turn.Batch{Waits: true},
	}
	for i, agent := range agents {
		c.Batch.Children = append(c.Batch.Children, turn.Child{Index: i, Agent: agent})
	}
	s.feed(turn.Request{WorkerClaim: turn.WorkerClaim{Worker: s.state.Worker, Epoch: s.state.Epoch, Nonce: s.state.Nonce}, Step: s.state.Step + 1, Calls: []turn.Call{c}})
	for i := range agents {
		s.feed(turn.ChildBegun{Call: "tc_1", Index: i, Turn: fmt.Sprint("turn_", i)})
	}
}

func (s *stage) childEnds(i int, status utp.Status) {
	s.tb.Helper()
	s.feed(turn.ChildEnded{Call: "tc_1", Child: turn.Child{Index: i, Turn: fmt.Sprint("turn_", i), Status: status}})
}

// loses plays up to a question about an unknown fate.
func loses(s *stage) string {
	id := runs(s)
	s.after(2 * time.Minute)
	s.tick()
	return id
}

// scenarios are all of them.
func scenarios() map[string]func(*stage) {
	all := callScenarios()
	maps.Copy(all, agentScenarios())
	maps.Copy(all, outsideScenarios())
	maps.Copy(all, standingScenarios())
	return all
}

func callScenarios() map[string]func(*stage) {
	return map[string]func(*stage){
		"allowed read": func(s *stage) {
			s.claim()
			c := s.call("files.scan", []byte(`{"root":"/home/anna","cursor":""}`))
			c.Range = [2]float64{0, 50}
			s.step(c)
			s.start(c.ID)
			s.feed(turn.Heartbeat{Call: c.ID, Owner: "o", Fence: 1, Lease: time.Minute, Fraction: 0.5})
			s.feed(turn.Heartbeat{Call: c.ID, Owner: "o", Fence: 1, Lease: time.Minute, Fraction: 0.3})
			s.after(1400 * time.Millisecond)
			s.finish(c.ID, utp.StatusSuccess, "", `{"files":[{"path":"a","size":1}]}`)
			s.deliver(turn.End{Status: utp.StatusSuccess}, "There are no duplicates.", "I looked at one file. There are no duplicates.")
		},
		"a tool says what it is at": func(s *stage) {
			s.claim()
			c := s.call("files.scan", []byte(`{"root":"/home/anna","cursor":""}`))
			s.step(c)
			s.start(c.ID)
			s.tell.Summary = "Reading the folder 2019 of 31"
			s.feed(turn.Heartbeat{Call: c.ID, Owner: "o", Fence: 1, Lease: time.Minute, Fraction: -1, Text: true})
			s.tell.Summary = ""
			s.after(1400 * time.Millisecond)
			s.finish(c.ID, utp.StatusSuccess, "", `{"files":[{"path":"a","size":1}]}`)
			s.deliver(turn.End{Status: utp.StatusSuccess}, "There are no duplicates.", "I looked at one file. There are no duplicates.")
		},
		"accept and run": func(s *stage) {
			s.says = "These are copies, nobody will miss them."
			id := runs(s)
			s.after(2 * time.Second)
			s.finish(id, utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678,"refused":[]}`)
			s.done()
		},
		"accept and undo": func(s *stage) {
			asks(s)
			s.answer(1, true, false)
			s.after(time.Second)
			s.undo(1)
		},
		"reject": func(s *stage) {
			asks(s)
			s.answer(1, false, false)
			s.deliver(turn.End{Status: utp.StatusSuccess}, "Nothing was deleted.", "")
		},
		"reject told as the code of the turn": func(s *stage) {
			asks(s)
			s.answer(1, false, false)
			s.deliver(turn.End{Status: utp.StatusCanceled, Code: utp.CodeConsentDeclined}, "", "")
		},
		"expire": func(s *stage) {
			asks(s)
			s.after(5 * time.Minute)
			s.expire(1)
			s.deliver(turn.End{Status: utp.StatusCanceled, Code: utp.CodeConsentExpired}, "", "")
		},
		"withdrawn": func(s *stage) {
			asks(s)
			s.feed(turn.Unanswered{Question: 1, Code: utp.CodeConsentWithdrawn})
			s.deliver(turn.End{Status: utp.StatusCanceled}, "I gave up.", "")
		},
		"ended for another reason": func(s *stage) {
			asks(s)
			s.feed(turn.Unanswered{Question: 1, Code: "quota_reached"})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: "quota_reached"}, "", "")
		},
		"failed for the reason that the agent gives": func(s *stage) {
			asks(s)
			s.feed(turn.Unanswered{Question: 1, Code: utp.CodeBadRequest})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeBadRequest, Message: "The list is empty."}, "The list is empty.", "")
		},
		"counted down": func(s *stage) {
			id := asks(s)
			s.narrate(turn.Note{Kind: kernel.NoteCountdown, Call: id})
			s.after(150 * time.Second)
			s.narrate(turn.Note{Kind: kernel.NoteCountdown, Call: id})
			s.after(120 * time.Second)
			s.narrate(turn.Note{Kind: kernel.NoteCountdown, Call: id})
			s.answer(1, false, false)
			s.narrate(turn.Note{Kind: kernel.NoteCountdown, Call: id}) // nobody has to hurry any more
			s.deliver(turn.End{Status: utp.StatusSuccess}, "Nothing was done.", "")
		},
		"extend then accept": func(s *stage) {
			id := asks(s)
			s.after(time.Minute)
			s.extend(1)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.start(id)
			s.finish(id, utp.StatusPartial, "", `{"deleted":1,"bytes":6172839,"refused":[{"path":"c","code":"changed"}]}`)
			s.deliver(turn.End{Status: utp.StatusPartial}, "One file was left.", "")
		},
		"stale before dispatch": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.feed(turn.Tick{Checks: []turn.Check{{Call: id, Digest: "other", Reason: "arguments"}}})
			s.answer(2, false, false)
			s.done()
		},
		"stale at start": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.after(2 * time.Minute)
			s.start(id)
			s.expire(2)
			s.done()
		},
		"stale again and again": func(s *stage) {
			asks(s)
			for number := 1; number <= turn.MaxStale; number++ {
				s.answer(number, true, false)
				s.after(turn.DefaultUndo)
				s.tick()
				s.after(2 * time.Minute)
				s.tick()
			}
			s.done()
		},
		"stale for other reasons and not asked again": func(s *stage) {
			asks(s)
			for number, reason := range []string{"policy", "arguments", "", "definition", "env"} {
				s.answer(number+1, true, false)
				s.after(turn.DefaultUndo)
				c, _ := s.state.FindQuestion(number + 1)
				if reason != "" {
					s.feed(turn.Tick{Checks: []turn.Check{{Call: c.ID, Digest: "other", Reason: reason}}})
					continue
				}
				s.tick()
				s.start(c.ID)
				s.finish(c.ID, utp.StatusCanceled, utp.CodeConsentStale, "")
			}
			s.done()
		},
		"stale by policy and expired": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.feed(turn.Tick{Checks: []turn.Check{{Call: id, Digest: "other", Reason: "policy"}}})
			s.after(5 * time.Minute)
			s.expire(2)
			s.deliver(turn.End{Status: utp.StatusCanceled, Code: utp.CodeConsentExpired}, "", "")
		},
		"allowed and stale twice": func(s *stage) {
			s.claim()
			s.step(s.call("files.scan", []byte(`{"root":"/home/anna","cursor":""}`)))
			for _, id := range []string{"tc_1", "tc_2"} {
				s.start(id)
				s.finish(id, utp.StatusCanceled, utp.CodeConsentStale, `{}`)
			}
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeConsentStale}, "", "")
		},
		"the end comes before a word on a running call": func(s *stage) {
			runs(s)
			s.state.Status, s.state.End = turn.Ended, &turn.End{Status: utp.StatusFailed, Code: utp.CodeInternalError}
			s.narrate(turn.Note{Kind: turn.NoteEnded})
		},
		"the words of the agent act": func(s *stage) {
			s.says = "Nobody needs them.\n\x1b[2JQuestion 9: It can be undone.” Say \u202etpecca\u202c. The agent says: “ok\u200b\u200b"
			asks(s)
			s.answer(1, false, false)
			s.done()
		},
		"the words of the agent are long": func(s *stage) {
			s.says = strings.Repeat("It is safe. ", 200)
			asks(s)
			s.answer(1, false, false)
			s.done()
		},
		"denied": func(s *stage) {
			s.claim()
			c := s.call("mail.send", []byte(`{"to":"b@example.org"}`))
			c.Decision = turn.Deny
			s.step(c)
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeDeniedByPolicy}, "I may not send mail.", "")
		},
		"denied while asked": func(s *stage) {
			id := asks(s)
			s.feed(turn.Ruled{Call: id, Terms: turn.Terms{Decision: turn.Deny}})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeDeniedByPolicy}, "", "")
		},
		"denied after the yes": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.feed(turn.Tick{Checks: []turn.Check{{Call: id, Digest: "other", Reason: turn.ReasonDenied}}})
			s.after(turn.DefaultUndo)
			s.feed(turn.Tick{Checks: []turn.Check{{Call: id, Digest: "other", Reason: turn.ReasonDenied}}})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeDeniedByPolicy}, "", "")
		},
		"denied at start": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.feed(turn.Ruled{Call: id, Terms: turn.Terms{Decision: turn.Deny}})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeDeniedByPolicy}, "", "")
		},
		"its tool goes while it is asked": func(s *stage) {
			id := asks(s)
			s.feed(turn.ToolMissing{Call: id})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeUnknownTool}, "", "")
		},
		"its tool goes after the yes": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.feed(turn.ToolMissing{Call: id})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeUnknownTool}, "", "")
		},
		"its tool goes before the start": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.feed(turn.ToolMissing{Call: id})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeUnknownTool}, "", "")
		},
		"the rules cannot be read": func(s *stage) {
			s.narrate(turn.Note{Kind: kernel.NoteRulesBroken}) // nobody has heard of the turn
			asks(s)
			s.narrate(turn.Note{Kind: kernel.NoteRulesBroken})
			s.narrate(turn.Note{Kind: kernel.NoteRulesMended})
			s.answer(1, false, false)
			s.done()
		},
		"unknown then leave": func(s *stage) {
			loses(s)
			s.answer(2, false, false)
			s.done()
		},
		"unknown then nobody": func(s *stage) {
			loses(s)
			s.expire(2)
			s.done()
		},
		"nobody is there, then somebody": func(s *stage) {
			asks(s)
			s.after(5 * time.Second)
			s.feed(turn.Unshown{Question: 1})
			s.after(time.Hour)
			s.feed(turn.Shown{Question: 1})
			s.after(time.Minute)
			s.answer(1, false, false)
			s.done()
		},
		"unknown, and nobody is there, then somebody": func(s *stage) {
			loses(s)
			s.after(5 * time.Second)
			s.feed(turn.Unshown{Question: 2})
			s.after(time.Hour)
			s.feed(turn.Shown{Question: 2})
			s.answer(2, false, false)
			s.done()
		},
		"no time limit": func(s *stage) {
			s.claim()
			c := s.call("files.delete", deleteArgs)
			c.Limits.Answer = 24 * time.Hour
			s.step(c)
			s.answer(1, false, false)
			s.done()
		},
		"unknown then extend": func(s *stage) {
			loses(s)
			s.extend(2)
			s.answer(2, false, false)
			s.done()
		},
		"unknown then ask again": func(s *stage) {
			loses(s)
			s.answer(2, false, true) // the tool may still be alive
			s.answer(3, false, true) // all the same
			s.answer(4, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.start("tc_2")
			s.finish("tc_2", utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678,"refused":[]}`)
			s.done()
		},
		"unknown then settled": func(s *stage) {
			id := loses(s)
			s.finish(id, utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678,"refused":[]}`)
			s.done()
		},
		"unknown, and the tool says what it knows": func(s *stage) {
			c := s.call("files.delete", []byte(`{"root":"/home/anna","sets":[]}`))
			c.Limits.Reconciles = true
			s.claim()
			s.step(c)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.start(c.ID)
			s.after(2 * time.Minute)
			s.tick()
			s.feed(turn.Reconciled{Call: c.ID, Owner: "o", LeaseExpiry: 1, Finding: turn.FindingUnknown, Outcome: turn.Outcome{
				Message: "one file lies in .earshot-tc_1: \u202egpj.exe\u202c; put it back by hand",
			}})
			s.answer(2, false, false)
			s.done()
		},
		"unknown then had not begun": func(s *stage) {
			id := loses(s)
			c, _ := s.state.Find(id)
			s.feed(turn.Reconciled{Call: id, Owner: c.Owner, LeaseExpiry: c.LeaseExpiries, Finding: turn.FindingNotBegun})
			s.done()
		},
		"a command cannot be sent": func(s *stage) {
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.narrate(turn.Note{Kind: turn.NoteUndelivered, Call: id})
			s.start(id)
			s.finish(id, utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678,"refused":[]}`)
			s.done()
		},
		"no service is connected, then one is": func(s *stage) {
			s.tell.Unserved = true
			id := asks(s)
			s.tell.Unserved = false
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.after(time.Second)
			s.feed(turn.Unserved{Call: id})
			s.start(id)
			s.finish(id, utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678,"refused":[]}`)
			s.done()
		},
		"no service is connected for a read": func(s *stage) {
			s.claim()
			c := s.call("files.scan", []byte(`{"root":"/home/anna","cursor":""}`))
			s.step(c)
			s.after(time.Second)
			s.feed(turn.Unserved{Call: c.ID})
			s.after(time.Minute)
			s.tick()
			s.done()
		},
		"late result": func(s *stage) {
			id := loses(s)
			s.answer(2, false, false)
			s.finish(id, utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678,"refused":[]}`)
			s.done()
		},
		"late result while a question is open": func(s *stage) {
			id := loses(s)
			s.answer(2, false, false)
			s.step(s.call("mail.send", []byte(`{"to":"b@example.org"}`)))
			s.finish(id, utp.StatusFailed, utp.CodeInternalError, `{}`)
			s.answer(3, false, false)
			s.done()
		},
		"restarted with the service gone": func(s *stage) {
			runs(s)
			s.feed(turn.Orphan{})
			s.answer(2, false, false)
			s.claim()
			s.done()
		},
		"restored while asked": func(s *stage) {
			asks(s)
			s.feed(turn.Restored{})
			s.answer(2, false, false)
			s.claim()
			s.done()
		},
		"restored while accepted": func(s *stage) {
			asks(s)
			s.answer(1, true, false)
			s.feed(turn.Restored{})
			s.answer(2, false, false)
			s.claim()
			s.done()
		},
		"restored while running": func(s *stage) {
			runs(s)
			s.feed(turn.Restored{})
			s.answer(2, false, false)
			s.claim()
			s.done()
		},
		"started by an agent within another session": func(s *stage) {
			s.state.Parent, s.state.Within = "turn_0", turn.Within{Session: "sess_0", Name: "clerk, invoices", Spawner: "clerk"}
			s.claim()
			s.stop(false)
		},
		"started by its owner within another session": func(s *stage) {
			s.state.Parent, s.state.Within = "turn_0", turn.Within{Session: "sess_0", Name: "clerk, invoices"}
			s.claim()
			s.stop(false)
		},
		"other agents do several tasks": func(s *stage) {
			s.delegates("clerk", "clerk", "scout")
			for i, status := range []utp.Status{utp.StatusSuccess, utp.StatusFailed, utp.StatusSuccess} {
				s.childEnds(i, status)
			}
			s.done()
		},
		"other agents do all of their tasks": func(s *stage) {
			s.delegates("clerk", "scout")
			s.childEnds(1, utp.StatusSuccess)
			s.childEnds(0, utp.StatusSuccess)
			s.done()
		},
		"another agent is asked, and the turn stopped": func(s *stage) {
			s.delegates("clerk")
			s.stop(false)
			s.childEnds(0, utp.StatusCanceled)
		},
		"another agent takes too long": func(s *stage) {
			s.delegates("clerk")
			s.after(24 * time.Hour)
			s.tick()
			s.done()
		},
		"stop while queued":   func(s *stage) { s.stop(false) },
		"stop while thinking": func(s *stage) { s.claim(); s.stop(false) },
		"restarted after the yes": func(s *stage) {
			asks(s)
			s.answer(1, true, false)
			s.feed(turn.Orphan{Generation: "g2"})
			s.answer(1, true, false)
			s.stop(false)
		},
		"restarted after the command had left": func(s *stage) {
			asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.feed(turn.Orphan{Generation: "g2"})
			s.answer(1, false, false)
			s.stop(false)
		},
		"told of the yes too late": func(s *stage) {
			asks(s)
			s.feed(turn.Answered{Question: 1, Accept: true, By: "anna", Surface: "terminal"})
			s.after(turn.NoticeWithin)
			s.tick()
			s.stop(false)
		},
		"stop while asked":    func(s *stage) { asks(s); s.stop(false) },
		"stop while accepted": func(s *stage) { asks(s); s.answer(1, true, false); s.stop(false) },
		"stop while dispatched": func(s *stage) {
			asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.stop(false)
		},
		"stop while running": func(s *stage) {
			id := runs(s)
			s.stop(false)
			s.finish(id, utp.StatusPartial, utp.CodeStopped, `{"deleted":1,"bytes":6172839,"refused":[]}`)
		},
		"stop while unknown": func(s *stage) { loses(s); s.stop(false) },
		"stop while unknown and another runs": func(s *stage) {
			s.claim()
			first, second := s.call("files.delete", deleteArgs), s.call("mail.send", []byte(`{"to":"b@example.org"}`))
			s.step(first, second)
			s.answer(1, true, false)
			s.answer(2, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.start(first.ID)
			s.after(50 * time.Second)
			s.start(second.ID)
			s.after(20 * time.Second)
			s.tick()
			s.stop(false)
			s.finish(second.ID, utp.StatusCanceled, utp.CodeStopped, `{}`)
		},
		"stopped by a signal": func(s *stage) { runs(s); s.stop(true); s.after(2 * time.Minute); s.tick() },
		"two questions at once": func(s *stage) {
			s.claim()
			first, second := s.call("files.delete", deleteArgs), s.call("files.trash", []byte(`{"path":"x"}`))
			s.step(first, second)
			s.answer(2, true, false)
			s.tick()
			s.start(second.ID)
			s.finish(second.ID, utp.StatusSuccess, "", `{}`)
			s.answer(1, false, false)
			s.done()
		},
		"two tools at once": func(s *stage) {
			s.claim()
			first, second := s.call("files.scan", []byte(`{"root":"/a"}`)), s.call("files.scan", []byte(`{"root":"/b"}`))
			denied := s.call("mail.send", []byte(`{}`))
			denied.Decision = turn.Deny
			s.step(first, second, denied)
			s.start(second.ID)
			s.start(first.ID)
			s.finish(second.ID, utp.StatusSuccess, "", `{"files":[]}`)
			s.finish(first.ID, utp.StatusFailed, utp.CodeNotFound, `{}`)
			s.done()
		},
		"tool fails": func(s *stage) {
			id := runs(s)
			s.finish(id, utp.StatusFailed, utp.CodeUpstreamUnavailable, `{}`)
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeUpstreamUnavailable, Message: "no route"}, "", "It did not work.")
		},
		"every tool fails and the agent calls it done": func(s *stage) {
			id := runs(s)
			s.finish(id, utp.StatusFailed, utp.CodeUpstreamUnavailable, `{}`)
			s.deliver(turn.End{Status: utp.StatusSuccess}, "", "All done.")
		},
		"tool times out": func(s *stage) {
			id := runs(s)
			s.finish(id, utp.StatusTimeout, utp.CodeToolTimeout, `{}`)
			s.deliver(turn.End{Status: utp.StatusTimeout}, "", "")
		},
		"the program changed since review": func(s *stage) {
			id := runs(s)
			c, _ := s.state.Find(id)
			s.feed(turn.Finish{Call: id, Owner: "o", Fence: c.Fence, Outcome: turn.Outcome{
				Status: utp.StatusFailed, Code: utp.CodeChangedSinceReview, Message: "/srv/x changed since review. Nothing was run.", Untouched: true,
			}})
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeChangedSinceReview}, "", "")
		},
		"nobody starts it": func(s *stage) {
			s.claim()
			c := s.call("files.scan", []byte(`{"root":"/a"}`))
			s.step(c)
			s.after(2 * time.Minute)
			s.tick()
			s.deliver(turn.End{Status: utp.StatusFailed, Code: utp.CodeToolTimeout}, "", "")
		},
		"unreviewed tool": func(s *stage) {
			tool := s.tools["files.delete"]
			tool.Reviewed = false
			s.tools["files.delete"] = tool
			id := asks(s)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.start(id)
			s.finish(id, utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678,"refused":[]}`)
			s.done()
		},
		"tool without words": func(s *stage) {
			s.claim()
			c := s.call("mail.send", []byte(`{"attachments":[1,2],"body":"Hello\u001b[2J","headers":{},"password":{"$secret":"k","mac":"m"},"to":{"$secret":"k2","mac":"m"},"urgent":true,"z":null}`))
			s.step(c)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.start(c.ID)
			s.finish(c.ID, utp.StatusSuccess, "", `{}`)
			s.done()
		},
		"tool with broken words": func(s *stage) {
			s.claim()
			c := s.call("calendar.set", []byte(`{"day":"2026-03-02"}`))
			s.step(c)
			s.answer(1, true, false)
			s.tick()
			s.start(c.ID)
			s.finish(c.ID, utp.StatusSuccess, "", `{}`)
			s.done()
		},
		"a call from outside still runs at the end": func(s *stage) {
			s.claim()
			c := s.call("files.trash", []byte(`{"path":"x"}`))
			c.Decision = turn.Allow
			s.feed(turn.Adopt{Call: c})
			s.start(c.ID)
			s.done()
		},
		"a call from outside is asked about at the end": func(s *stage) {
			s.claim()
			s.feed(turn.Adopt{Call: s.call("mail.send", []byte(`{"to":"b@example.org"}`))})
			s.done()
		},
		"a call from outside is unknown at the end": func(s *stage) {
			s.claim()
			c := s.call("files.trash", []byte(`{"path":"x"}`))
			c.Decision = turn.Allow
			s.feed(turn.Adopt{Call: c})
			s.start(c.ID)
			s.after(2 * time.Minute)
			s.tick()
			s.done()
		},
	}
}
