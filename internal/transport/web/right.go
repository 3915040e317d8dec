package web

import (
	"strings"

	"github.com/earshot-dev/earshot/api"
)

// denied returns the refusal for a principal that lacks a right, otherwise nil. The hub checks whether the right covers
// a given session.
func denied(who Principal, needs api.Right) error {
	if who.May(needs) {
		return nil
	}
	roles, all := needs.Roles()
	names := make([]string, 0, len(roles))
	for _, role := range roles {
		names = append(names, string(role))
	}
	hint := "use a token with the role " + strings.Join(names, " or ")
	if all {
		hint = "use a token with the roles " + strings.Join(names, " and ")
	}
	return refuse(api.KindForbidden, who.Name+" may not "+needs.Description(), hint)
}
