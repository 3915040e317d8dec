package server

import (
	"context"
	"net/http"

	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

// serveHost serves a Model Context Protocol host that connects over HTTP.
func (s *Server) serveHost(w http.ResponseWriter, r *http.Request, who web.Principal, token string) {
	s.hosts.ServeHTTP(w, r, mcp.Caller{Credential: who.Credential, Token: token})
}

// dialInProcess connects to this server as the agent that a token stands for. The server checks again what a host may
// do, as for any agent.
func (s *Server) dialInProcess(ctx context.Context, token string) (mcp.Agent, error) {
	inProcess := web.InProcess(func() http.Handler { return s.web })
	a, err := client.DialAgent(ctx, client.Options{URL: s.url, Token: token, Name: "mcp", Transport: inProcess})
	if err != nil {
		return nil, err
	}
	return mcp.Client{Agent: a}, nil
}
