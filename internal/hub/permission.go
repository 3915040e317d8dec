package hub

import (
	"context"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/rpc"
)

// Permissions lists the standing permissions in force, by number, for the turns that the principal may follow.
func (p *Person) Permissions(ctx context.Context, q api.PermissionsRequest) (a api.PermissionsAnswer, err error) {
	who, err := p.listens()
	if err != nil {
		return a, err
	}
	if !who.HearsAll() {
		if q.Owners = concerns(who, q.Owners); len(q.Owners) == 0 {
			return a, nil
		}
	}
	err = rpc.AskUntil(ctx, p.hub.o.Conn, api.OpPermissions, q, &a)
	return a, err
}

// Revoke ends a standing permission. Like a no it starts nothing, so it takes an approver and no login.
func (p *Person) Revoke(ctx context.Context, number int) (api.StandingPermission, error) {
	var v api.StandingPermission
	found, err := p.Permissions(ctx, api.PermissionsRequest{Number: number})
	if err != nil {
		return v, err
	}
	if len(found.Permissions) != 1 {
		return v, ErrNotFound
	}
	who, err := p.hub.current(p.who)
	if err != nil {
		return v, err
	}
	if !who.Has(access.Approver) || !who.Approves(found.Permissions[0].Owner) {
		return v, notAllowed("only an approver for its owner ends a standing permission", "ask the owner, or use a token for that owner")
	}
	err = rpc.AskUntil(ctx, p.hub.o.Conn, api.OpRevoke, api.RevokeRequest{
		Number: number, By: p.who.Name, Credential: p.who.Credential, Surface: p.who.Surface,
	}, &v)
	return v, err
}
