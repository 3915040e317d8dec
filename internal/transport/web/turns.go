package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// startTurn starts a turn: 201 and its ids. The same request with the same key gets the same answer.
func (s *Server) startTurn(w http.ResponseWriter, r *http.Request, v visitor, t api.TurnStart) (api.EnqueueAnswer, error) {
	var none api.EnqueueAnswer
	key, err := requestKey(r)
	if err != nil {
		return none, err
	}
	t.Key = key
	if t.Agent == "" || t.Answer < 0 {
		return none, refuse(api.KindInvalid, "found no agent, or a negative answer_seconds", `name the agent, such as {"agent":"tidy","args":{…}}`)
	}
	started, err := s.start(r.Context(), v, t)
	if err != nil {
		return none, err
	}
	_, events := api.Address(api.RouteEvents, started.Session)
	w.Header().Set("Location", events)
	started.Repeated = false // both answers are the same
	return started, nil
}

// start checks a turn, and starts it.
func (s *Server) start(ctx context.Context, v visitor, t api.TurnStart) (api.EnqueueAnswer, error) {
	if len(t.Args) == 0 {
		t.Args = jsontext.Value("{}")
	}
	if err := s.options.Agents(ctx, &t); err != nil {
		return api.EnqueueAnswer{}, err
	}
	started, err := s.hub.Enqueue(ctx, v.Principal, t)
	if err == nil && !started.Repeated {
		s.counts.turns.Add(1)
	}
	return started, err
}

// requestKey returns the request's idempotency key, or "".
func requestKey(r *http.Request) (string, error) {
	given := r.Header.Values(api.KeyHeader)
	if len(given) == 0 {
		return "", nil
	}
	const hint = "send one " + api.KeyHeader + " of 1 to 255 visible ASCII characters, such as a UUID, or none"
	if len(given) > 1 {
		return "", refuse(api.KindInvalid, fmt.Sprintf("found %d headers %s, expected one", len(given), api.KeyHeader), hint)
	}
	if given[0] == "" {
		return "", refuse(api.KindInvalid, "the header "+api.KeyHeader+" is empty", hint)
	}
	if err := api.CheckKey(given[0]); err != nil {
		return "", refuse(api.KindInvalid, err.Error(), hint)
	}
	return given[0], nil
}

// me returns the identity that the token or the login belongs to.
func (s *Server) me(_ http.ResponseWriter, r *http.Request, v visitor) (api.Identity, error) {
	s.personal(r.Context(), &v)
	return api.Identity{
		Name: v.Name, Roles: v.Roles, Surface: v.Surface, Accepts: v.Answers() && v.Unattended == "", TimeZone: api.Chosen(v.prefers.TimeZone),
	}, nil
}
