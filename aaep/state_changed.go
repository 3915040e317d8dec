package aaep

import _ "embed" // the example

// TypeStateChanged tells a move from one state of the agent to another.
const TypeStateChanged = "aaep:agent.state.changed"

//go:embed examples/state.changed.json
var exampleStateChanged string

// StateChanged says what the agent turns to (§4.2.1). The first of a session leaves
// idle, each later one leaves the state that the one before it entered.
type StateChanged struct {
	FromState          string `json:"from_state"` // required, 1 to 64 characters
	ToState            string `json:"to_state"`   // required, 1 to 64 characters
	SummaryTerse       string `json:"summary_terse,omitzero"`
	SummaryNormal      string `json:"summary_normal,omitzero"`
	SummaryDetailed    string `json:"summary_detailed,omitzero"`
	ExpectedDurationMS *int64 `json:"expected_duration_ms,omitzero"`
}

// EventType returns [TypeStateChanged].
func (StateChanged) EventType() string { return TypeStateChanged }

// The standard state words. Other words are allowed (STATE-07).
const (
	StateIdle          = "idle"
	StateThinking      = "thinking"
	StateCallingTool   = "calling_tool"
	StateWritingOutput = "writing_output"
	StateAwaitingInput = "awaiting_input"
	StateDeciding      = "deciding"
	StateHandingOff    = "handing_off"
)
