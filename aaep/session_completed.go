package aaep

import _ "embed" // the example

// TypeSessionCompleted ends a session that did what it set out to do.
const TypeSessionCompleted = "aaep:agent.session.completed"

//go:embed examples/session.completed.json
var exampleSessionCompleted string

// SessionCompleted says that the work is done (§4.1.2). It is terminal.
type SessionCompleted struct {
	SummaryNormal        string `json:"summary_normal"` // required
	SummaryTerse         string `json:"summary_terse,omitzero"`
	SummaryDetailed      string `json:"summary_detailed,omitzero"`
	DurationMS           *int64 `json:"duration_ms,omitzero"`
	ToolInvocationsCount *int64 `json:"tool_invocations_count,omitzero"`
	OutputSummary        string `json:"output_summary,omitzero"`
	ResultURI            string `json:"result_uri,omitzero"`
}

// EventType returns [TypeSessionCompleted].
func (SessionCompleted) EventType() string { return TypeSessionCompleted }
