package session

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
)

// Asked is a question that was put to a person.
type Asked struct {
	emitter      *Emitter
	token        string
	tool, callID string
	irreversible bool
}

// Times to answer where none is said, in seconds (§6.4.2).
const (
	defaultTimeout = 60
	longTimeout    = 300
)

// Confirm asks for consent to one call of a tool, in awaiting_input, which it tells.
// The call is named, and the question linked to it (C-45); invoke it with [Asked.Tool].
// Silence means no unless p says otherwise, which it may not for what is irreversible
// (C-24). Whatever p.Reversibility calls irreversible is emitted as that too (C-21), and
// needs a RiskLevel (C-22). A TimeoutSeconds of 0 becomes 300 for high risk or
// irreversible actions, else 60. Where the question itself was not taken, it comes with the
// error ([CodeNotSent]); do not ask again.
func (e *Emitter) Confirm(tool string, p aaep.AwaitingConfirmation) (*Asked, error) {
	if err := e.session.open(); err != nil {
		return nil, err
	}
	p.Irreversible = forever(p)
	if p.DefaultDecision == "" {
		p.DefaultDecision = aaep.DecisionReject
	}
	if p.TimeoutSeconds == 0 {
		p.TimeoutSeconds = defaultTimeout
		if p.Irreversible || p.RiskLevel == aaep.RiskHigh {
			p.TimeoutSeconds = longTimeout
		}
	}
	if err := safe(p); err != nil {
		return nil, err
	}
	_, callID := p.Subject()
	if callID == "" {
		id, err := aaep.NewID(aaep.PrefixCall, e.options.Now(), e.options.Rand)
		if err != nil {
			return nil, wrap("cannot name the call", err)
		}
		callID = id
	}
	if err := e.enter(aaep.StateAwaitingInput); err != nil {
		return nil, err
	}
	event, err := e.session.Confirm(e.options.Now(), e.options.Rand, p.About(tool, callID))
	if err != nil {
		return nil, err
	}
	asked, _ := event.Payload.(aaep.AwaitingConfirmation)
	return &Asked{emitter: e, token: asked.ReplyToken, tool: tool, callID: callID, irreversible: p.Irreversible}, e.one(event, nil)
}

// Clarify asks for information, in awaiting_input, which it tells. A TimeoutSeconds of
// 0 becomes 60. What was not taken is handled as by [Emitter.Confirm].
func (e *Emitter) Clarify(p aaep.AwaitingClarification) (*Asked, error) {
	if p.TimeoutSeconds == 0 {
		p.TimeoutSeconds = defaultTimeout
	}
	if err := e.enter(aaep.StateAwaitingInput); err != nil {
		return nil, err
	}
	event, err := e.session.Clarify(e.options.Now(), e.options.Rand, p)
	if err != nil {
		return nil, err
	}
	asked, _ := event.Payload.(aaep.AwaitingClarification)
	return &Asked{emitter: e, token: asked.ReplyToken}, e.one(event, nil)
}

// Token is the question's reply_token.
func (a *Asked) Token() string { return a.token }

// CallID is the tool_call_id of the call that a confirmation is for, or "".
func (a *Asked) CallID() string { return a.callID }

// Resolve tells how the question ended, by a move to calling_tool when the call may run,
// to awaiting_input while another question is open, else to thinking (CONF-78). What p
// says of the two states does not count; an empty SummaryNormal is filled in. A call
// that was accepted and not begun can be settled once more, as stopped or withdrawn.
func (a *Asked) Resolve(r aaep.Resolution, p aaep.StateChanged) error {
	s := a.emitter.session
	if err := s.Resolve(a.token, r); err != nil {
		return err
	}
	to := aaep.StateThinking
	switch {
	case len(s.state.Questions) > 0:
		to = aaep.StateAwaitingInput
	case r.Allows() || len(s.state.Calls) > 0:
		to = aaep.StateCallingTool
	}
	if p.SummaryNormal == "" {
		return a.emitter.move(to, a.emitter.options.Sentences.Going, english.Going)
	}
	return a.emitter.State(to, p)
}

// Tool invokes the call that was accepted. Tool, ToolCallID and Irreversible are those
// that the person was asked about.
func (a *Asked) Tool(p aaep.ToolInvoked) (*Tool, error) {
	if a.callID == "" {
		return nil, refuse(CodeBadCall, "SEQ-22", "a clarification allows no call; ask with Confirm")
	}
	if i := a.emitter.session.state.grant(func(g Grant) bool { return g.Token == a.token }); i < 0 {
		return nil, refuse(CodeNoConsent, "SEQ-22", fmt.Sprintf("the question about %s was not answered accept, or its consent is used; Settle it first", a.tool))
	}
	p.Tool, p.ToolCallID, p.Irreversible = a.tool, a.callID, a.irreversible
	return a.emitter.Tool(p)
}
