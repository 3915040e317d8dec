package aaep

import _ "embed" // the example

// TypeToolCompleted tells how a tool ended.
const TypeToolCompleted = "aaep:agent.tool.completed"

//go:embed examples/tool.completed.json
var exampleToolCompleted string

// ToolCompleted closes one [ToolInvoked] (§4.3.2); every invocation gets exactly one,
// also after an error or a timeout (SEQ-16).
type ToolCompleted struct {
	Tool            string     `json:"tool"`   // required, as invoked
	Status          ToolStatus `json:"status"` // required
	SummaryTerse    string     `json:"summary_terse,omitzero"`
	SummaryNormal   string     `json:"summary_normal,omitzero"`
	SummaryDetailed string     `json:"summary_detailed,omitzero"`
	ToolCallID      string     `json:"tool_call_id,omitzero"` // as invoked
	DurationMS      *int64     `json:"duration_ms,omitzero"`
	ErrorMessage    string     `json:"error_message,omitzero"` // expected with error and timeout
}

// EventType returns [TypeToolCompleted].
func (ToolCompleted) EventType() string { return TypeToolCompleted }

// ToolStatus says how a tool ended.
type ToolStatus string

// The statuses of TCOM-02.
const (
	ToolSuccess ToolStatus = "success"
	ToolError   ToolStatus = "error"
	ToolTimeout ToolStatus = "timeout"
)
