package bus

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"
)

// Message is a command, a wakeup or a broadcast as received. Header keys keep the case in which they were sent.
type Message struct {
	Subject string
	Header  map[string][]string
	Payload []byte
}

// Handler answers one request. from is the caller, authenticated by the server; op is one of the operations of its
// kind. The answer is sent unchanged, even if nil. The context is the one passed to Serve.
type Handler func(ctx context.Context, from Principal, op string, request []byte) (reply []byte)

// outgoing builds a message whose headers keep their case.
func outgoing(subject string, header map[string][]string, payload []byte) (*nats.Msg, error) {
	m := &nats.Msg{Subject: subject, Data: payload}
	if len(header) == 0 {
		return m, nil
	}
	m.Header = make(nats.Header, len(header))
	for key, values := range header {
		if !isToken(key) {
			return nil, invalidf("header %q: a key is 1 to %d of A-Z a-z 0-9 _ -", key, maxToken)
		}
		for _, value := range values {
			// The wire would trim and flatten such values; a silent change is worse than an error.
			if strings.ContainsAny(value, "\r\n\x00") || strings.TrimSpace(value) != value {
				return nil, invalidf("header %s: a value has no line break, NUL or space at its ends", key)
			}
		}
		m.Header[key] = values
	}
	return m, nil
}

// incoming converts a message from the library's type.
func incoming(m *nats.Msg) Message {
	return Message{Subject: m.Subject, Header: m.Header, Payload: m.Data}
}
