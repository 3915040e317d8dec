package tidy

import "encoding/json"

// The tools that a planner calls.
const (
	ToolScan   = "files.scan"
	ToolHash   = "files.hash"
	ToolDelete = "files.delete"
	ToolTrash  = "files.trash"
)

// Args are the arguments of one turn of the agent.
type Args struct {
	// Root is the folder to tidy: absolute, without links (files.Resolve).
	Root string `json:"root"`
	// Trash moves duplicates to the desktop's trash instead of deleting them.
	Trash bool `json:"trash,omitempty"`
}

// Move is what comes next: calls to make, or the answer that ends the turn.
type Move struct {
	Calls  []Call
	Answer *Answer
}

// Call is one tool call.
type Call struct {
	// Key names the call within the turn, and is the same whenever the same results were seen before: "scan-1", "hash-3", "remove".
	Key  string
	Tool string
	// Args is a files.ScanArgs, files.HashArgs or files.DeleteArgs; it encodes to the tool's JSON arguments.
	Args any
	// From and To are the part of the whole turn, in percent, that this call covers. They never go backwards.
	From, To int
	// Says is one sentence for a person, in English, about what the call does.
	Says string
}

// Result is what became of a call.
type Result struct {
	// Output is the tool's result as JSON. It may be there beside a code: what was done before it went wrong.
	Output json.RawMessage `json:"output,omitempty"`
	// Code is empty for a success, else the typed end, such as consent_declined, stopped, outcome_unknown or the tool's own.
	Code string `json:"code,omitempty"`
	// Message says more about the code, for a person.
	Message string `json:"message,omitempty"`
}

// The codes that a planner tells apart; any other is a failure.
const (
	CodeDeclined  = "consent_declined"
	CodeExpired   = "consent_expired"
	CodeWithdrawn = "consent_withdrawn"
	CodeStale     = "consent_stale"
	CodeStopped   = "stopped"
	CodeDenied    = "denied_by_policy"
	CodeUnknown   = "outcome_unknown"
)
