package aaep

import _ "embed" // the example

// TypeToolInvoked tells that a tool is about to run.
const TypeToolInvoked = "aaep:agent.tool.invoked"

//go:embed examples/tool.invoked.json
var exampleToolInvoked string

// ToolInvoked goes out before the tool has any effect (§4.3.1, SEQ-12). An
// irreversible one needs a confirmation that was answered accept (SEQ-22).
type ToolInvoked struct {
	Tool               string `json:"tool"`           // required, 1 to 256 characters
	SummaryNormal      string `json:"summary_normal"` // required
	SummaryTerse       string `json:"summary_terse,omitzero"`
	SummaryDetailed    string `json:"summary_detailed,omitzero"`
	Description        string `json:"description,omitzero"`
	ArgsSummary        string `json:"args_summary,omitzero"` // without keys, passwords or needless personal data
	ExpectedDurationMS *int64 `json:"expected_duration_ms,omitzero"`
	RiskLevel          Risk   `json:"risk_level,omitzero"` // absent means low
	Irreversible       bool   `json:"irreversible"`
	ToolCallID         string `json:"tool_call_id,omitzero"`
}

// EventType returns [TypeToolInvoked].
func (ToolInvoked) EventType() string { return TypeToolInvoked }

// Risk is a producer's judgement of how bad an action can be.
type Risk string

// The risks, least first.
const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)
