package permission

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// modes maps the hosts' names of their permission modes to words for people.
var modes = map[string]string{
	"default":           "it asks before it uses tools",
	"plan":              "it plans, and changes nothing",
	"acceptEdits":       "it changes files without asking",
	"auto":              "it decides by itself what it asks for",
	"dontAsk":           "it asks for nothing, and leaves out what it would have to ask for",
	"bypassPermissions": "it asks for nothing",
}

// announceMode informs the person of the host's mode if it has changed.
func (a Asker) announceMode(ctx context.Context, agent Agent, e hook.Event) {
	if a.Modes == nil || e.Mode == "" || !a.Modes.Changed(e.Session, e.Mode) {
		return
	}
	words, known := modes[e.Mode]
	if !known {
		words = e.Mode
	}
	// If this fails, the tool is asked for all the same.
	_ = a.inSession(ctx, agent, e, func(s Session) error {
		return s.Report(ctx, api.AgentReport{Observed: "Its own mode: " + words + ". What it asks Earshot for is asked all the same."})
	})
}
