package narrate_test

import (
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// opens begins the session of an agent outside.
func (s *stage) opens() {
	s.tb.Helper()
	s.state.Agent, s.state.Name, s.state.Outside, s.state.MaxIdle = "claude", "claude, build the site", true, time.Hour
	s.request = "build the site"
	s.feed(turn.Open{})
}

// asksFor is a call that the agent asks for and waits for.
func (s *stage) asksFor(tool, args string) string {
	s.tb.Helper()
	c := s.call(tool, []byte(args))
	c.Awaited = s.now.Add(time.Minute)
	s.feed(turn.Adopt{Call: c})
	return c.ID
}

// permission is what the agent does by itself and asks about.
func (s *stage) permission(decision turn.Decision, tool, args string) (id string) {
	s.tb.Helper()
	c := s.call("claude."+tool, []byte(args))
	c.Kind, c.Class, c.Risk, c.Decision = turn.PermissionCall, utp.Irreversible, utp.RiskHigh, decision
	c.Awaited = s.now.Add(time.Minute)
	s.feed(turn.Adopt{Call: c})
	return c.ID
}

func (s *stage) reports(kind turn.NoteKind, words string) {
	s.tb.Helper()
	s.tell.Summary = words
	if kind == turn.NoteText {
		s.tell.Summary, s.tell.Output = "", words
	}
	s.feed(turn.AgentReport{Kind: kind, Percent: 40})
	s.tell = kernel.Notification{}
}

func (s *stage) closes(summary string) {
	s.tb.Helper()
	s.tell.Summary = summary
	s.feed(turn.Close{End: turn.End{Status: utp.StatusSuccess, Message: summary}})
	s.tell = kernel.Notification{}
}

// outsideScenarios are the ways of an agent that is a program outside.
func outsideScenarios() map[string]func(*stage) {
	return map[string]func(*stage){
		"an agent outside calls side by side": func(s *stage) {
			s.opens()
			look := s.asksFor("files.scan", `{"root":"/home/anna"}`)
			deletes := s.asksFor("files.delete", string(deleteArgs))
			s.start(look)
			s.finish(look, utp.StatusSuccess, "", `{"files":["a","b"]}`)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.start(deletes)
			s.finish(deletes, utp.StatusSuccess, "", `{"deleted":2,"bytes":12345678}`)
			s.closes("The site is built.")
		},
		"an agent outside has gone before the yes": func(s *stage) {
			s.opens()
			s.asksFor("files.delete", string(deleteArgs))
			s.after(2 * time.Minute)
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.after(2 * time.Minute)
			s.tick()
			s.after(2 * time.Hour)
			s.tick()
		},
		"an agent outside has gone without a word": func(s *stage) {
			s.opens()
			look := s.asksFor("files.scan", `{"root":"/home/anna"}`)
			s.start(look)
			s.finish(look, utp.StatusSuccess, "", `{"files":["a","b"]}`)
			s.feed(turn.Present{Within: 90 * time.Second})
			s.after(90 * time.Second)
			s.tick()
		},
		"an agent outside has gone before the start": func(s *stage) {
			s.opens()
			id := s.asksFor("files.delete", string(deleteArgs))
			s.answer(1, true, false)
			s.after(turn.DefaultUndo)
			s.tick()
			s.feed(turn.Await{Call: id})
			s.start(id)
			s.closes("")
		},
		"an agent outside takes a yes back and goes on": func(s *stage) {
			s.opens()
			s.asksFor("files.delete", string(deleteArgs))
			s.answer(1, true, false)
			s.tell.By, s.tell.Surface = "anna", "terminal"
			s.feed(turn.Undo{Question: 1, By: "anna", Surface: "terminal"})
			s.tell = kernel.Notification{}
			look := s.asksFor("files.scan", `{"root":"/home/anna"}`)
			s.start(look)
			s.finish(look, utp.StatusSuccess, "", `{"files":[]}`)
			s.closes("")
		},
		"an agent outside asks before it uses a tool of its own": func(s *stage) {
			s.opens()
			s.permission(turn.Ask, "Bash", `{"command":"rm -rf build","description":"Remove the build folder"}`)
			s.answer(1, true, false)
			s.reports(turn.NoteObserved, "It ran rm -rf build. It ended with 0.")
			s.tell.Lang = "es"
			s.reports(turn.NoteObserved, "Ha terminado con 0.")
			s.permission(turn.Ask, "Bash", `{"command":"git push --force"}`)
			s.answer(2, false, false)
			s.permission(turn.Deny, "Bash", `{"command":"shutdown now"}`)
			s.permission(turn.Ask, "Write", `{"file_path":"/home/anna/.bashrc","content":"export A=1"}`)
			s.after(5 * time.Minute)
			s.expire(3)
			s.permission(turn.Ask, "Bash", `{"command":"make clean"}`)
			s.after(2 * time.Minute) // its hook was killed
			s.answer(4, true, false)
			s.permission(turn.Allow, "Read", `{"file_path":"/home/anna/a"}`)
			s.permission(turn.Ask, "Bash", `{"command":"ls"}`)
			s.closes("Half of it is done.")
		},
		"an agent outside goes while it asks": func(s *stage) {
			s.opens()
			killed := s.permission(turn.Ask, "Bash", `{"command":"make clean"}`)
			s.feed(turn.Await{Call: killed})
			s.feed(turn.Await{Call: killed, Abandoned: true})
			s.permission(turn.Ask, "Bash", `{"command":"make clean"}`)
			s.answer(2, true, false)
			s.closes("It is clean.")
		},
		"an agent outside asks and names no tool": func(s *stage) {
			s.opens()
			s.permission(turn.Ask, "unnamed", `{"action":"Send the letter."}`)
			s.answer(1, true, false)
			s.closes("It is sent.")
		},
		"an agent outside says what it does": func(s *stage) {
			s.opens()
			s.reports(kernel.NoteDoing, "Reading the configuration.")
			s.reports(turn.NoteProgress, "")
			s.reports(turn.NoteText, "I have found the fault. ")
			s.reports(turn.NoteText, "It is in the template.")
			s.reports(turn.NoteObserved, "It edited site.conf.")
			s.reports(turn.NoteText, "The site builds again.")
			s.tell.Missed = 3
			s.reports(kernel.NoteMissed, "")
			s.closes("The site builds again.")
		},
		"an agent outside asks the person and hands over": func(s *stage) {
			s.opens()
			s.feed(turn.Adopt{Call: s.poses(freeQuestion)})
			s.responds(1, "anna", `"the new one"`)
			s.tell.Handoff = &api.Handoff{Reason: "It needs a signature.", To: "human"}
			s.closes("Somebody has to sign.")
		},
		"an agent outside is stopped": func(s *stage) {
			s.opens()
			s.permission(turn.Ask, "Bash", `{"command":"make"}`)
			s.asksFor("files.delete", string(deleteArgs))
			s.stop(false)
		},
	}
}
