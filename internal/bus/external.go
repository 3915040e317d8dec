package bus

import (
	"context"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/earshot-dev/earshot/utp"
)

// externalAtOnce is how many commands of third-party peers are handled concurrently. They have a queue of their own, so
// that a flood of them delays nobody else's requests.
const externalAtOnce = 8

// listenExternal receives the commands of third-party peers. Beyond commandBurst the library drops messages and logs that. A
// sender that requested an answer gets none, and sends again.
func (s *service) listenExternal(ctx, accepting context.Context) error {
	for _, pattern := range sentPatterns(s.kernel.project, "*") {
		if err := s.subscribe(ctx, pattern, s.commands); err != nil {
			return err
		}
	}
	for range externalAtOnce {
		s.running.Go(func() { s.runExternal(ctx, accepting) })
	}
	return nil
}

func (s *service) runExternal(ctx, accepting context.Context) {
	for {
		select {
		case m := <-s.commands:
			s.answerExternal(ctx, m)
		case <-accepting.Done():
			return
		}
	}
}

func (s *service) answerExternal(ctx context.Context, m *nats.Msg) {
	from, op, command, ok := senderOf(s.kernel.project, m.Subject)
	switch {
	case !ok:
		s.refuse(m, refusedCaller)
	case m.Reply != "" && !strings.HasPrefix(m.Reply, answerPrefix): // as for a request
		s.kernel.log.Warn("bus: command dropped, its reply subject was not made by the server", "from", from.String(), "reply", m.Reply)
	default:
		s.reply(m, s.call(ctx, from, op, requestOf(op, command, m)))
	}
}

// serverHeader is a header that the server adds to a request that crosses accounts.
const serverHeader = "Nats-Request-Info"

// requestOf returns what the handler gets of a message: its payload, or all of it. The subject is that of the tool
// protocol, if it has one.
func requestOf(op, subject string, m *nats.Msg) []byte {
	if !wholeMessage(op) {
		return m.Data
	}
	header := make(map[string][]string, len(m.Header))
	for key, values := range m.Header {
		if key != serverHeader {
			header[key] = values
		}
	}
	return utp.EncodeMessage(utp.Message{Subject: subject, Header: header, Payload: m.Data})
}
