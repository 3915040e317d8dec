package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// sessionsForAgents is how many of the newest sessions the list of agents looks at.
const sessionsForAgents = 500

// KnownAgent is an agent of this process, or one with a credential for the bus.
type KnownAgent struct {
	Name string
	// Credential names its credential, as in agent/counter; "" for an agent of this process.
	Credential string
	// Since is when it connected; zero if it is not connected, or of this process.
	Since time.Time
}

// agentsPage lists the agents by name, with what serves them.
func (s *Server) agentsPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	wanted, err := query(r)
	if err != nil {
		return err
	}
	after := r.URL.Query().Get("after")
	view := page.Agents{Navigation: s.navigation(v), Search: page.Search{Path: "/agents", Label: "Search by agent, token or person", Query: wanted}, First: after == ""}
	all, more, err := s.agents(r.Context(), v)
	if err != nil {
		return err
	}
	if more {
		view.Looked = sessionsForAgents
	}
	last := ""
	for _, name := range slices.Sorted(maps.Keys(all)) {
		row := all[name].row(name, v.zone)
		switch {
		case name <= after || !holds(wanted, append(row.Facts, row.Name, row.State)...):
			continue
		case len(view.Rows) == rowsPerPage:
			view.Search.Next = view.Search.Further("after", last)
			return s.show(w, r, http.StatusOK, "agents", view)
		}
		view.Rows, last = append(view.Rows, row), name
	}
	return s.show(w, r, http.StatusOK, "agents", view)
}

// agents collects what is known of each agent, by its name. More reports that there are sessions that were not looked at.
func (s *Server) agents(ctx context.Context, v visitor) (_ map[string]*agent, more bool, err error) {
	all := map[string]*agent{}
	named := func(name string) *agent {
		if all[name] == nil {
			all[name] = &agent{}
		}
		return all[name]
	}
	listed, err := s.hub.Sessions(ctx, v.Principal, ListOptions{Limit: sessionsForAgents}) // this also checks the rights
	if err != nil {
		return nil, false, err
	}
	for _, one := range listed.Sessions {
		named(one.Agent).session(one)
	}
	known, err := s.options.KnownAgents()
	if err != nil {
		return nil, false, &Refusal{Kind: api.KindUnavailable, Message: "who is connected cannot be read", Hint: "see the log of the server", Cause: err}
	}
	for _, one := range known {
		named(one.Name).known = append(named(one.Name).known, one)
	}
	if s.options.Directory == nil {
		return all, listed.More, nil
	}
	tokens, err := s.options.Directory.List()
	if err != nil {
		return nil, false, noDirectory(err)
	}
	for _, t := range tokens {
		if slices.Contains(t.Roles, access.Agent) {
			named(t.Person).tokens = append(named(t.Person).tokens, t)
		}
	}
	return all, listed.More, nil
}

// agent is what is known of one agent.
type agent struct {
	known   []KnownAgent
	tokens  []access.Token
	newest  api.Session // the zero one if it had none
	running int
}

// session notes a session; the newest comes first.
func (a *agent) session(one api.Session) {
	if a.newest.ID == "" {
		a.newest = one
	}
	if !one.Ended {
		a.running++
	}
}

func (a *agent) row(name string, zone *time.Location) page.Agent {
	row := page.Agent{Name: legible.Text(name), Running: a.running, State: "nothing running"}
	if a.running > 0 {
		row.State = legible.Counted(int64(a.running), "session") + " running"
	}
	at := func(t time.Time) string { return t.In(zone).Format(timeInLists) }
	for _, one := range a.known {
		switch {
		case one.Credential == "":
			row.Facts = append(row.Facts, "Runs inside the server.")
		case one.Since.IsZero():
			row.Facts = append(row.Facts, "Credential "+legible.Text(one.Credential)+": not connected.")
		default:
			row.Facts = append(row.Facts, "Credential "+legible.Text(one.Credential)+": connected since "+at(one.Since)+".")
		}
	}
	for _, t := range a.tokens {
		row.Facts = append(row.Facts, "Token "+legible.Text(t.Name)+", made "+at(t.Created)+".")
	}
	if len(row.Facts) == 0 {
		row.Facts = append(row.Facts, "It has no token or credential of its own now.")
	}
	return a.lastly(row, at)
}

// lastly adds the agent's newest session.
func (a *agent) lastly(row page.Agent, at func(time.Time) string) page.Agent {
	if a.newest.ID == "" {
		row.Facts = append(row.Facts, "No session yet.")
		return row
	}
	who := ""
	if a.newest.Owner != "" {
		who = "for " + legible.Text(a.newest.Owner) + ", "
	}
	state := "It has ended."
	if !a.newest.Ended {
		state = "It is open."
	}
	row.Facts = append(row.Facts, fmt.Sprintf("Latest session: %ssince %s. %s", who, at(a.newest.Created), state))
	return row
}
