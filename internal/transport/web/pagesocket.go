package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// pageSocket is the stream of one page on a WebSocket. It takes the query of [Server.pageEvents] and sends its frames, each as one message. Of
// requests, a browser keeps no more than six open to a server without TLS, and a seventh page would wait for one of the streams to end; of
// WebSockets it keeps hundreds. The page sends nothing.
func (s *Server) pageSocket(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := handshake(r); err != nil {
		return err
	}
	p, err := s.pageStream(r, v)
	if err != nil {
		return err
	}
	ctx, leave, err := s.enter(r.Context(), v.Principal)
	if err != nil {
		return err
	}
	defer leave()
	subscription, err := p.subscribe(ctx)
	if err != nil {
		return err
	}
	defer subscription.Close()
	conn, err := socket.Accept(w, r, socket.Options{Limit: replyLimit, OriginChecked: true}) // guard has
	if err != nil {
		s.log.InfoContext(ctx, "no WebSocket", "reason", err) // Accept has answered
		return nil
	}
	stream.Converse(ctx, conn, &pagePeer{peer: &peer{watch: s.watch(p.visitor), server: s}, page: p, from: subscription}, []byte("{}"))
	return nil
}

// pagePeer is a page on a WebSocket, whose address has said what it wants.
type pagePeer struct {
	*peer

	page *pageStream
	from Subscription
}

// Subscribe implements [stream.Host].
func (p *pagePeer) Subscribe(context.Context, []byte) (stream.Subscription, []byte, error) {
	return pageFrames{p}, nil, nil
}

// Message implements [stream.Host].
func (p *pagePeer) Message(context.Context, []byte) ([]byte, error) {
	return nil, &transport.Error{Code: transport.Violation, Reason: "a page answers by its forms, and sends nothing here"}
}

// pageFrames is what a page hears.
type pageFrames struct{ of *pagePeer }

// ID implements [stream.Subscription].
func (f pageFrames) ID() string { return f.of.from.ID() }

// Close implements [stream.Subscription]. pageSocket closes the subscription.
func (f pageFrames) Close() {}

// pageMessage is a frame as a message.
type pageMessage struct {
	Event string         `json:"event"`
	ID    string         `json:"id,omitzero"` // the point after which the page can resume
	Data  jsontext.Value `json:"data"`
}

// Frames implements [stream.Subscription].
func (f pageFrames) Frames(ctx context.Context, _ string, send func([]stream.Frame) bool) error {
	var failed error
	err := f.of.page.run(ctx, f.of.from, func(group []stream.Frame) bool {
		messages := make([]stream.Frame, len(group))
		for i, frame := range group {
			var raw []byte
			if raw, failed = json.Marshal(pageMessage{Event: frame.Event, ID: frame.ID, Data: frame.Data}); failed != nil {
				return false
			}
			messages[i].Data = raw
		}
		return send(messages)
	})
	if failed != nil {
		return fmt.Errorf("web: a page's stream: %w", failed)
	}
	return err
}
