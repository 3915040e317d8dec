package web

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// keyHeader makes a request to start a turn one that may be sent again.
const keyHeader = "Idempotency-Key"

// startTurn starts a turn: 201 and its ids. The same request with the same key gets the same
// answer.
func (s *Server) startTurn(w http.ResponseWriter, r *http.Request, v visitor) error {
	key, err := requestKey(r)
	if err != nil {
		return err
	}
	raw, err := body(w, r, turnLimit)
	if err != nil {
		return err
	}
	var t api.TurnStart
	if err := json.Unmarshal(raw, &t, json.RejectUnknownMembers(true)); err != nil {
		return &Refusal{
			Kind: api.KindInvalid, Message: "the body is not a turn: " + err.Error(), Hint: `send {"agent":"…","args":{…}}, and request or answer_seconds if wanted`, Cause: err,
		}
	}
	t.Key = key
	if t.Agent == "" || t.Answer < 0 {
		return refuse(api.KindInvalid, "found no agent, or a negative answer_seconds", `name the agent, such as {"agent":"tidy","args":{…}}`)
	}
	if len(t.Args) == 0 {
		t.Args = jsontext.Value("{}")
	}
	if err := s.options.Agents(r.Context(), &t); err != nil {
		return err
	}
	started, err := s.hub.Enqueue(r.Context(), v.Principal, t)
	if err != nil {
		return err
	}
	if !started.Repeated {
		s.counts.turns.Add(1)
	}
	w.Header().Set("Location", api.Root+"/sessions/"+started.Session+"/events")
	started.Repeated = false // both answers are the same
	writeJSON(w, http.StatusCreated, started)
	return nil
}

// requestKey is the request's idempotency key, "" without one.
func requestKey(r *http.Request) (string, error) {
	given := r.Header.Values(keyHeader)
	if len(given) == 0 {
		return "", nil
	}
	const hint = "send one " + keyHeader + " of 1 to 255 visible ASCII characters, such as a UUID, or none"
	if len(given) > 1 {
		return "", refuse(api.KindInvalid, fmt.Sprintf("found %d headers %s, expected one", len(given), keyHeader), hint)
	}
	if given[0] == "" {
		return "", refuse(api.KindInvalid, "the header "+keyHeader+" is empty", hint)
	}
	if err := api.CheckKey(given[0]); err != nil {
		return "", refuse(api.KindInvalid, err.Error(), hint)
	}
	return given[0], nil
}

// me tells who the token or the login belongs to.
func (s *Server) me(w http.ResponseWriter, _ *http.Request, v visitor) error {
	writeJSON(w, http.StatusOK, api.Identity{Name: v.Name, Roles: v.Roles, Surface: v.Surface})
	return nil
}
