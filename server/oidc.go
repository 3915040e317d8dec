package server

import (
	"context"
	"os"
	"strings"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/keyfile"
	"github.com/earshot-dev/earshot/internal/oidc"
)

// OIDC is an OpenID Connect provider. A token that it has signed for the audience counts as a bearer token, with the roles that are mapped.
type OIDC struct {
	// Issuer is its address, such as https://id.example.org.
	Issuer string
	// Audience is what a token has to name in aud. Default: none of its tokens count.
	Audience string
	// ClientID is the id with which people log in on the page at the provider. Its redirect URI is the page's address with
	// /login/provider/back. Default: nobody does.
	ClientID string
	// ClientSecretFile is the file with the secret of that id, which nobody else can open. Default: it has none.
	ClientSecretFile string
	// Scopes are asked for at a login, besides openid: those that have the provider put the claim into its ID token.
	Scopes []string
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
	secret, err := o.OIDC.secret()
	if err != nil {
		return nil, err
	}
	q := oidc.Options{
		Issuer: o.OIDC.Issuer, Audience: o.OIDC.Audience, ClientID: o.OIDC.ClientID, ClientSecret: secret, Scopes: o.OIDC.Scopes,
		Claim: o.OIDC.RolesClaim, Roles: o.OIDC.Roles, Owners: o.OIDC.Owners, Accept: o.OIDC.Accept, Now: o.Now, Logger: o.Logger,
	}
	if !q.Named() {
		return nil, nil //nolint:nilnil // none is wanted
	}
	return oidc.New(q)
}

// secret reads the secret of the id with which people log in.
func (o OIDC) secret() (string, error) {
	if o.ClientSecretFile == "" {
		return "", nil
	}
	if err := keyfile.CheckClosed(o.ClientSecretFile); err != nil {
		return "", cause.Fail(nil, "the file "+o.ClientSecretFile+" with the secret for the identity provider is open to others",
			"others may have read it: have the provider give out another one, and close the file with chmod 600")
	}
	raw, err := os.ReadFile(o.ClientSecretFile)
	if err != nil {
		return "", cause.Misuse("the secret for the identity provider cannot be read: "+err.Error(), "name the file with --oidc-client-secret-file FILE")
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", cause.Misuse("the file "+o.ClientSecretFile+" with the secret for the identity provider is empty", "put the secret into it that the provider has given out")
	}
	return secret, nil
}

// AskProvider asks the identity provider for its keys, as the server does when it starts, and returns what of it counts; "" if none is
// named. It starts and changes nothing.
func (o Options) AskProvider(ctx context.Context) (counts string, err error) {
	v, err := o.provider()
	if v == nil || err != nil {
		return "", err
	}
	return v.Describe(), v.Reach(ctx)
}

// reach asks the provider for its keys, and tells the operator if it cannot be asked. The server starts all the same: other tokens count,
// and the provider is asked again with each of its own.
func (o Options) reach(ctx context.Context) (*oidc.Verifier, error) {
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
