package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/api"
)

// reloadCredentials looks at the files of credentials again. The request holds none: what counts
// is what the files say, which only the user of the server can write.
func (s *Server) reloadCredentials(_ http.ResponseWriter, r *http.Request, _ visitor, _ api.Empty) (api.Credentials, error) {
	if s.options.Credentials == nil {
		return api.Credentials{}, refuse(api.KindNotFound, "this server lets no processes in", "")
	}
	return s.options.Credentials(r.Context())
}
