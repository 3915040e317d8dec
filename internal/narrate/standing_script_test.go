package narrate_test

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
)

// standingScenarios are what becomes of standing permissions.
func standingScenarios() map[string]func(*stage) {
	return map[string]func(*stage){
		"a standing permission is used up": func(s *stage) {
			p := permission(s)
			s.claim()
			s.ofPermission(kernel.NotePermissionMade, p, "")
			for p.Used < p.Uses {
				p.Used++
				c := s.call("files.scan", jsontext.Value(`{"root":"/home/anna/Pictures"}`))
				c.Permission = p.Number
				s.step(c)
				s.ofPermission(kernel.NotePermissionUsed, p, c.ID)
				s.start(c.ID)
				s.finish(c.ID, "success", "", `{"files":[]}`)
			}
			s.done()
		},
		"standing permissions end": func(s *stage) {
			p := permission(s)
			p.Session, p.Uses, p.Bounds = "", 1, nil
			asks(s)
			s.ofPermission(kernel.NotePermissionMade, p, "")
			for _, e := range []standing.End{
				{Why: standing.Expired}, {Why: standing.Revoked, By: "anna"}, {Why: standing.Definition}, {Why: standing.Approver}, {Why: standing.Restored},
			} {
				s.ofPermission(kernel.NotePermissionEnded, p.End(e), "")
			}
			s.answer(1, false, false)
			s.done()
		},
	}
}

func permission(s *stage) standing.Permission {
	return standing.Permission{
		Number: 3, By: "anna", Question: 1, Agent: s.state.Agent, Session: s.state.Session, Tool: "files.scan", Uses: 2, Made: s.now.Wall, Expires: s.now.Wall.Add(2 * time.Hour),
		Bounds: []api.Bound{
			{Argument: "/root", Rule: api.BoundBegins, Value: jsontext.Value(`"/home/anna/Pictures/"`)}, {Argument: "/cursor", Rule: api.BoundEquals, Value: jsontext.Value(`""`)},
		},
	}
}

// ofPermission narrates something about a permission.
func (s *stage) ofPermission(kind turn.NoteKind, p standing.Permission, call string) {
	s.tb.Helper()
	s.tell.Permission = p
	s.narrate(turn.Note{Kind: kind, Call: call})
	s.tell = kernel.Notification{}
}
