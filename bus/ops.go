package bus

import (
	"slices"

	"github.com/earshot-dev/earshot/api"
)

// Kind is the sort of a principal: it decides what the principal may ask of the
// kernel and what it may hear.
type Kind string

// The kinds. Each has a row in the table of operations.
const (
	Agent Kind = "agent" // a worker that runs an agent's turns; hears its doorbell
	Tool  Kind = "tool"  // a tool service; hears its commands
	Hub   Kind = "hub"   // serves people; hears the broadcasts
	// Operator finds the tool services ($SRV) and hears how far their calls are; it asks
	// the kernel for nothing.
	Operator Kind = "operator"
	// Foreign is a worker or a tool service of another make, which speaks v1r4 only: it hears
	// the doorbell and the commands of its name, and sends commands of its own, to the kernel.
	Foreign Kind = "foreign"
)

// opsByKind is the whole of what each kind may ask for. An operation that is not in
// its row has no import in its account, and so does not exist for it.
var opsByKind = map[Kind][]string{
	Agent:    {"claim", "renew", "call", "card", "put", "get", "transcript", "resume", "deliver", "say", "release"},
	Tool:     {"start", "beat", "finish", "get", "put", "reconcile", "settle", "register"},
	Operator: {},
	Hub: {
		"enqueue", "events", "sessions", "questions", "arguments", "answer", "extend", "stop", "undo", "noticed", "absent", "since", "present", "prefer",
		"turn", "cards", "tools", "review", "add", "remove", "dead", "retry", "erase", "export", "import", "audit",
	},
	Foreign: {"claim", "renew", "deliver", "card", "read", "inbox", "get", "register", opReport},
}

// OpCommand is the operation as which the kernel gets a command that a foreign peer has
// sent. Nobody asks for it by its name: its subject is that of the command.
const OpCommand = api.OpCommand

// messageOps are handed to the kernel as whole messages, see [utp.EncodeMessage].
var messageOps = []string{OpCommand, opReport}

const opReport = api.OpReport

// Kinds returns every kind, in a fixed order.
func Kinds() []Kind { return []Kind{Agent, Tool, Hub, Operator, Foreign} }

// Ops returns the operations that a kind may ask of the kernel, in the order of the
// table; nil for an unknown kind. The slice is the caller's own.
func Ops(k Kind) []string { return slices.Clone(opsByKind[k]) }

func mayAsk(k Kind, op string) bool { return slices.Contains(opsByKind[k], op) }
