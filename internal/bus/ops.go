package bus

import (
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/api"
)

// Kind is the kind of a principal. It determines what the principal may request from the kernel and what it may
// receive.
type Kind string

// The kinds. Each has a row in the table of operations.
const (
	Agent Kind = Kind(api.Agent) // a worker that runs an agent's turns; receives its wakeups
	Tool       = Kind(api.Tool)  // a tool service; receives its commands
	Hub        = Kind(api.Hub)   // serves people; receives the broadcasts
	// Operator discovers the tool services ($SRV), and receives the progress of their calls and, where they are published,
	// the events of agents; it requests nothing from the kernel.
	Operator = Kind(api.Operator)
	// External is a third-party worker or tool service, which uses protocol v1r4 only. It receives the wakeups and the
	// commands of its name, and sends commands to the kernel.
	External = Kind(api.External)
)

// opsByKind lists what each kind may request, see [api.Operations]. An account has no import for any other operation,
// which therefore does not exist for it.
// its row has no import in its account, and so does not exist for it.
var opsByKind = sync.OnceValue(func() map[Kind][]string {
	all := map[Kind][]string{}
	for _, kind := range Kinds() {
		all[kind] = []string{}
		for _, o := range api.Operations() {
			if slices.Contains(o.Peers, api.Peer(kind)) {
				all[kind] = append(all[kind], o.Name)
			}
		}
	}
	return all
})

// OpCommand is the operation under which the kernel gets a command from a third-party peer. Nobody requests it by name:
// its subject is that of the command.
const OpCommand = api.OpCommand

// wholeMessage reports whether the kernel gets an operation's requests as whole messages, see [utp.EncodeMessage].
func wholeMessage(op string) bool {
	o, is := api.OperationNamed(op)
	return is && o.WholeMessage()
}

// Kinds returns every kind, in a fixed order.
func Kinds() []Kind { return []Kind{Agent, Tool, Hub, Operator, External} }

// Ops returns the operations that a kind may request from the kernel, in the order of the table; nil for an unknown
// kind. The caller owns the slice.
func Ops(k Kind) []string { return slices.Clone(opsByKind()[k]) }

func mayAsk(k Kind, op string) bool { return slices.Contains(opsByKind()[k], op) }
