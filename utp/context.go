package utp

// Context is the control context of a message: who calls, in which turn and step, at which depth, and under which
// trace. It travels in the CG-* headers (UTP, "Headers"). An empty string means absent.
type Context struct {
	ProjectID string
	ChannelID string
	// AgentID is the calling agent.
	AgentID string
	TurnID  string
	// TurnEpoch is at least 1; 0 is absent, and constrains nothing.
	TurnEpoch int
	// StepID is the step that requested the call.
	StepID     string
	ToolCallID string

	ParentAgentID string
	ParentTurnID  string
	ParentStepID  string

	// RecursionDepth counts the agents that called each other up to here; a call carries its caller's depth.
	RecursionDepth int
	// DepthAbsent is set by decoding if the depth was missing: the receiver then takes the depth from the request edge,
	// and must not assume 0 (U-12).
	DepthAbsent bool

	// Traceparent is `00-<trace>-<span>-01`; the trace id never changes within a turn.
	Traceparent       string
	Tracestate        string
	ParentTraceparent string
}

// CheckCommand returns a [*HeaderError] that names what a command to a tool service lacks (UTP, "Headers"; U-13).
func (c Context) CheckCommand() error {
	for _, need := range []struct{ name, value string }{
		{HeaderProjectID, c.ProjectID},
		{HeaderChannelID, c.ChannelID},
		{HeaderAgentID, c.AgentID},
		{HeaderTurnID, c.TurnID},
		{HeaderStepID, c.StepID},
		{HeaderToolCallID, c.ToolCallID},
		{HeaderTraceparent, c.Traceparent},
	} {
		if need.value == "" {
			return &HeaderError{Name: need.name, Found: "nothing", Expected: "a value: a command must carry it"}
		}
	}
	if c.TurnEpoch < 1 {
		return &HeaderError{Name: HeaderTurnEpoch, Found: "nothing", Expected: "at least 1: a command must carry it"}
	}
	if c.DepthAbsent {
		return &HeaderError{Name: HeaderRecursionDepth, Found: "nothing", Expected: "the caller's depth: a command must carry it"}
	}
	return nil
}

// At fills in the project and the channel from the subject on which the message came. If a header names different ones,
// the error is a [*HeaderError] (UTP, "Headers").
func (c Context) At(s Subject) (Context, error) {
	if c.ProjectID != "" && c.ProjectID != s.Project {
		return c, &HeaderError{Name: HeaderProjectID, Found: Shown(c.ProjectID), Expected: Shown(s.Project) + ", as the subject says"}
	}
	if c.ChannelID != "" && c.ChannelID != s.Channel {
		return c, &HeaderError{Name: HeaderChannelID, Found: Shown(c.ChannelID), Expected: Shown(s.Channel) + ", as the subject says"}
	}
	c.ProjectID, c.ChannelID = s.Project, s.Channel
	return c, nil
}
