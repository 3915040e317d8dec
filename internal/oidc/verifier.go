package oidc

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

const (
	maxToken   = 16 << 10
	maxSubject = 255
	// stranger is why no person is known to be behind a token of a provider.
	stranger = "a token of the identity provider does not show that a person is there"
)

// algorithms are those with a public key. With any other, the verifier could sign, or nobody has signed.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// types are what the header of a token may call it (RFC 9068 for the last two). A logout token, or what else a provider signs for the
// same audience, calls itself otherwise.
var types = []string{"", "jwt", "at+jwt", "application/at+jwt"}

// Verifier verifies tokens. It is safe for concurrent use, and starts nothing.
type Verifier struct {
	o      Options
	keys   *keys
	roles  map[string][]api.Role
	owners map[string][]string
}

var _ access.Provider = (*Verifier)(nil)

// New returns a verifier. It does not ask the provider yet.
func New(o Options) (*Verifier, error) {
	o, roles, owners, err := o.checked()
	if err != nil {
		return nil, err
	}
	return &Verifier{o: o, keys: newKeys(o), roles: roles, owners: owners}, nil
}

// Reach asks the provider for its keys. An error says why it cannot be asked, and changes nothing: it is asked again with the next token.
func (v *Verifier) Reach(ctx context.Context) error {
	v.keys.mu.Lock()
	defer v.keys.mu.Unlock()
	return v.keys.renew(ctx)
}

// Describe implements [access.Provider].
func (v *Verifier) Describe() string {
	accepts := "an accept with one does not count"
	if v.o.Accept {
		accepts = "an accept with one counts"
	}
	of := "tokens of " + v.o.Issuer + " for " + v.o.Audience
	if v.o.Audience == "" {
		of = "logins at " + v.o.Issuer
	} else if v.o.ClientID != "" {
		of += ", and logins there"
	}
	given := strings.Join(slices.Sorted(slices.Values(v.o.Roles)), ", ")
	if len(v.o.Owners) > 0 {
		given += "; sessions: " + strings.Join(slices.Sorted(slices.Values(v.o.Owners)), ", ")
	}
	return fmt.Sprintf("%s; %s: %s; %s", of, v.o.Claim, given, accepts)
}

// Verify implements [access.Provider].
func (v *Verifier) Verify(token string) (access.Vouched, error) {
	if v.o.Audience == "" {
		return access.Vouched{}, access.ErrUnknown
	}
	verified, err := v.signed(token, v.o.Audience)
	if err != nil {
		return access.Vouched{}, err
	}
	return v.vouch(verified)
}

// signed verifies that the provider has signed a token for an audience, and that it counts now.
func (v *Verifier) signed(token, audience string) (*oidc.IDToken, error) {
	ctx := context.Background() // the keys are everybody's; fetching them has a limit of its own
	if len(token) > maxToken {
		return nil, refused("the token is larger than 16 KiB", nil)
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, refused("the token is neither one of this server nor a JWT with the signature of a public key", err)
	}
	header := signed.Signatures[0].Protected
	if name, is := header.ExtraHeaders[jose.HeaderType].(string); !slices.Contains(types, strings.ToLower(name)) || !is && header.ExtraHeaders[jose.HeaderType] != nil {
		return nil, refused("the token is not one for access, by its typ", nil)
	}
	fit, err := v.keys.fit(ctx, header.KeyID, header.Algorithm)
	if errors.Is(err, errNoKey) {
		return nil, refused("the token is not valid: "+err.Error(), nil)
	} else if err != nil {
		return nil, err
	}
	public := make([]crypto.PublicKey, 0, len(fit))
	for _, key := range fit {
		public = append(public, key.Key)
	}
	names := make([]string, 0, len(algorithms))
	for _, a := range algorithms {
		names = append(names, string(a))
	}
	verified, err := oidc.NewVerifier(v.o.Issuer, &oidc.StaticKeySet{PublicKeys: public}, &oidc.Config{
		ClientID: audience, SupportedSigningAlgs: names, Now: v.o.Now,
	}).Verify(ctx, token)
	if err != nil {
		return nil, refused(v.reason(err, audience), err)
	}
	return verified, nil
}

// reason says why a token is refused. What it does not know stays in the cause, for the log.
func (v *Verifier) reason(err error, audience string) string {
	if expired, is := errors.AsType[*oidc.TokenExpiredError](err); is {
		return "the token has expired at " + expired.Expiry.UTC().Format("2006-01-02 15:04:05 MST")
	}
	switch text := err.Error(); {
	case strings.Contains(text, "expected audience"):
		return "the token is not for this server, which is " + audience + " (aud)"
	case strings.Contains(text, "different provider"):
		return "the token is of another issuer than " + v.o.Issuer + " (iss)"
	case strings.Contains(text, "before the nbf"):
		return "the token does not count yet (nbf)"
	}
	return "the token is not valid: its signature or its form is wrong"
}

// vouch maps what a verified token says to what the operator gives.
func (v *Verifier) vouch(t *oidc.IDToken) (access.Vouched, error) {
	said, err := claimsOf(t)
	if err != nil {
		return access.Vouched{}, refused("the claims of the token cannot be read", err)
	}
	out := access.Vouched{Issuer: v.o.Issuer, Subject: t.Subject, Expires: t.Expiry}
	if t.Subject == "" || len(t.Subject) > maxSubject {
		return out, refused("the token names nobody: sub is empty, or too long", nil)
	}
	if _, is := said["events"]; is {
		return out, refused("the token is one of a logout or another event", nil)
	}
	values, err := said.values(v.o.Claim)
	if err != nil {
		return out, &access.Error{
			Code: access.CodeNoRole, Message: "the token is valid, and " + err.Error(), Hint: "have the provider put it there, or name another claim with --oidc-roles-claim",
		}
	}
	for _, value := range values {
		out.Roles = append(out.Roles, v.roles[value]...)
		out.Owners = append(out.Owners, v.owners[value]...)
	}
	if len(out.Roles) == 0 {
		return out, &access.Error{
			Code: access.CodeNoRole, Message: "the token is valid, and no value of its claim " + v.o.Claim + " gives a role here",
			Hint: "ask the operator to map one with --oidc-role",
		}
	}
	if !v.o.Accept {
		out.Unattended = stranger
	}
	return out, nil
}

func refused(message string, err error) error {
	return &access.Error{Code: access.CodeUnknown, Message: message, Hint: "get another token from the provider", Err: err}
}
