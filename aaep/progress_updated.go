package aaep

import (
	_ "embed" // the example

	"github.com/go-json-experiment/json/jsontext"
)

// TypeProgressUpdated tells how far a piece of work is.
const TypeProgressUpdated = "aaep:agent.progress.updated"

//go:embed examples/progress.updated.json
var exampleProgressUpdated string

// ProgressUpdated says how far the work is (§4.2.2).
type ProgressUpdated struct {
	Progress        Progress `json:"progress"` // required
	SummaryTerse    string   `json:"summary_terse,omitzero"`
	SummaryNormal   string   `json:"summary_normal,omitzero"`
	SummaryDetailed string   `json:"summary_detailed,omitzero"`
	ETAMS           *int64   `json:"eta_ms,omitzero"` // 0 to 86,400,000
}

// EventType returns [TypeProgressUpdated].
func (ProgressUpdated) EventType() string { return TypeProgressUpdated }

// Progress holds at least one of its members (PROG-01). Steps count from 1, and Step
// is at most TotalSteps (PROG-04).
type Progress struct {
	Percent     *float64 `json:"percent,omitzero"` // 0 to 100
	Step        *int64   `json:"step,omitzero"`
	TotalSteps  *int64   `json:"total_steps,omitzero"`
	Description string   `json:"description,omitzero"`
	// Unknown holds members that this package does not know.
	Unknown map[string]jsontext.Value `json:",embed"`
}
