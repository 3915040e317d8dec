package tidy

import (
	"encoding/json"
	"path/filepath"
)

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

// Request is what a person asks for with these arguments, in words.
func (a Args) Request() string {
	if a.Trash {
		return "Find duplicate files under " + a.Root + " and move all but one of each set to the trash."
	}
	return "Find duplicate files under " + a.Root + " and delete all but one of each set."
}

// Label says in a few words what it is about: the end of the folder's path.
func (a Args) Label() string {
	parent, name := filepath.Split(filepath.Clean(a.Root))
	if above := filepath.Base(parent); above != "/" && above != "." {
		return above + "/" + name
	}
	return name
}

// Move is what comes next: calls to make, or the answer that ends the turn.
type Move struct {
	// Message is what people are to know before the calls, one sentence or two, in English; mostly nothing.
	Message string
	Calls   []Call
	Answer  *Answer
}

// Call is one tool call.
type Call struct {
	// Key names the call within the turn, and is the same whenever the same results were seen before: "scan-1", "hash-3", "remove", "remove-2".
	Key  string
	Tool string
	// Args is a files.ScanArgs, files.HashArgs or files.DeleteArgs; it encodes to the tool's JSON arguments.
	Args any
	// From and To are the part of the whole turn, in percent, that this call covers. They never go backwards.
	From, To int
	// Comment is one sentence for a person, in English, about what the call does.
	Comment string
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
