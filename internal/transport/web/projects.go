package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/api"
)

// rereadProjects has the list of projects read again. The request contains none: only the folders of the data directory count, which only
// the server's user can write.
func (s *Server) rereadProjects(_ http.ResponseWriter, r *http.Request, _ visitor, _ api.Empty) (api.Projects, error) {
	return s.projects(r, true)
}

// listProjects says how the projects are served.
func (s *Server) listProjects(_ http.ResponseWriter, r *http.Request, _ visitor) (api.Projects, error) {
	return s.projects(r, false)
}

func (s *Server) projects(r *http.Request, again bool) (api.Projects, error) {
	if s.options.Projects == nil {
		return api.Projects{}, refuse(api.KindNotFound, "this server has no projects besides its own", "ask the server whose project it is")
	}
	return s.options.Projects(r.Context(), again)
}

// ServeHTTP answers a request that no server can serve, to a program or a browser.
func (r *Refusal) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	r.write(w)
}
