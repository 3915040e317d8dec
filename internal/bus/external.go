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

// listenExternal receives the commands of third-party peers. The library queues them up to its own limits; beyond these
// it drops messages and logs that. A sender that requested an answer gets none, and sends again.
func (s *service) listenExternal(ctx, accepting context.Context) error {
	queue := make(chan *nats.Msg)
	sub, err := s.kernel.responder.nats.QueueSubscribe(sentPattern(s.kernel.project, "*"), "kernel", func(m *nats.Msg) {
		select {
		case queue <- m:
		case <-accepting.Done():
			s.refuse(m, refusedStopping)
		}
	})
	if err != nil {
		return wireError("serve", false, err)
	}
	if err := s.kernel.responder.confirm(ctx, "serve", sub.Subject); err != nil {
		_ = sub.Unsubscribe() // if this fails, the subscription is gone anyway
		return err
	}
	for range externalAtOnce {
		s.running.Go(func() { s.runExternal(ctx, accepting, queue) })
	}
	return nil
}

func (s *service) runExternal(ctx, accepting context.Context, queue <-chan *nats.Msg) {
	for {
		select {
		case m := <-queue:
			s.answerExternal(ctx, m)
		case <-accepting.Done():
			return
		}
	}
}

func (s *service) answerExternal(ctx context.Context, m *nats.Msg) {
	from, command, ok := senderOf(s.kernel.project, m.Subject)
	switch {
	case !ok:
		s.refuse(m, refusedCaller)
	case m.Reply != "" && !strings.HasPrefix(m.Reply, answerPrefix): // as for a request
		s.kernel.log.Warn("bus: command dropped, its reply subject was not made by the server", "from", from.String(), "reply", m.Reply)
	default:
		s.reply(m, s.call(ctx, from, OpCommand, requestOf(OpCommand, command, m)))
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
