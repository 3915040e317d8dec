package web

import (
	"net/http"

	"github.com/go-json-experiment/json"
)

// preferences is what a person wishes for themselves.
type preferences struct {
	// AnswerSeconds is how long questions that are put to the person stay open: up to
	// 86,400 s, which is as long as a question can; 0 leaves it to policy and tool.
	AnswerSeconds int `json:"answer_seconds"`
}

// wishes tells what the visitor wishes.
func (s *Server) wishes(w http.ResponseWriter, r *http.Request, v visitor) error {
	n, err := s.hub.Prefer(r.Context(), v.Principal, nil)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, preferences{AnswerSeconds: n})
	return nil
}

// wish sets what the visitor wishes. It holds for questions that are asked from now on.
func (s *Server) wish(w http.ResponseWriter, r *http.Request, v visitor) error {
	raw, err := body(w, r, replyLimit)
	if err != nil {
		return err
	}
	var p struct {
		AnswerSeconds *int `json:"answer_seconds"`
	}
	if err := json.Unmarshal(raw, &p, json.RejectUnknownMembers(true)); err != nil || p.AnswerSeconds == nil {
		return &Refusal{
			Kind: KindInvalid, Message: "the body is not one of preferences", Cause: err,
			Hint: `send {"answer_seconds":86400} for no time limit, a number of seconds, or 0 for the usual time`,
		}
	}
	n, err := s.hub.Prefer(r.Context(), v.Principal, p.AnswerSeconds)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, preferences{AnswerSeconds: n})
	return nil
}
