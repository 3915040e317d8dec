package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/hub/access"
)

// mayAdmit is the right to say who comes to the bus: a person's, as everything that the gate
// relies on.
func mayAdmit() right { return right{"let processes in", access.Principal.Operates} }

// takeUpCredentials looks at the files of credentials again. The request holds none: what counts
// is what the files say, which only the user of the server can write.
func (s *Server) takeUpCredentials(w http.ResponseWriter, r *http.Request, _ visitor) error {
	if s.options.Credentials == nil {
		return refuse(api.KindNotFound, "this server lets no processes in", "")
	}
	if _, err := body(w, r, replyLimit); err != nil {
		return err
	}
	answer, err := s.options.Credentials(r.Context())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}
