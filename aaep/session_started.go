package aaep

import _ "embed" // the example

// TypeSessionStarted opens a session; exactly one per session, and it comes first.
const TypeSessionStarted = "aaep:agent.session.started"

//go:embed examples/session.started.json
var exampleSessionStarted string

// SessionStarted says that work on one request begins (§4.1.1).
type SessionStarted struct {
	SummaryNormal      string   `json:"summary_normal"` // required
	SummaryTerse       string   `json:"summary_terse,omitzero"`
	SummaryDetailed    string   `json:"summary_detailed,omitzero"`
	ExpectedDurationMS *int64   `json:"expected_duration_ms,omitzero"` // 0 to 86,400,000
	RequestedBy        string   `json:"requested_by,omitzero"`
	RequestText        string   `json:"request_text,omitzero"`    // without secrets
	ToolsAvailable     []string `json:"tools_available,omitzero"` // at most 256
}

// EventType returns [TypeSessionStarted].
func (SessionStarted) EventType() string { return TypeSessionStarted }
