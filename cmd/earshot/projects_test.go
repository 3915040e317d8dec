package main_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/bus"
	"github.com/earshot-dev/earshot/internal/testkit"
)

// project adds a project with a folder of its own, whose data and folder are a scene of their own.
func (s *scene) project(name string) *scene {
	s.t.Helper()
	p := newScene(s.t)
	p.data = filepath.Join(s.data, "projects", name)
	file := filepath.Join(filepath.Dir(s.data), name+".yaml")
	must(s.t, os.WriteFile(file, []byte("root: "+p.folder+"\n"), 0o600))
	contains(s.t, s.does(0, "projects", "add", name, "--config", file), "Project "+name+": ", "earshot pending --data "+p.data)
	return p
}

// TestProjects: two teams work with one server. What one is asked the other does not see and cannot answer; a yes in one deletes there and
// nowhere else; tokens and credentials count in their own project; and a server that is killed brings both back.
func TestProjects(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	early := s.project("early") // before the server runs
	up := s.upApart("--nats-listen", "127.0.0.1:0")
	billing := s.project("billing") // while it runs
	contains(t, s.does(0, "projects"), "Project billing: served at http://billing.localhost:", "Project early: served at http://early.localhost:")
	for _, one := range []*scene{s, early, billing} {
		remote := one.dials()
		one.reaches(remote, one.starts(remote), func(e aaep.Event) bool { _, asks := e.Payload.(aaep.AwaitingConfirmation); return asks })
	}
	theirs := billing.pending()[0]
	for _, other := range []*scene{s, early} {
		if mine := other.pending(); len(mine) != 1 || mine[0].Session == theirs.Session || mine[0].Call == theirs.Call {
			t.Errorf("its questions are %v, billing has %v", mine, theirs)
		}
		contains(t, other.does(1, "stop", theirs.Session), "no")
	}
	_, err := client.Dial(t.Context(), client.Options{URL: billing.place().URL, TokenFile: s.approver()})
	if e, is := errors.AsType[*client.Error](err); !is || e.Code != client.CodeUnauthenticated {
		t.Errorf("a token of the server's own project at billing: %v", err)
	}
	billing.strangers(s)

	up.insists(syscall.SIGKILL)
	up.wait()
	up = s.up("--nats-listen", "127.0.0.1:0")
	if again := billing.pending(); len(again) != 1 || again[0].Session != theirs.Session {
		t.Errorf("after it was killed billing is asked %v, before %v", again, theirs)
	}
	billing.does(0, "reply", "1", "accept")
	billing.reaches(billing.dials(), theirs.Session, func(e aaep.Event) bool { _, ends := e.Payload.(aaep.SessionCompleted); return ends })
	if gone := billing.gone(); strings.Join(gone, "\n") != strings.Join(billing.duplicates(), "\n") {
		t.Errorf("%v are gone in billing, expected %v", gone, billing.duplicates())
	}
	s.untouched("after the yes of another project")
	early.untouched("after the yes of another project")
	contains(t, s.does(0, "audit", "list"), "the project billing was added by ", "the project early was added by ")
	s.does(0, "audit", "verify")
	billing.does(0, "audit", "verify")
	up.signal(syscall.SIGTERM)
	up.ends(0)
}

// strangers has the credentials of a project used for another, by their file and by their secrets.
func (s *scene) strangers(other *scene) {
	s.t.Helper()
	words := bus.Principal{Kind: bus.Tool, Name: "words"}
	contains(s.t, s.does(0, "credential", "add", "words", "--role", "tool"), "They count now")
	contains(s.t, other.does(0, "credential", "add", "words", "--role", "tool"), "They count now")
	for _, one := range []*scene{s, other} {
		service, err := one.comes(words)
		must(s.t, err)
		must(s.t, registers(s.t, service, "words.count"))
	}
	raw, err := os.ReadFile(s.credential(words))
	must(s.t, err)
	must(s.t, os.WriteFile(other.credential(words), raw, 0o600))
	contains(s.t, other.does(0, "credential", "add", "me", "--role", "operator"), "Not taken up: tool.words.json: they are for the project billing; this one is default")
	other.does(0, "credential", "revoke", "words")
}

// TestProjectsWrong: names, files and answers that cannot be meant are refused with what to do, and nothing is begun. A project whose settings
// cannot be used hinders no other; one that is removed keeps its data until that is erased.
func TestProjectsWrong(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	odd := filepath.Join(filepath.Dir(s.data), "odd.yaml")
	must(t, os.WriteFile(odd, []byte("http: 127.0.0.1:1\n"), 0o600))
	contains(t, s.does(0, "projects"), "There is no project besides the server's own.")
	for _, name := range []string{"Billing", "a.b", "../x", "-", "default"} {
		s.does(2, "projects", "add", "--", name)
	}
	contains(t, s.does(2, "projects", "add", "billing", "--config", odd+"x"), "there is no file")
	billing := s.project("billing")
	s.does(0, "projects", "add", "odd", "--config", odd) // which is seen when it is served
	up := s.up()
	up.await("Project odd is not served: the configuration " + odd + " of the project odd sets http, which is the server's.")
	contains(t, s.does(0, "projects"), "Project billing: served at", "Project odd: not served: the configuration "+odd)
	contains(t, s.does(0, "projects", "show", "odd"), "sets http", "What to do: ")
	contains(t, s.does(1, "doctor"), "2 projects beside the server's own; 1 of them served.", "The project odd is not served: the configuration "+odd, "`earshot projects add odd` tries again")
	contains(t, s.does(1, "projects", "add", "odder", "--config", odd), "the project odder is not added, because it cannot be served", "sets http")
	contains(t, s.does(2, "projects", "show", "odder"), "there is no project odder")
	contains(t, s.does(1, "projects", "add", "odd"), "the project odd cannot be served", "sets http")
	must(t, os.WriteFile(odd, nil, 0o600))
	contains(t, s.does(0, "projects", "add", "odd"), "Project odd: served at")
	contains(t, s.does(2, "projects", "add", "billing"), "there is a project billing already")
	contains(t, s.does(2, "projects", "show", "biling"), "did you mean billing?")
	contains(t, billing.does(2, "projects", "add", "below"), "a project has none of its own")
	contains(t, billing.does(1, "run", "nobody", "{}"), `there is no agent "nobody"`)
	var rows []struct {
		URL string `json:"url"`
	}
	listed, _ := s.here(0, "projects", "list", "--json")
	must(t, json.Unmarshal([]byte(listed), &rows))
	if len(rows) != 2 || rows[0].URL == "" || rows[1].URL == "" {
		t.Errorf("listed %+v", rows)
	}

	contains(t, s.does(2, "projects", "rm", "billing", "--erase"), "add --confirm billing")
	contains(t, s.does(2, "projects", "rm", "billing", "--erase", "--confirm", "odd"), "add --confirm billing")
	contains(t, s.does(0, "projects", "rm", "billing"), "Its data stays in "+billing.data)
	contains(t, billing.does(1, "pending"), "no `earshot up` works with the data in "+billing.data)
	contains(t, s.does(2, "projects", "rm", "billing"), "there is no project billing")
	contains(t, s.does(0, "projects", "add", "billing"), "It was removed before, and is there again with its data.", "Project billing: served at")
	billing.does(0, "pending")
	contains(t, s.does(0, "projects", "rm", "billing", "--erase", "--confirm", "billing"), "Its data is erased.")
	if _, err := os.Stat(billing.data); !os.IsNotExist(err) {
		t.Errorf("its data: %v", err)
	}
	s.does(0, "pending")
}
