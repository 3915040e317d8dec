package server

import (
	"net/http"
	"strconv"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/peer"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// terminalOf returns the terminal of the process that a request comes from.
func (s *Server) terminalOf(r *http.Request) (web.Terminal, error) {
	t, err := s.asking.At(peer.ProcessOf(r))
	return web.Terminal{Key: t.Key, Name: t.Name}, err
}

// asked notes that the process that a request comes from asks for calls, or that for which it does.
func (s *Server) asked(r *http.Request, gateway string) {
	from := peer.ProcessOf(r)
	if agent, err := strconv.Atoi(gateway); err == nil {
		s.asking.AskedFor(from, agent)
		return
	}
	s.asking.Asked(from, gateway == api.GatewayOfHost)
}

// below returns an error if the process that a request comes from was started by one that asks for calls.
func (s *Server) below(r *http.Request) error {
	return s.asking.Above(peer.ProcessOf(r))
}
