package bus

import "slices"

// Kind is the sort of a principal: it decides what the principal may ask of the
// kernel and what it may hear.
type Kind string

// The kinds. Each has a row in the table of operations.
const (
	Agent Kind = "agent" // a worker that runs an agent's turns; hears its doorbell
	Tool  Kind = "tool"  // a tool service; hears its commands
	Hub   Kind = "hub"   // serves people; hears the broadcasts
)

// opsByKind is the whole of what each kind may ask for. An operation that is not in
// its row has no import in its account, and so does not exist for it.
var opsByKind = map[Kind][]string{
	Agent: {"claim", "renew", "call", "card", "put", "get", "transcript", "resume", "deliver"},
	Tool:  {"start", "beat", "finish", "get", "put", "reconcile", "settle", "register"},
	Hub:   {"enqueue", "events", "sessions", "questions", "arguments", "answer", "extend", "stop", "undo", "absent"},
}

// Kinds returns every kind, in a fixed order.
func Kinds() []Kind { return []Kind{Agent, Tool, Hub} }

// Ops returns the operations that a kind may ask of the kernel, in the order of the
// table; nil for an unknown kind. The slice is the caller's own.
func Ops(k Kind) []string { return slices.Clone(opsByKind[k]) }

func mayAsk(k Kind, op string) bool { return slices.Contains(opsByKind[k], op) }
