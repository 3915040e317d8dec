package access

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Provider verifies the tokens of an identity provider. It is safe for concurrent use.
type Provider interface {
	// Verify returns whom a token stands for, with Issuer and Expires. Everything else is as in a principal of the operator's making. Its
	// errors are of type [*Error], with the codes unknown, no_role and provider_away.
	Verify(token string) (Vouched, error)
	// Describe says whose tokens count and what they give, in one line.
	Describe() string
}

// Vouched is what a token of an identity provider says, and what the operator gives to it.
type Vouched struct {
	Issuer, Subject string
	Expires         time.Time
	Roles           []Role
	Owners          []string
	// Unattended is as in [Principal].
	Unattended string
}

const (
	// maxVouched limits the people of an identity provider who are known at once; others wait until some of their tokens have expired.
	maxVouched = 16 << 10
	// surfaceProvider is where answers come from that were given with such a token.
	surfaceProvider = "oidc"

	issuerDigits  = 8
	subjectDigits = 32
)

// NameOf returns the name of a person of an identity provider. No person of a token of ours has such a name, nor anyone whom another
// provider vouches for. A subject that cannot be part of a name stands there as a hash.
func NameOf(issuer, subject string) string {
	begin := providerPrefix + digest(issuer)[:issuerDigits] + ":"
	if name := begin + subject; isName(name) && !strings.HasPrefix(subject, "~") {
		return name
	}
	return begin + "~" + digest(subject)[:subjectDigits]
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// principal returns the principal. Its credential is the same for all tokens of one person with the same rights, so that new tokens do
// not give new limits.
func (v Vouched) principal() (Principal, error) {
	roles, owners := slices.Compact(slices.Sorted(slices.Values(v.Roles))), slices.Compact(slices.Sorted(slices.Values(v.Owners)))
	p := Principal{
		Name: NameOf(v.Issuer, v.Subject), Roles: roles, Owners: owners, Surface: surfaceProvider, Unattended: v.Unattended, Issuer: v.Issuer, Expires: v.Expires,
	}
	if v.Issuer == "" || v.Subject == "" {
		return p, &Error{Code: CodeUnknown, Message: "the token names no issuer or no subject", Hint: "get another token from the provider"}
	}
	if p.Has(Agent, Tool) {
		return p, &Error{Code: CodeNoRole, Message: "a token of an identity provider is never an agent's or a tool's", Hint: "make it a token with `earshot token add`"}
	}
	rights := []string{v.Issuer, v.Subject, list(roles), strings.Join(owners, "\n"), v.Unattended}
	p.Credential = providerPrefix + digest(strings.Join(rights, "\x00"))[:subjectDigits]
	return p, nil
}

// vouch returns the principal of a provider's token. The provider may have to be asked for its keys, so nothing is locked meanwhile.
func (s *Store) vouch(token string) (Principal, error) {
	v, err := s.provider.Verify(token)
	if err != nil {
		return Principal{}, err
	}
	p, err := v.principal()
	if err != nil {
		return Principal{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.now().Before(p.Expires) {
		return Principal{}, &Error{Code: CodeUnknown, Message: "the token has expired", Hint: "get another token from the provider"}
	}
	known, was := s.vouched[p.Credential]
	if !was && len(s.vouched) >= maxVouched {
		if s.sweep(); len(s.vouched) >= maxVouched {
			return Principal{}, &Error{Code: CodeAway, Message: "too many people of the provider are here", Hint: "try again later"}
		}
	}
	if !was || known.Expires.Before(p.Expires) {
		s.vouched[p.Credential] = p
	}
	return p, nil
}
