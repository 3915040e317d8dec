package web_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// TestAgentsPage: an operator sees every agent that is known, what serves it and when it was last here, and finds one.
func TestAgentsPage(t *testing.T) {
	t.Parallel()
	d := &directory{}
	var known []web.KnownAgent
	var fail error
	s := newScene(t, func(o *web.Options) {
		o.Directory, o.KnownAgents = d, func() ([]web.KnownAgent, error) { return known, fail }
	})
	s.login("ada")
	wants(t, s.page("/", "@ada"), `<a href="/agents">Agents</a>`)
	wants(t, s.page("/agents", "@ada"), "No agent is known. <code>earshot install HOST</code>")
	s.room.begin("sess_1", "tidy Documents")
	s.room.tell("sess_1", aaep.SessionCompleted{SummaryNormal: "Done."})
	s.room.begin("sess_2", "tidy Music")
	s.room.sessions = append(s.room.sessions, api.Session{ID: "sess_3", Agent: "former", Owner: "eve", Ended: true, Created: noon})
	known = []web.KnownAgent{
		{Name: "tidy"}, {Name: "counter", Credential: "agent/counter", Since: noon.Add(time.Hour)}, {Name: "away", Credential: "foreign/away"},
	}
	d.tokens = []access.Token{
		{Name: "laptop", Person: "claude", Roles: []access.Role{access.Agent}, Surface: "laptop", Created: noon},
		{Name: "phone", Person: "ada", Roles: []access.Role{access.Approver}, Surface: "phone", Created: noon},
	}
	golden(t, "agents.html", s.page("/agents", "@ada"))
	page := s.page("/agents?q=LAPTOP", "@ada")
	wants(t, page, `<bdi lang="">claude</bdi>`)
	lacks(t, page, `<bdi lang="">tidy</bdi>`)
	wants(t, s.page("/agents?q=nobody", "@ada"), "No agent has “<bdi lang=\"\">nobody</bdi>” in its lines.")
	wants(t, s.page("/agents?after=tidy", "@ada"), "No agent follows.")
	fail = errors.New("the bus has stopped")
	if w := s.do("GET", "/agents", "@ada", ""); w.Code != 503 {
		t.Errorf("where the bus says nothing: %d", w.Code)
	}
}

// TestAgentsInPages: a long list goes on where the page ends.
func TestAgentsInPages(t *testing.T) {
	t.Parallel()
	var known []web.KnownAgent
	for n := range 120 {
		known = append(known, web.KnownAgent{Name: fmt.Sprintf("agent-%03d", n)})
	}
	s := newScene(t, func(o *web.Options) { o.KnownAgents = func() ([]web.KnownAgent, error) { return known, nil } })
	s.login("ada")
	page := s.page("/agents?q=agent", "@ada")
	wants(t, page, "agent-000", "agent-049", `href="/agents?after=agent-049&amp;q=agent"`)
	lacks(t, page, "agent-050")
	page = s.page("/agents?after=agent-099", "@ada")
	wants(t, page, "agent-100", "agent-119")
	lacks(t, page, "More agents")
}
