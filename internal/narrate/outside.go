package narrate

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/outline"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// isPermission reports whether the telling is about what an outside agent does by itself, and only asks about.
func (s *eventBuilder) isPermission() bool { return s.t.Call.Kind == turn.PermissionCall }

// agentsTool is the name by which the agent itself calls what it asks about.
func (s *eventBuilder) agentsTool() Param {
	return identifier(strings.TrimPrefix(s.t.Call.Tool, s.t.Turn.Agent+"."))
}

// agent is the agent's name in a sentence.
func (s *eventBuilder) agent() Param { return identifier(s.t.Turn.Agent) }

// permissionAction is what a permission is asked for.
func (s *eventBuilder) permissionAction(args outline.Outline) Param {
	p := Params{"agent": s.agent(), "tool": s.agentsTool()}
	if said := values(args, maxSpokenValues); len(said.All) > 0 || said.Left > 0 {
		p["args"] = said
	}
	return phraseParam("action.permission", p)
}

// permitted tells that a person has allowed what the agent does by itself.
func (s *eventBuilder) permitted() error {
	q, open := s.memory.question(s.t.Call.ID)
	if !open {
		return nil
	}
	l := line{
		key:    "permission.given",
		params: Params{paramQuestion: count(int64(q.Number)), "agent": s.agent(), "by": who(s.by()), "surface": who(s.surface())},
		earshot: merge(s.aboutCall(), map[string]any{
			extQuestion: q.Number, extBy: s.by(), extSurface: s.surface(), extEnforcement: string(utp.Advisory),
		}),
	}
	if err := s.resolve(q.Token, aaep.ResolutionAccepted, l); err != nil {
		return err
	}
	return s.back()
}

// permissionRefusal chooses the words for a permission that was not given; false where none are of its own.
func (s *eventBuilder) permissionRefusal(code utp.Code, params Params) (key string, own bool) {
	params["agent"], params["tool"] = s.agent(), s.agentsTool()
	key = "permission.refused." + string(code)
	if s.t.Note.Surface == turn.StaleUnawaited {
		key = "permission.refused.gone"
	}
	_, own = s.narrator.speaker.localizer.messages[key]
	return key, own
}

// observed tells what the agent says that it has done by itself. Nothing of it is known here but its words.
func (s *eventBuilder) observed() error {
	return s.announce(line{
		key: "agent.observed", params: Params{"agent": s.agent(), "words": quotedTo(s.t.Summary, capField)},
		earshot: map[string]any{extObserved: true}, // else it would count as no more than a change of state, which surfaces do not say
	})
}

// doingNow tells what the agent says that it is at, which a person hears as they hear what it has done.
func (s *eventBuilder) doingNow() error {
	return s.announce(line{
		key: "agent.doing", params: Params{"agent": s.agent(), "words": quotedTo(s.t.Summary, capField)},
		earshot: map[string]any{extDoing: true},
	})
}
