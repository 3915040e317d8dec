package web

import (
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/hub/access"
)

// startTurn starts a turn: 201 and its ids.
func (s *Server) startTurn(w http.ResponseWriter, r *http.Request, v visitor) error {
	raw, err := body(w, r, turnLimit)
	if err != nil {
		return err
	}
	var t Turn
	if err := json.Unmarshal(raw, &t, json.RejectUnknownMembers(true)); err != nil {
		return &Refusal{
			Kind: KindInvalid, Message: "the body is not a turn: " + err.Error(), Hint: `send {"agent":"…","args":{…}}, and request or answer_seconds if wanted`, Cause: err,
		}
	}
	if t.Agent == "" || t.Answer < 0 {
		return refuse(KindInvalid, "found no agent, or a negative answer_seconds", `name the agent, such as {"agent":"tidy","args":{…}}`)
	}
	if len(t.Args) == 0 {
		t.Args = jsontext.Value("{}")
	}
	if err := s.options.Agents(r.Context(), t.Agent, t.Args); err != nil {
		return err
	}
	started, err := s.hub.Enqueue(r.Context(), v.Principal, t)
	if err != nil {
		return err
	}
	s.counts.turns.Add(1)
	w.Header().Set("Location", apiRoot+"/sessions/"+started.Session+"/events")
	writeJSON(w, http.StatusCreated, started)
	return nil
}

// me tells who the token or the login belongs to.
func (s *Server) me(w http.ResponseWriter, _ *http.Request, v visitor) error {
	writeJSON(w, http.StatusOK, struct {
		Name    string        `json:"name"`
		Roles   []access.Role `json:"roles"`
		Surface string        `json:"surface"`
	}{v.Name, v.Roles, v.Surface})
	return nil
}
