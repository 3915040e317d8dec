package api

import (
	"reflect"
	"slices"

	"github.com/earshot-dev/earshot/utp"
)

// Peer is a kind of peer on the bus: it decides what a credential may ask of the kernel.
type Peer string

// The peers.
const (
	Agent Peer = "agent" // a worker that runs an agent's turns
	Tool  Peer = "tool"  // a tool service
	Hub   Peer = "hub"   // serves people
	// Operator finds the tool services and hears their progress; it asks the kernel for nothing.
	Operator Peer = "operator"
	// External is a third-party worker or tool service, which speaks CommonGround v1r4 alone.
	External Peer = "foreign"
)

// Operation is something that the kernel does on request, over the bus as
// `earshot.v1.<project>.kernel.<name>`. The bus's permissions, the kernel's dispatch and the rights
// of operators follow from [Operations].
type Operation struct {
	Name string
	// Peers may ask for it; for all others it does not exist.
	Peers []Peer
	Right Right
	// Summary is a sentence on what it does and Example a request, where people ask for it by its name.
	Summary, Example string
	// Repeatable: asked for twice it changes no more than once and is answered alike, so that a
	// request without an answer may be sent again.
	Repeatable bool
	// Request and Answer are what it takes and returns as JSON. A request of type [utp.Message] is a
	// whole message of the tool protocol.
	Request, Answer reflect.Type
}

// Operations returns all operations, each once. The slice is the caller's own.
func Operations() []Operation { return slices.Clone(operations) }

// OperationNamed finds an operation; false where there is none of that name.
func OperationNamed(name string) (Operation, bool) {
	i, is := byName[name]
	if !is {
		return Operation{}, false
	}
	return operations[i], true
}

// MayAsk reports whether a kind of peer may ask for an operation.
func MayAsk(peer Peer, name string) bool {
	o, is := OperationNamed(name)
	return is && slices.Contains(o.Peers, peer)
}

// WholeMessage reports whether the kernel gets the request as a whole message, see [utp.EncodeMessage].
func (o Operation) WholeMessage() bool { return o.Request == reflect.TypeFor[utp.Message]() }

// Empty is the answer of an operation that has none, and the request of one that needs none.
type Empty = struct{}

// operation makes a row of the table.
func operation[Q, A any](name string, peers ...Peer) Operation {
	return Operation{Name: name, Peers: peers, Request: reflect.TypeFor[Q](), Answer: reflect.TypeFor[A]()}
}

func (o Operation) repeatable() Operation {
	o.Repeatable = true
	return o
}

// named makes it one that people with a right ask for by its name.
func (o Operation) named(r Right, summary, example string) Operation {
	o.Right, o.Summary, o.Example = r, summary, example
	return o
}

var byName = func() map[string]int {
	all := map[string]int{}
	for i, o := range operations {
		all[o.Name] = i
	}
	return all
}()
