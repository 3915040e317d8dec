package permission

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// modes are the words of hosts for how they treat their tools, in words for people.
var modes = map[string]string{
	"default":           "it asks before it uses tools",
	"plan":              "it plans, and changes nothing",
	"acceptEdits":       "it changes files without asking",
	"auto":              "it decides by itself what it asks for",
	"dontAsk":           "it asks for nothing, and leaves out what it would have to ask for",
	"bypassPermissions": "it asks for nothing",
}

// announceMode tells the person in which mode the host is, where that has changed.
func (a Asker) announceMode(ctx context.Context, agent Agent, e hook.Event) {
	if a.Modes == nil || e.Mode == "" || !a.Modes.Changed(e.Session, e.Mode) {
		return
	}
	words, known := modes[e.Mode]
	if !known {
		words = e.Mode
	}
	// Where it cannot be told, the tool is asked for all the same.
	_ = a.inSession(ctx, agent, e, func(s Session) error {
		return s.Report(ctx, api.AgentReport{Observed: "Its own mode: " + words + ". What it asks Earshot for is asked all the same."})
	})
}
