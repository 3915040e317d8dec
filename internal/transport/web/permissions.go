package web

import (
	"net/http"

	"github.com/earshot-dev/earshot/api"
)

// listPermissions lists the standing permissions in force, by number.
func (s *Server) listPermissions(_ http.ResponseWriter, r *http.Request, v visitor) (api.PermissionsAnswer, error) {
	after, err := number(r, "after")
	if err != nil {
		return api.PermissionsAnswer{}, err
	}
	return s.hub.Permissions(r.Context(), v.Principal, api.PermissionsRequest{After: int(after)})
}

// revokePermission ends a standing permission.
func (s *Server) revokePermission(_ http.ResponseWriter, r *http.Request, v visitor, _ api.Empty) (api.StandingPermission, error) {
	n, err := pathNumber(r, "the standing permission", api.Root+"/permissions")
	if err != nil {
		return api.StandingPermission{}, err
	}
	return s.hub.Revoke(r.Context(), v.Principal, n)
}
