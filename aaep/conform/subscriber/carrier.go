package subscriber

import (
	"cmp"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// carrier is a transport, by the area of its rules.
type carrier string

// The carriers. With those other than HTTP, a connection carries a whole subscription, both ways.
const (
	overHTTP   carrier = "tr-sse"
	overSocket carrier = "tr-ws"
	overGRPC   carrier = "tr-grpc"
	overUnix   carrier = "tr-uds"
)

// whole reports whether one connection carries a whole subscription.
func (c carrier) whole() bool { return c != overHTTP && c != "" }

// duties are the rules of a carrier that an exchange shows.
type duties struct {
	opened  []string // by a connection that carries messages
	first   string   // by the first message
	replies string   // by a message that is sent back
	resumed string   // by one who comes back with a new subscription
	frames  string   // by how messages are told apart
}

func (c carrier) duties() duties {
	return map[carrier]duties{
		overHTTP:   {replies: "TR-SSE-12"},
		overSocket: {opened: []string{"TR-WS-02", "TR-WS-03", "TR-WS-04"}, first: "TR-WS-04", replies: "TR-WS-05", resumed: "TR-WS-06", frames: "TR-WS-03"},
		overGRPC:   {opened: []string{"TR-GRPC-02", "TR-GRPC-04", "TR-GRPC-05"}, first: "TR-GRPC-05", replies: "TR-GRPC-05", frames: "TR-GRPC-04"},
		overUnix:   {opened: []string{"TR-UDS-03"}, resumed: "TR-UDS-05", frames: "TR-UDS-03"},
	}[cmp.Or(c, overHTTP)]
}

// misread is a message that could not be told from what is around it.
func (c carrier) misread(e *transport.Error) []aaep.Violation {
	return []aaep.Violation{{Rule: c.duties().frames, Message: e.Reason}}
}
