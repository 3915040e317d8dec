package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/api"
)

// rereadServices has the list of Model Context Protocol servers read again. The request contains none: only the file
// counts, which only the server's user can write.
func (s *Server) rereadServices(_ http.ResponseWriter, r *http.Request, _ visitor, _ api.Empty) (api.Services, error) {
	if s.options.Services == nil {
		return api.Services{}, refuse(api.KindNotFound, "this server has no list of MCP servers to read again", "")
	}
	return s.options.Services(r.Context())
}
