package api

import (
	"github.com/go-json-experiment/json/jsontext"
)

// CommandAnswer is what the kernel did with a third-party worker's command. Sending the same command again changes
// nothing and gets the same answer.
type CommandAnswer struct {
	// State is adopted, or answered if the result is already in the inbox.
	State string `json:"state"`
	// Call is the kernel's own id for the call.
	Call string `json:"call_id,omitzero"`
}

// The states of a [CommandAnswer].
const (
	CommandAdopted  = "adopted"
	CommandAnswered = "answered"
)

// ReportAnswer is what the kernel did with a third-party service's report.
type ReportAnswer struct {
	// Outcome is accepted, repeated (the same card again), late (stored besides what the person was already told) or
	// superseded (another result applies; this one changes nothing).
	Outcome string `json:"outcome"`
}

// The outcomes of a [ReportAnswer]. None of them asks for the report again.
const (
	ReportAccepted   = "accepted"
	ReportRepeated   = "repeated"
	ReportLate       = "late"
	ReportSuperseded = "superseded"
)

// ReadRequest asks for a card that the peer may see: a tool.call card of a call that it serves, or a card of a call
// that it requested. The answer is a [CardRequest].
type ReadRequest struct {
	Card string `json:"card_id"`
}

// InboxRequest asks for the reports on calls of a turn, by the ids with which the worker requested them: what a
// third-party worker looks up by correlation id in its tables.
type InboxRequest struct {
	Turn  string   `json:"turn_id"`
	Calls []string `json:"tool_call_ids"`
}

// InboxAnswer holds a row for each call that has ended, as [utp.EncodeInboxRow] writes it.
type InboxAnswer struct {
	Rows []jsontext.Value `json:"rows"`
}
