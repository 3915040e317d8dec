package aaep

import _ "embed" // the example

// TypeSessionCancelled ends a session that was stopped.
const TypeSessionCancelled = "aaep:agent.session.cancelled"

//go:embed examples/session.cancelled.json
var exampleSessionCancelled string

// SessionCancelled says that the work was stopped (§4.1.4). It is terminal and ends
// every open question of the session (SEQ-38).
type SessionCancelled struct {
	CancelledBy        CancelledBy `json:"cancelled_by"`   // required
	SummaryNormal      string      `json:"summary_normal"` // required
	SummaryTerse       string      `json:"summary_terse,omitzero"`
	SummaryDetailed    string      `json:"summary_detailed,omitzero"`
	CancellationReason string      `json:"cancellation_reason,omitzero"` // lower case, such as user_stop
	PartialResult      string      `json:"partial_result,omitzero"`
}

// EventType returns [TypeSessionCancelled].
func (SessionCancelled) EventType() string { return TypeSessionCancelled }

// CancelledBy says who stopped a session.
type CancelledBy string

// The cancellers of CANC-01.
const (
	CancelledByUser     CancelledBy = "user"
	CancelledByProducer CancelledBy = "producer"
	CancelledByTimeout  CancelledBy = "timeout"
	CancelledBySystem   CancelledBy = "system"
)
