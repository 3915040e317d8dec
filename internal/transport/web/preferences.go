package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/api"
)

// preferences returns the visitor's preferences.
func (s *Server) preferences(_ http.ResponseWriter, r *http.Request, v visitor) (api.Preferences, error) {
	return s.hub.Prefer(r.Context(), v.Principal, api.Preferences{})
}

// setPreferences sets some of the visitor's preferences. They apply to questions that are asked from now on.
func (s *Server) setPreferences(_ http.ResponseWriter, r *http.Request, v visitor, expected api.Preferences) (api.Preferences, error) {
	if expected == (api.Preferences{}) {
		return expected, refuse(api.KindInvalid, "the body sets no preference",
			`send {"answer_seconds":86400} for no time limit, {"undo_seconds":20}, {"verbosity":"terse"}, or several; 0 and "" are what everybody has`)
	}
	return s.hub.Prefer(r.Context(), v.Principal, expected)
}
