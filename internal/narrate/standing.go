package narrate

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/standing"
)

// extStanding is the number of a standing permission, in events about one.
const extStanding = "standing_permission"

// ofAPermission builds the event for what became of a standing permission.
func (s *eventBuilder) ofAPermission() error {
	p := s.t.Permission
	l := line{
		params: Params{
			"number": count(int64(p.Number)), paramQuestion: count(int64(p.Question)), "agent": identifier(p.Agent), "tool": identifier(p.Tool),
		},
		urgency: aaep.UrgencyNormal, // also while a question is open
		earshot: map[string]any{extStanding: p.Number, extTool: toolName(p.Tool)},
	}
	switch s.t.Note.Kind {
	case kernel.NotePermissionMade:
		l.key = "standing.made"
		l.params = l.params.with(Params{
			"anywhere": yes(p.Session == ""), "uses": count(int64(p.Uses)), "life": duration(p.Expires.Sub(p.Made)), "words": bounds(p),
		})
	case kernel.NotePermissionUsed:
		l.key, l.earshot[extCall] = "standing.used", callID(s.t.Call.ID)
		action, _ := s.action(s.arguments())
		l.params = l.params.with(Params{paramAction: action, "left": count(int64(p.Left())), "first": yes(p.Used == 1), "words": bounds(p)})
	case kernel.NotePermissionEnded:
		l.key = "standing.ended"
		l.params = l.params.with(Params{"why": keyword(string(p.Ended.Why)), "by": who(p.Ended.By)})
	default:
		return fmt.Errorf("%w %q", errUnknownNote, s.t.Note.Kind)
	}
	return s.announce(l)
}

// bounds says the bounds of a permission; none if it has none.
func bounds(p standing.Permission) Param {
	words := standing.BoundsText(p.Bounds, p.Question)
	if words == "" {
		return Param{}
	}
	return untrusted(words)
}
