package narrate

import (
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/outline"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// isPermission reports whether the notification is about what an external agent does itself, and only asks permission
// for.
func (s *eventBuilder) isPermission() bool { return s.t.Call.Kind == turn.PermissionCall }

// agentsTool returns the agent's own name of the tool that it asks about.
func (s *eventBuilder) agentsTool() Param {
	return identifier(strings.TrimPrefix(s.t.Call.Tool, s.t.Turn.Agent+"."))
}

// agent returns the agent's name for a sentence: the one that an operator has given it for people, if any.
func (s *eventBuilder) agent() Param {
	if name := s.t.Turn.DisplayName; name != "" {
		return who(name)
	}
	return identifier(s.t.Turn.Agent)
}

// namesNoTool reports whether a permission is asked for without the name of a tool.
func (s *eventBuilder) namesNoTool() bool {
	return s.isPermission() && s.t.Call.Tool == s.t.Turn.Agent+"."+api.UnnamedTool
}

// permissionAction describes what a permission is asked for.
func (s *eventBuilder) permissionAction(args outline.Outline) Param {
	p := Params{"agent": s.agent(), "tool": s.agentsTool()}
	if s.namesNoTool() {
		delete(p, "tool")
	}
	if said := values(args, maxSpokenValues); len(said.All) > 0 || said.Left > 0 {
		p["args"] = said
	}
	return phraseParam("action.permission", p)
}

// permitted reports that a person has allowed what the agent does itself.
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

// permissionRefusal returns the message for a permission that was not given; false if there is no special one.
func (s *eventBuilder) permissionRefusal(code utp.Code, params Params) (key string, own bool) {
	params["agent"], params["tool"] = s.agent(), s.agentsTool()
	key = "permission.refused." + string(code)
	if s.t.Note.Reason == turn.StaleUnawaited {
		key = "permission.refused.gone"
	}
	if o := s.t.Call.Outcome; code == utp.CodeConsentWithdrawn && o != nil && o.Message == turn.StaleUnawaited {
		key = "permission.refused.left"
	}
	_, own = s.narrator.speaker.localizer.messages[key]
	return key, own
}

// unawaited reports that an accepted call does not begin, because the agent that asked for it does not wait.
func (s *eventBuilder) unawaited() error {
	params := s.about().with(Params{"agent": s.agent()})
	if left := s.t.Call.StartBy.Wall.Sub(s.t.At).Truncate(time.Second); left > 0 {
		params["left"] = duration(left)
	}
	earshot := s.aboutCall()
	if n := s.number(); n > 0 {
		earshot[extQuestion] = n
	}
	return s.announce(line{key: "call.unawaited", params: params, urgency: aaep.UrgencyCritical, earshot: earshot})
}

// observed reports what the agent says that it has done itself. Nothing but its words is known.
func (s *eventBuilder) observed() error {
	return s.announce(line{
		key: "agent.observed", params: Params{"agent": s.agent(), "words": quotedTo(s.t.Summary, capField)},
		earshot: map[string]any{extObserved: true, extAgentLanguage: s.t.Lang}, // otherwise it would be a plain change of state, which surfaces do not announce
	})
}

// missed reports that messages of the agent have got lost on the way.
func (s *eventBuilder) missed() error {
	return s.announce(line{
		key: "agent.missed", params: Params{"agent": s.agent(), "missed": count(int64(s.t.Missed))}, earshot: map[string]any{extMissed: s.t.Missed},
	})
}

// doingNow reports what the agent says that it is doing, announced like what it has done.
func (s *eventBuilder) doingNow() error {
	return s.announce(line{
		key: "agent.doing", params: Params{"agent": s.agent(), "words": quotedTo(s.t.Summary, capField)},
		earshot: map[string]any{extDoing: true, extAgentLanguage: s.t.Lang},
	})
}
