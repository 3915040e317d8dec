package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/api"
)

// reloadCredentials reloads the credential files. The request contains none: only the files count, which only the
// server's user can write.
func (s *Server) reloadCredentials(_ http.ResponseWriter, r *http.Request, _ visitor, _ api.Empty) (api.Credentials, error) {
	if s.options.Credentials == nil {
		return api.Credentials{}, refuse(api.KindNotFound, "this server lets no processes in", "")
	}
	return s.options.Credentials(r.Context())
}
