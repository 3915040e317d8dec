package api

import (
	"reflect"
	"slices"
	"sync"

	"github.com/earshot-dev/earshot/utp"
)

// Peer is a kind of peer on the bus: it decides what a credential may request from the kernel.
type Peer string

// The peers.
const (
	Agent Peer = "agent" // a worker that runs an agent's turns
	Tool  Peer = "tool"  // a tool service
	Hub   Peer = "hub"   // serves people
	// Operator discovers the tool services and receives their progress; it may request nothing from the kernel.
	Operator Peer = "operator"
	// External is a third-party worker or tool service, which speaks only CommonGround v1r4.
	External Peer = "foreign"
)

// Operation is a request that the kernel accepts, over the bus as `earshot.v1.<project>.kernel.<name>`. The bus's
// permissions, the kernel's dispatch and the rights of operators follow from [Operations].
type Operation struct {
	Name string
	// Peers may request it; for all others it does not exist.
	Peers []Peer
	Right Right
	// Summary is a sentence on what it does and Example a request, if people request it by name.
	Summary, Example string
	// Repeatable reports that the operation is idempotent: a repeated request changes nothing more and gets the same
	// answer, so a request without an answer may be sent again.
	Repeatable bool
	// Request and Answer are the types of the JSON that it takes and returns. A request of type [utp.Message] is a
	// whole message of the tool protocol.
	Request, Answer reflect.Type
}

// Operations returns all operations. The caller owns the slice.
func Operations() []Operation { return slices.Clone(operations()) }

// OperationNamed finds an operation; it returns false if the name is unknown.
func OperationNamed(name string) (Operation, bool) {
	i, is := byName()[name]
	if !is {
		return Operation{}, false
	}
	return operations()[i], true
}

// MayAsk reports whether a kind of peer may request an operation.
func MayAsk(peer Peer, name string) bool {
	o, is := OperationNamed(name)
	return is && slices.Contains(o.Peers, peer)
}

// WholeMessage reports whether the kernel receives the request as a whole message, see [utp.EncodeMessage].
func (o Operation) WholeMessage() bool { return o.Request == reflect.TypeFor[utp.Message]() }

// Empty is the type of an empty request or answer.
type Empty = struct{}

// operation makes a row of the table.
func operation[Q, A any](name string, peers ...Peer) Operation {
	return Operation{Name: name, Peers: peers, Request: reflect.TypeFor[Q](), Answer: reflect.TypeFor[A]()}
}

func (o Operation) repeatable() Operation {
	o.Repeatable = true
	return o
}

// named makes it an operation that people with a right request by name.
func (o Operation) named(r Right, summary, example string) Operation {
	o.Right, o.Summary, o.Example = r, summary, example
	return o
}

var byName = sync.OnceValue(func() map[string]int {
	all := map[string]int{}
	for i, o := range operations() {
		all[o.Name] = i
	}
	return all
})
