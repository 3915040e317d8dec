package pipe

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

// The methods of AAEP over JSON-RPC, and those of Earshot.
const (
	methodSubscribe    = "aaep.subscribe"
	methodRenegotiate  = "aaep.renegotiate"
	methodReply        = "aaep.reply"
	methodClose        = "aaep.close"
	methodPing         = "aaep.ping"
	methodEvent        = "aaep.event"
	methodAuthenticate = "earshot.authenticate"
)

// carried are the types of the messages that a method carries from a subscriber.
var carried = map[string][]string{
	methodSubscribe:    {aaep.TypeSubscriptionRequest},
	methodRenegotiate:  {aaep.TypeSubscriptionRenegotiate},
	methodReply:        {aaep.TypeConfirmationReply, aaep.TypeClarificationReply, aaep.TypeQuestionExtend},
	methodClose:        {aaep.TypeSubscriptionClose},
	methodAuthenticate: {transport.TypeAuthenticate},
}

// The errors of JSON-RPC 2.0.
const (
	rpcParse   = -32700
	rpcInvalid = -32600
	rpcMethod  = -32601
	rpcParams  = -32602
)

// RPC is the connection of a producer whose messages are in envelopes of JSON-RPC 2.0, each in one line (TR-STDIO-01 to TR-STDIO-07).
type RPC struct {
	*Conn

	limit    int
	pending  sync.Mutex
	requests []jsontext.Value // the ids of the requests for terms that have no answer yet, in their order
	settled  chan struct{}    // closed once there are none; nil unless somebody waits for that
}

// envelopeRoom is how much larger than the largest message its line may be.
const envelopeRoom = 1 << 10

// NewRPC returns the connection of a producer on a stream. limit is that of a message, without its envelope.
func NewRPC(stream io.ReadWriteCloser, limit int) *RPC {
	r := &RPC{Conn: New(stream, Options{Limit: limit + envelopeRoom, Framing: Lines}), limit: limit}
	r.wrap = r.envelope
	return r
}

// call is what a subscriber sends. A response has no method; nothing is asked of the subscriber here, so that there is none to wait for.
type call struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
}

// Receive implements [transport.Conn]. What is wrong with an envelope is answered here, and so is a ping.
func (r *RPC) Receive() ([]byte, error) {
	for {
		raw, err := r.Conn.Receive()
		if err != nil {
			return nil, err
		}
		message, answer := r.open(raw)
		if answer != nil {
			if err := r.answer(answer); err != nil {
				return nil, err
			}
		}
		switch {
		case len(message) > r.limit:
			return nil, tooBig(r.limit)
		case message != nil:
			return message, nil
		}
	}
}

// open takes a message out of its envelope. answer is what the sender gets at once.
func (r *RPC) open(raw []byte) (message, answer []byte) {
	var c call
	if kind := jsontext.Value(raw).Kind(); kind != '{' && jsontext.Value(raw).IsValid() {
		wrong := "found JSON that is not an object, send one request in each line"
		if kind == '[' {
			wrong = "found a batch, and batches are not taken; send one request in each line"
		}
		return nil, fault(jsontext.Value("null"), rpcInvalid, wrong)
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return nil, fault(nil, rpcParse, "found a line that is not JSON, or an object that is not in order")
	}
	types, known := carried[c.Method]
	switch {
	case c.Version != "2.0" || c.Method == "":
		return nil, fault(c.ID, rpcInvalid, "found no request of JSON-RPC 2.0 with a method")
	case c.Method == methodPing:
		return nil, result(c.ID, "{}")
	case !known:
		return nil, fault(c.ID, rpcMethod, "found a method that is not one of AAEP's: "+c.Method)
	}
	kind, _ := aaep.Read(c.Params).Text("type")
	if !slices.Contains(types, kind) {
		return nil, fault(c.ID, rpcParams, fmt.Sprintf("found params of the type %q, expected %s", kind, strings.Join(types, " or ")))
	}
	if c.Method != methodSubscribe && c.Method != methodRenegotiate {
		return c.Params, result(c.ID, "null")
	}
	if len(c.ID) == 0 {
		return nil, fault(jsontext.Value("null"), rpcInvalid, c.Method+" is a request and needs an id")
	}
	r.pending.Lock()
	defer r.pending.Unlock()
	r.requests = append(r.requests, c.ID)
	return c.Params, nil
}

// fault is the answer to a wrong envelope; a notification, which has no id, gets none.
func fault(id jsontext.Value, code int, message string) []byte {
	switch {
	case code == rpcParse:
		id = jsontext.Value("null")
	case len(id) == 0:
		return nil
	}
	text, err := jsontext.AppendQuote(nil, message)
	if err != nil {
		text = []byte(`"found what is not UTF-8"`)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text)
}

func result(id jsontext.Value, value string) []byte {
	if len(id) == 0 {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, value)
}

// answer sends an envelope as it is.
func (r *RPC) answer(raw []byte) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	if r.broken {
		return nil // the next Receive says so
	}
	return r.write(raw)
}

// envelope puts a message into its envelope: terms answer the request for them, all else is a notification.
func (r *RPC) envelope(raw []byte) []byte {
	kind, _ := aaep.Read(raw).Text("type")
	method := methodEvent
	switch {
	case kind == aaep.TypeSubscriptionAccepted, kind == aaep.TypeSubscriptionRejected:
		return result(r.asked(), string(raw))
	case kind == aaep.TypeSubscriptionClose:
		method = methodClose
	case strings.HasPrefix(kind, aaep.PrefixEarshot+":"):
		method = strings.Replace(kind, ":", ".", 1)
	}
	name, _ := jsontext.AppendQuote(nil, method) // what is not UTF-8 is replaced
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":%s}`, name, raw)
}

// asked returns the id of the request that terms answer.
func (r *RPC) asked() jsontext.Value {
	r.pending.Lock()
	defer r.pending.Unlock()
	if len(r.requests) == 0 {
		return jsontext.Value("null")
	}
	id := r.requests[0]
	if r.requests = r.requests[1:]; len(r.requests) == 0 && r.settled != nil {
		close(r.settled)
		r.settled = nil
	}
	return id
}

// answered returns a channel that is closed once an answer to each request that was read is being written. It is called once, when no more
// are read.
func (r *RPC) answered() <-chan struct{} {
	r.pending.Lock()
	defer r.pending.Unlock()
	settled := make(chan struct{})
	if len(r.requests) == 0 {
		close(settled)
		return settled
	}
	r.settled = settled
	return settled
}
