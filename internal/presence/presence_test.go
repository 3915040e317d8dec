package presence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/presence"
)

// tree is a table of processes: two terminals, an agent's host in one of them, and a window manager above all.
func tree() map[int]presence.Process {
	all := map[int]presence.Process{}
	for _, p := range []presence.Process{
		{ID: 1, Name: "init"},
		{ID: 10, Parent: 1, Group: 10, Session: 10, Name: "wm"},
		{ID: 20, Parent: 10, Group: 10, Session: 10, Name: "kitty"},
		{ID: 21, Parent: 20, Group: 21, Session: 21, Terminal: 0x8803, Name: "bash"},
		{ID: 22, Parent: 21, Group: 22, Session: 21, Terminal: 0x8803, Name: "claude"},
		{ID: 23, Parent: 22, Group: 22, Session: 21, Terminal: 0x8803, Name: "sh"},
		{ID: 24, Parent: 23, Group: 22, Session: 21, Terminal: 0x8803, Name: "earshot"}, // mcp serve
		{ID: 25, Parent: 22, Group: 25, Session: 21, Terminal: 0x8803, Name: "bash"},    // a tool of the host
		{ID: 26, Parent: 25, Group: 25, Session: 21, Terminal: 0x8803, Name: "earshot"}, // and its answer
		{ID: 27, Parent: 1, Group: 25, Session: 21, Terminal: 0x8803, Name: "earshot"},  // after a double fork
		{ID: 28, Parent: 1, Group: 28, Session: 28, Name: "earshot"},                    // in a session of its own
		{ID: 30, Parent: 10, Group: 10, Session: 10, Name: "kitty"},
		{ID: 31, Parent: 30, Group: 31, Session: 31, Terminal: 0x8804, Name: "bash"},
		{ID: 32, Parent: 31, Group: 32, Session: 31, Terminal: 0x8804, Name: "earshot"}, // a person's answer
		{ID: 33, Parent: 31, Group: 33, Session: 31, Terminal: 0x8804, Name: "python"},  // an agent of the person's own
		{ID: 34, Parent: 33, Group: 33, Session: 31, Terminal: 0x8804, Name: "earshot"}, // what that has started
		{ID: 50, Parent: 30, Group: 50, Session: 50, Terminal: 0x8805, Name: "fish"},
		{ID: 51, Parent: 50, Group: 51, Session: 50, Terminal: 0x8805, Name: "codex"},                 // an agent that has never asked for a call
		{ID: 52, Parent: 51, Group: 51, Session: 50, Terminal: 0x8805, Name: "bash"},                  // its shell
		{ID: 53, Parent: 52, Group: 51, Session: 50, Terminal: 0x8805, Name: "earshot"},               // and an answer of its own
		{ID: 54, Parent: 50, Group: 54, Session: 50, Terminal: 0x8805, Name: "bash", Program: "node"}, // it calls itself a shell
		{ID: 55, Parent: 54, Group: 54, Session: 50, Terminal: 0x8805, Name: "earshot"},
		{ID: 56, Parent: 50, Group: 56, Session: 50, Terminal: 0x8805, Name: "answer.sh", Program: "dash"}, // a script of the person's
		{ID: 57, Parent: 56, Group: 56, Session: 50, Terminal: 0x8805, Name: "sudo"},
		{ID: 58, Parent: 57, Group: 56, Session: 50, Terminal: 0x8805, Name: "earshot"},
		{ID: 60, Parent: 30, Group: 60, Session: 60, Terminal: 0x8806, Name: "gemini", Program: "node"}, // a terminal of an agent alone
		{ID: 61, Parent: 60, Group: 60, Session: 60, Terminal: 0x8806, Name: "earshot"},
		{ID: 70, Parent: 30, Group: 70, Session: 70, Terminal: 0x8807, Name: "earshot"}, // and one of Earshot alone
	} {
		p.Started = uint64(p.ID) * 100
		all[p.ID] = p
	}
	return all
}

func tableOf(all map[int]presence.Process) presence.Table {
	return func(id int) (presence.Process, bool) {
		p, found := all[id]
		return p, found
	}
}

// TestAt: what a shell has started in a terminal, below its first process, is there; and nothing is that asks for calls,
// or was started by what does.
func TestAt(t *testing.T) {
	t.Parallel()
	hosts := presence.NewHosts(tableOf(tree()))
	hosts.Asked(24, true)  // of claude
	hosts.Asked(33, false) // the agent
	hosts.Asked(0, true)   // unknown
	for id, want := range map[int]string{
		32: "", 31: "", 21: "",
		26: "below claude (process 22)", 25: "below claude", 24: "below earshot (process 24)", 23: "below sh (process 23)", 22: "below claude",
		27: "not started by the shell of its terminal", 28: "not run in a terminal",
		33: "below python", 34: "below python (process 33)",
		53: "started by codex (process 51), and not by the shell", 55: "started by bash (process 54)", 58: "", 61: "started by gemini", 70: "",
		0: "not known", 99: "not known",
	} {
		at, err := hosts.At(id)
		switch {
		case want == "" && (err != nil || at.Key == "" || !strings.HasPrefix(at.Name, "pts/")):
			t.Errorf("process %d is at %+v, %v", id, at, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || at != presence.Terminal{}):
			t.Errorf("process %d is at %+v, %v; want %q", id, at, err, want)
		}
	}
	one, _ := hosts.At(21)
	other, _ := hosts.At(31)
	if one.Key == other.Key || one.Name != "pts/3" || other.Name != "pts/4" {
		t.Errorf("the terminals are %+v and %+v", one, other)
	}
}

// TestAtLater: a shell that comes later with the same ids in the same terminal is another session, and not a host.
func TestAtLater(t *testing.T) {
	t.Parallel()
	all := tree()
	hosts := presence.NewHosts(tableOf(all))
	before, err := hosts.At(32)
	if err != nil {
		t.Fatal(err)
	}
	hosts.Asked(33, false)
	shell, agent := all[31], all[33]
	shell.Started++
	agent.Started++
	agent.Name = "zsh"
	all[31], all[33] = shell, agent
	after, err := hosts.At(34)
	if err != nil || after.Key == before.Key {
		t.Errorf("it is at %+v, %v; before it was %+v", after, err, before)
	}
}

// TestAskedFor: a program that has started an agent is not that agent; what it has not started, it cannot put in its place.
func TestAskedFor(t *testing.T) {
	t.Parallel()
	all := tree()
	agent := all[33]
	agent.Parent = 32
	all[33] = agent
	hosts := presence.NewHosts(tableOf(all))
	hosts.AskedFor(32, 33)
	for id, host := range map[int]bool{32: false, 31: false, 33: true, 34: true} {
		if err := hosts.Above(id); (err != nil) != host {
			t.Errorf("above %d: %v", id, err)
		}
	}
	hosts.AskedFor(24, 33)
	if hosts.Above(24) == nil {
		t.Error("a process counts as no host, because it has named another's agent")
	}
}

// TestAsked: a gateway is noted with its host and the job they are in, never with what has started that job.
func TestAsked(t *testing.T) {
	t.Parallel()
	all := tree()
	all[40] = presence.Process{ID: 40, Parent: 1, Group: 40, Session: 40, Started: 4000, Name: "systemd"}
	all[41] = presence.Process{ID: 41, Parent: 40, Group: 40, Session: 40, Started: 4100, Name: "earshot"}
	hosts := presence.NewHosts(tableOf(all))
	for id := range 300 { // more than are kept, all ended
		all[1000+id] = presence.Process{ID: 1000 + id, Parent: 1, Group: 1000 + id, Started: 1, Name: fmt.Sprint(id)}
		hosts.Asked(1000+id, true)
		delete(all, 1000+id)
	}
	hosts.Asked(24, true)
	hosts.Asked(41, true)
	for id, host := range map[int]bool{24: true, 23: true, 22: true, 26: true, 21: false, 20: false, 10: false, 1: false, 32: false, 41: true, 40: false, 1299: false} {
		if err := hosts.Above(id); (err != nil) != host {
			t.Errorf("above %d: %v", id, err)
		}
	}
}
