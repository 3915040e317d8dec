package api

import (
	"github.com/go-json-experiment/json/jsontext"
)

// CommandAnswer says what the kernel made of a foreign worker's command. Sending the same
// command again changes nothing and gets the same answer.
type CommandAnswer struct {
	// State is adopted, or answered where the result stands in the inbox already.
	State string `json:"state"`
	// Call is the id of the kernel's own under which the work is asked for and done.
	Call string `json:"call_id,omitzero"`
}

// The states of a [CommandAnswer].
const (
	CommandAdopted  = "adopted"
	CommandAnswered = "answered"
)

// ReportAnswer says what the kernel made of a foreign service's report.
type ReportAnswer struct {
	// Outcome is accepted, repeated (the same card again), late (kept beside what a person
	// was told) or superseded (another result stands; this one changes nothing).
	Outcome string `json:"outcome"`
}

// The outcomes of a [ReportAnswer]. None of them asks for the report again.
const (
	ReportAccepted   = "accepted"
	ReportRepeated   = "repeated"
	ReportLate       = "late"
	ReportSuperseded = "superseded"
)

// ReadRequest asks for a card that the peer may see: a tool.call card of a call that it
// serves, or a card of a call that it asked for. The answer is a [CardRequest].
type ReadRequest struct {
	Card string `json:"card_id"`
}

// InboxRequest asks for the reports on calls of a turn, by the ids under which the worker
// asked for them: what a third-party worker looks up by correlation in its tables.
type InboxRequest struct {
	Turn  string   `json:"turn_id"`
	Calls []string `json:"tool_call_ids"`
}

// InboxAnswer holds a row for each call that has ended, as [utp.EncodeInboxRow] writes it.
type InboxAnswer struct {
	Rows []jsontext.Value `json:"rows"`
}
