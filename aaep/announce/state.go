package announce

import (
	"strings"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// state tells a change of state that is worth a word: the end of a question, what is
// critical, what the runtime says beside the work, and states that nobody knows.
func (a *Announcer) state(s *session, e aaep.Event, p aaep.StateChanged) []saying {
	raw, annotated := e.Extensions[aaep.PrefixEarshot]
	ours := aaep.Read(raw)
	if how, ok := ours.Text("resolution"); ok {
		return a.resolution(s, e, p, aaep.Resolution(how))
	}
	loud := urgency(e) == aaep.UrgencyCritical
	quiet := urgency(e) == aaep.UrgencyBackground || p.FromState == p.ToState || standard(p.ToState) && !annotated
	if quiet && !loud {
		return nil
	}
	w := a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if w.text == "" {
		w.text, w.language = a.own("Now in the state: " + shown(strings.ReplaceAll(p.ToState, "_", " "), maxName) + ".")
	}
	w.kind, w.question = KindState, number(ours)
	if stops(ours) {
		w.priority = Assertive
	}
	return one(w)
}

// stops reports whether the runtime tells that a person's stop is being carried out.
func stops(ours aaep.Document) bool {
	text := func(name string) string {
		value, _ := ours.Text(name)
		return value
	}
	reason := text("reason")
	return reason == "stopped" || reason == "stopping" || text("by") != "" && reason == "" && text("tool") == "" && number(ours) == 0
}

func standard(state string) bool {
	switch state {
	case aaep.StateIdle, aaep.StateThinking, aaep.StateCallingTool, aaep.StateWritingOutput, aaep.StateAwaitingInput,
		aaep.StateDeciding, aaep.StateHandingOff:
		return true
	}
	return false
}

// handoff tells that the agent wants someone else to take over.
func (a *Announcer) handoff(e aaep.Event, p aaep.HandoffRequested) []saying {
	w := a.text(e, p.SummaryTerse, p.SummaryNormal, p.SummaryDetailed)
	if w.text == "" {
		w.text, w.language = a.own(join("The agent wants someone else to take over.", legible.Capital(sentence(p.Reason, english))))
	}
	w.kind, w.priority = KindHandoff, Assertive
	return one(w)
}

// other tells what this package does not know by the summary that it carries (ENV-17,
// EXT-14).
func (a *Announcer) other(e aaep.Event, p aaep.Other) []saying {
	w := a.text(e, unquoted(p, "summary_terse"), unquoted(p, "summary_normal"), unquoted(p, "summary_detailed"))
	if w.text == "" {
		w.text, w.language = a.own("An event of another kind: " + nameText(p.Type) + ".")
		if urgency(e) == aaep.UrgencyBackground {
			w.priority = Silent
		}
	}
	w.kind = KindOther
	return one(w)
}

func unquoted(p aaep.Other, name string) string {
	raw, ok := p.Members[name]
	if !ok {
		return ""
	}
	document := aaep.Read([]byte(`{"text":` + string(raw) + `}`))
	text, _ := document.Text("text")
	return text
}
