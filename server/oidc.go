package server

import (
	"context"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/hub/access"
	"github.com/earshot-dev/earshot/internal/oidc"
)

// OIDC is an OpenID Connect provider. A token that it has signed for the audience counts as a bearer token, with the roles that are mapped.
type OIDC struct {
	// Issuer is its address, such as https://id.example.org, and Audience is what a token has to name in aud.
	Issuer, Audience string
	// RolesClaim is the claim that roles are mapped from. Default: groups.
	RolesClaim string
	// Roles give each value of the claim a role, as VALUE=ROLE. A token with no such value is refused.
	Roles []string
	// Owners say whose sessions a value of the claim is for besides the token's own, as VALUE=PERSON; * is everybody.
	Owners []string
	// Accept lets an accept with such a token count. Default: it rejects only, for any program may hold it.
	Accept bool
}

// provider returns the verifier of the provider's tokens; nil if there is none.
func (o Options) provider() (*oidc.Verifier, error) {
	q := oidc.Options{
		Issuer: o.OIDC.Issuer, Audience: o.OIDC.Audience, Claim: o.OIDC.RolesClaim, Roles: o.OIDC.Roles, Owners: o.OIDC.Owners, Accept: o.OIDC.Accept,
		Now: o.Now, Logger: o.Logger,
	}
	if !q.Named() {
		return nil, nil //nolint:nilnil // none is wanted
	}
	return oidc.New(q)
}

// reach asks the provider for its keys, and tells the operator if it cannot be asked. The server starts all the same: other tokens count,
// and the provider is asked again with each of its own.
func (o Options) reach(ctx context.Context) (access.Provider, error) {
	v, err := o.provider()
	if v == nil || err != nil {
		return nil, err
	}
	if err := v.Reach(ctx); err != nil {
		o.Notice("The identity provider " + o.OIDC.Issuer + " cannot be asked for its keys: " + cause.OneLine(cause.Of(err)) +
			". Its tokens do not count until it can; it is asked again with each.")
	}
	return v, nil
}
