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
	Agent Kind = Kind(api.Agent) // a worker that runs an agent's turns; hears its doorbell
	Tool       = Kind(api.Tool)  // a tool service; hears its commands
	Hub        = Kind(api.Hub)   // serves people; hears the broadcasts
	// Operator finds the tool services ($SRV) and hears how far their calls are; it asks
	// the kernel for nothing.
	Operator = Kind(api.Operator)
	// External is a worker or a third-party tool service, which speaks v1r4 only: it hears
	// the doorbell and the commands of its name, and sends commands of its own, to the kernel.
	External = Kind(api.External)
)

// opsByKind is the whole of what each kind may ask for, as [api.Operations] says. An operation that is not in
// its row has no import in its account, and so does not exist for it.
var opsByKind = func() map[Kind][]string {
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
}()

// OpCommand is the operation as which the kernel gets a command that a foreign peer has
// sent. Nobody asks for it by its name: its subject is that of the command.
const OpCommand = api.OpCommand

// wholeMessage reports whether the kernel gets what comes for an operation as a whole message, see
// [utp.EncodeMessage].
func wholeMessage(op string) bool {
	o, is := api.OperationNamed(op)
	return is && o.WholeMessage()
}

// Kinds returns every kind, in a fixed order.
func Kinds() []Kind { return []Kind{Agent, Tool, Hub, Operator, External} }

// Ops returns the operations that a kind may ask of the kernel, in the order of the
// table; nil for an unknown kind. The slice is the caller's own.
func Ops(k Kind) []string { return slices.Clone(opsByKind[k]) }

func mayAsk(k Kind, op string) bool { return slices.Contains(opsByKind[k], op) }
