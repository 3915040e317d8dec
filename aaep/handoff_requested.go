package aaep

import (
	_ "embed" // the example

	"github.com/go-json-experiment/json/jsontext"
)

// TypeHandoffRequested tells that the agent wants someone else to take over.
const TypeHandoffRequested = "aaep:agent.handoff.requested"

//go:embed examples/handoff.requested.json
var exampleHandoffRequested string

// HandoffRequested asks for a human, another agent or a queue (§4.4.3). It is
// critical.
type HandoffRequested struct {
	Reason            string                    `json:"reason"`      // required
	TargetKind        TargetKind                `json:"target_kind"` // required
	SummaryTerse      string                    `json:"summary_terse,omitzero"`
	SummaryNormal     string                    `json:"summary_normal,omitzero"`
	SummaryDetailed   string                    `json:"summary_detailed,omitzero"`
	TargetURI         string                    `json:"target_uri,omitzero"`
	PackagedContext   map[string]jsontext.Value `json:"packaged_context,omitzero"`
	UrgencyForHandoff HandoffUrgency            `json:"urgency_for_handoff,omitzero"`
}

// EventType returns [TypeHandoffRequested].
func (HandoffRequested) EventType() string { return TypeHandoffRequested }

// TargetKind says who is to take over.
type TargetKind string

// The targets of HAND-03.
const (
	TargetHuman           TargetKind = "human"
	TargetSpecialistAgent TargetKind = "specialist_agent"
	TargetEscalationQueue TargetKind = "escalation_queue"
)

// HandoffUrgency is how soon someone should take over, which is not how soon the
// event is delivered.
type HandoffUrgency string

// The urgencies of HAND-09.
const (
	HandoffLow    HandoffUrgency = "low"
	HandoffMedium HandoffUrgency = "medium"
	HandoffHigh   HandoffUrgency = "high"
)
