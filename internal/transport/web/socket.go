package web

import (
	"net/http"
	"strings"

	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/api"
)

// socket serves a subscription on a WebSocket (TR-WS-01 to TR-WS-08).
func (s *Server) socket(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := handshake(r); err != nil {
		return err
	}
	ctx, leave, err := s.enter(r.Context(), v.Principal)
	if err != nil {
		return err
	}
	defer leave()
	conn, err := socket.Accept(w, r, socket.Options{Limit: replyLimit, OriginChecked: true}) // guard has
	if err != nil {
		s.log.InfoContext(ctx, "no WebSocket", "reason", err) // Accept has answered
		return nil
	}
	s.converse(ctx, conn, v, nil)
	return nil
}

// handshake refuses a request that does not ask for a WebSocket, or that offers only other subprotocols. One that offers none is taken
// (C-84).
func handshake(r *http.Request) error {
	if !lists(r.Header, "Upgrade", "websocket") {
		return refuse(api.KindInvalid, "this address takes WebSockets only, and the request is no WebSocket handshake", "connect with ws:// or wss://")
	}
	if len(r.Header.Values(protocolHeader)) > 0 && !lists(r.Header, protocolHeader, socket.Subprotocol) {
		return refuse(api.KindInvalid, "none of the subprotocols that the request offers is "+socket.Subprotocol, "offer "+socket.Subprotocol)
	}
	return nil
}

const protocolHeader = "Sec-WebSocket-Protocol"

// lists reports whether a header names an item, in upper or lower case.
func lists(h http.Header, name, item string) bool {
	for _, value := range h.Values(name) {
		for one := range strings.SplitSeq(value, ",") {
			if strings.EqualFold(strings.TrimSpace(one), item) {
				return true
			}
		}
	}
	return false
}
