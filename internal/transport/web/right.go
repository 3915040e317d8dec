package web

import (
	"strings"

	"github.com/earshot-dev/earshot/api"
)

// denied is the refusal of a principal that lacks a right, nil where it has it. Whether it reaches a given session is
// judged by the hub.
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
