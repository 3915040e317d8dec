package aaep

import _ "embed" // the example

// TypeSessionErrored ends a session that failed.
const TypeSessionErrored = "aaep:agent.session.errored"

//go:embed examples/session.errored.json
var exampleSessionErrored string

// SessionErrored says that the work failed (§4.1.3). It is terminal and critical.
type SessionErrored struct {
	ErrorCategory   ErrorCategory `json:"error_category"` // required
	SummaryNormal   string        `json:"summary_normal"` // required
	SummaryTerse    string        `json:"summary_terse,omitzero"`
	SummaryDetailed string        `json:"summary_detailed,omitzero"`
	ErrorCode       string        `json:"error_code,omitzero"` // upper case, such as TOOL_TIMEOUT
	ErrorURI        string        `json:"error_uri,omitzero"`
	Recoverable     *bool         `json:"recoverable,omitzero"`
	RemediationHint string        `json:"remediation_hint,omitzero"`
}

// EventType returns [TypeSessionErrored].
func (SessionErrored) EventType() string { return TypeSessionErrored }

// ErrorCategory says what may help against a failure.
type ErrorCategory string

// The categories of ERR-02.
const (
	ErrorTransient    ErrorCategory = "transient"     // trying again may help
	ErrorPermanent    ErrorCategory = "permanent"     // trying again does not help
	ErrorRequiresUser ErrorCategory = "requires_user" // a person must do something first
	ErrorUnknown      ErrorCategory = "unknown"
)
