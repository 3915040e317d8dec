package turn

import (
	"cmp"

	"github.com/earshot-dev/earshot/utp"
)

// Context returns the control context of the turn's messages (UTP, "Headers"): whose they are, the trace, and the turn above
// it, as the ledger knows it. Pass a span of 16 hex digits for a message of its own; "" is that of the turn.
func (s State) Context(span string) utp.Context {
	c := utp.Context{
		ProjectID: s.Project, ChannelID: s.Channel, AgentID: s.Agent, TurnID: s.Turn, TurnEpoch: max(s.Epoch, 1), RecursionDepth: s.Depth,
		ParentAgentID: s.Within.Agent, ParentTurnID: s.Parent, ParentStepID: s.Within.Step,
		Traceparent: Traceparent(s.Turn), Tracestate: s.Tracestate,
	}
	if span != "" {
		c.Traceparent = "00-" + TraceID(s.Turn) + "-" + span + "-01"
	}
	if s.Parent != "" {
		c.ParentTraceparent = Traceparent(s.Parent)
	}
	return c
}

// ContextOf returns the control context of the messages about a call. If it was made from a third-party command, that
// command's tracestate counts, else the turn's.
func (s State) ContextOf(c Call, span string) utp.Context {
	out := s.Context(span)
	out.StepID, out.ToolCallID = c.Step, c.ID
	if c.Origin != nil {
		out.Tracestate = cmp.Or(c.Origin.Tracestate, out.Tracestate)
	}
	return out
}
