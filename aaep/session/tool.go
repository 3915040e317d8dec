package session

import (
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
)

// Tool is a call of a tool that runs: it was told as invoked, and has to be completed.
type Tool struct {
	emitter  *Emitter
	id, name string
}

// Tool emits tool.invoked, in calling_tool, which it tells where needed. An empty
// ToolCallID is made. An irreversible call, and one of high risk, is refused with
// [CodeNoConsent] unless a person accepted it: ask with [Emitter.Confirm] and invoke
// with [Asked.Tool]. Where the invocation itself was not taken, the call comes with the
// error ([CodeNotSent]); do not invoke it again.
func (e *Emitter) Tool(p aaep.ToolInvoked) (*Tool, error) {
	if err := e.session.open(); err != nil {
		return nil, err
	}
	grant := e.session.state.grant(func(g Grant) bool { return g.CallID == p.ToolCallID })
	switch { // before any move is told
	case grant < 0 && p.Irreversible:
		return nil, refuse(CodeNoConsent, "SEQ-22", fmt.Sprintf("the tool %s is irreversible and nobody accepted the call; ask with Confirm first", p.Tool))
	case grant < 0 && p.RiskLevel == aaep.RiskHigh:
		return nil, refuse(CodeNoConsent, "CONF-02", fmt.Sprintf("the call of %s is of high risk and nobody accepted it; ask with Confirm first", p.Tool))
	}
	if err := e.session.allowed(p, grant); err != nil {
		return nil, err
	}
	if p.ToolCallID == "" {
		id, err := aaep.NewID(aaep.PrefixCall, e.options.Now(), e.options.Rand)
		if err != nil {
			return nil, wrap("cannot name the call", err)
		}
		p.ToolCallID = id
	}
	if err := e.enter(aaep.StateCallingTool); err != nil {
		return nil, err
	}
	event, err := e.session.ToolInvoked(e.options.Now(), e.options.Rand, p)
	if err != nil {
		return nil, err
	}
	return &Tool{emitter: e, id: p.ToolCallID, name: p.Tool}, e.one(event, nil)
}

// ID is the call's tool_call_id.
func (t *Tool) ID() string { return t.id }

// Complete emits tool.completed. Tool and ToolCallID are filled in. It returns to
// calling_tool where the session has told of what comes after the tool (SEQ-19). A
// second time is refused with [CodeBadCall].
func (t *Tool) Complete(p aaep.ToolCompleted) error {
	p.Tool, p.ToolCallID = t.name, t.id
	s := t.emitter.session
	if i := s.state.call(t.id); i >= 0 && s.state.Calls[i].Left {
		if err := t.emitter.enter(aaep.StateCallingTool); err != nil {
			return err
		}
	}
	return t.emitter.one(s.ToolCompleted(t.emitter.options.Now(), t.emitter.options.Rand, p))
}
