package web

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
)

// wishes tells what the visitor wishes.
func (s *Server) wishes(w http.ResponseWriter, r *http.Request, v visitor) error {
	return s.prefer(w, r, v, api.Preferences{})
}

// wish sets what the visitor wishes. It holds for questions that are asked from now on.
func (s *Server) wish(w http.ResponseWriter, r *http.Request, v visitor) error {
	raw, err := body(w, r, replyLimit)
	if err != nil {
		return err
	}
	var wanted api.Preferences
	if err := json.Unmarshal(raw, &wanted, json.RejectUnknownMembers(true)); err != nil || wanted == (api.Preferences{}) {
		return &Refusal{
			Kind: api.KindInvalid, Message: "the body is not one of preferences", Cause: err,
			Hint: `send {"answer_seconds":86400} for no time limit, {"undo_seconds":20}, or both; 0 is the usual time`,
		}
	}
	return s.prefer(w, r, v, wanted)
}

func (s *Server) prefer(w http.ResponseWriter, r *http.Request, v visitor, wanted api.Preferences) error {
	now, err := s.hub.Prefer(r.Context(), v.Principal, wanted)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, now)
	return nil
}
