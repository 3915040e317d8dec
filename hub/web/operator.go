package web

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// operatorLimit is the most that a request of an operator may hold: what a message to the
// kernel does.
const operatorLimit = 448 << 10

// operate passes an operation of operators on. Which there are, and with which right, is the
// hub's to say: there is one door here, and one table there.
func (s *Server) operate(w http.ResponseWriter, r *http.Request, v visitor) error {
	raw, err := body(w, r, operatorLimit)
	if err != nil {
		return err
	}
	if !jsontext.Value(raw).IsValid() {
		return refuse(api.KindInvalid, "the body is not JSON", "send an object, such as {}")
	}
	answer, err := s.hub.Operate(r.Context(), v.Principal, r.PathValue("op"), raw)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, answer)
	return nil
}
