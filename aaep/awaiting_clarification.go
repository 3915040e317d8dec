package aaep

import (
	_ "embed" // the example

	"github.com/go-json-experiment/json/jsontext"
)

// TypeAwaitingClarification asks a person a question that is not a consent.
const TypeAwaitingClarification = "aaep:agent.awaiting.clarification"

//go:embed examples/awaiting.clarification.json
var exampleAwaitingClarification string

// AwaitingClarification asks for information (§4.4.2). It is critical.
type AwaitingClarification struct {
	Question              string         `json:"question"`        // required
	ReplyToken            string         `json:"reply_token"`     // required, see NewToken
	TimeoutSeconds        int64          `json:"timeout_seconds"` // required, 1 to 86,400
	SummaryTerse          string         `json:"summary_terse,omitzero"`
	SummaryNormal         string         `json:"summary_normal,omitzero"`
	SummaryDetailed       string         `json:"summary_detailed,omitzero"`
	AcceptedResponseKinds []ResponseKind `json:"accepted_response_kinds,omitzero"`
	Choices               []Choice       `json:"choices,omitzero"` // 2 to 32, needed with multiple_choice
	Context               string         `json:"context,omitzero"`
	DefaultResponse       string         `json:"default_response,omitzero"` // a string whatever the kind
}

// EventType returns [TypeAwaitingClarification].
func (AwaitingClarification) EventType() string { return TypeAwaitingClarification }

// Choice is one answer of a multiple choice question.
type Choice struct {
	Value string `json:"value"` // what a reply carries, 1 to 256 characters
	Label string `json:"label"` // what a person hears, 1 to 1,024 characters
	// Unknown holds members that this package does not know.
	Unknown map[string]jsontext.Value `json:",embed"`
}

// ResponseKind is a shape that an answer may have.
type ResponseKind string

// The kinds of CLAR-08 and the JSON type of their answers (CLA-03).
const (
	ResponseFreetext       ResponseKind = "freetext"        // string
	ResponseYesNo          ResponseKind = "yes_no"          // boolean
	ResponseMultipleChoice ResponseKind = "multiple_choice" // string, one of the choices
	ResponseNumeric        ResponseKind = "numeric"         // number
)
