package web

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// operate forwards an operator's request unchanged, and returns the answer.
func (s *Server) operate(route api.Route, op string) handler {
	return func(w http.ResponseWriter, r *http.Request, v visitor) error {
		raw, err := body(w, r, route.Limit)
		if err != nil {
			return err
		}
		if !jsontext.Value(raw).IsValid() {
			return refuse(api.KindInvalid, "the body is not JSON", "send, for example, "+route.Example)
		}
		answer, err := s.hub.Operate(r.Context(), v.Principal, op, raw)
		if err != nil {
			return err
		}
		writeJSON(w, route.Statuses[0], answer)
		return nil
	}
}
