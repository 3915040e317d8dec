package oidc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/internal/hub/access"
)

const (
	// LoginTime is how long a person has for a login at the provider.
	LoginTime = 10 * time.Minute
	// clocks is how far the provider's clock may be behind.
	clocks = time.Minute
	// mostSaid limits what is repeated of a provider's words, in characters.
	mostSaid = 200
)

// Logins lets people log in at the provider: the authorization code flow of OpenID Connect with PKCE. It is safe for concurrent use. It
// keeps nothing of a login that was begun: the browser does, sealed, until it comes back.
type Logins struct {
	v   *Verifier
	key []byte // seals what browsers keep
}

// attempt is a login that was begun.
type attempt struct {
	State string    `json:"state"` // comes back in the address, and shows that this browser was sent
	Nonce string    `json:"nonce"` // comes back in the token, and shows that it was made for this login
	Proof string    `json:"proof"` // the verifier of PKCE: the code is of use to nobody else
	Begun time.Time `json:"begun"`
}

// Logins returns the logins at the provider; nil if there are none.
func (v *Verifier) Logins() *Logins {
	if v.o.ClientID == "" {
		return nil
	}
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return &Logins{v: v, key: key}
}

// Called is how people know the provider: its host.
func (l *Logins) Called() string {
	u, err := url.Parse(l.v.o.Issuer)
	if err != nil {
		return l.v.o.Issuer
	}
	return u.Host
}

// Begin returns the provider's page on which a person logs in, which leads the browser back to an address of ours, and what the browser
// keeps until then. The provider is asked to have the person log in now, even if it knows their browser. Errors: provider_away.
func (l *Logins) Begin(ctx context.Context, back string) (to, kept string, err error) {
	config, err := l.config(ctx, back)
	if err != nil {
		return "", "", err
	}
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Proof: oauth2.GenerateVerifier(), Begun: l.v.o.Now()}
	raw, err := json.Marshal(a)
	if err != nil {
		return "", "", err //nolint:wrapcheck // it has no reason to
	}
	to = config.AuthCodeURL(a.State, oauth2.S256ChallengeOption(a.Proof), oidc.Nonce(a.Nonce),
		oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	return to, base64.RawURLEncoding.EncodeToString(append(l.seal(raw), raw...)), nil
}

// Finish returns whom the provider vouches for, by what the browser kept and the query with which it came back. A person whom the provider
// has not had log in for this is vouched for as unattended. Errors: unknown, no_role, provider_away.
func (l *Logins) Finish(ctx context.Context, back, kept string, query url.Values) (access.Vouched, error) {
	a, err := l.unseal(kept)
	if err != nil {
		return access.Vouched{}, again("this login was not begun in this browser, or more than 10 minutes ago", err)
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return access.Vouched{}, again("another login was begun in this browser meanwhile", nil)
	}
	if by := query.Get("iss"); by != "" && by != l.v.o.Issuer { // RFC 9207
		return access.Vouched{}, again("the answer is of another provider", nil)
	}
	if code := query.Get("error"); code != "" {
		return access.Vouched{}, again(said(l.Called()+" has refused the login", code, query.Get("error_description")), nil)
	}
	token, err := l.exchange(ctx, back, query.Get("code"), a)
	if err != nil {
		return access.Vouched{}, err
	}
	return l.vouched(token, a)
}

func (l *Logins) config(ctx context.Context, back string) (*oauth2.Config, error) {
	at, err := l.v.keys.endpoint(ctx)
	if l.v.o.ClientSecret == "" {
		at.AuthStyle = oauth2.AuthStyleInParams // there is nothing to show in a header
	}
	return &oauth2.Config{
		ClientID: l.v.o.ClientID, ClientSecret: l.v.o.ClientSecret, Endpoint: at, RedirectURL: back, Scopes: append([]string{oidc.ScopeOpenID}, l.v.o.Scopes...),
	}, err
}

// exchange gives the provider the code that the browser brought, for a token about the person.
func (l *Logins) exchange(ctx context.Context, back, code string, a attempt) (string, error) {
	config, err := l.config(ctx, back)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, l.v.keys.client), requestTime)
	defer cancel()
	answer, err := config.Exchange(ctx, code, oauth2.VerifierOption(a.Proof))
	if refusal, is := errors.AsType[*oauth2.RetrieveError](err); is && refusal.Response.StatusCode < 500 {
		return "", again(said(l.Called()+" does not take the code that the browser brought", refusal.ErrorCode, refusal.ErrorDescription), err)
	} else if err != nil {
		return "", &access.Error{Code: access.CodeAway, Message: "the identity provider " + l.Called() + " cannot be asked who has logged in", Hint: "log in again in a moment", Err: err}
	}
	token, _ := answer.Extra("id_token").(string)
	return token, nil
}

// vouched verifies the token of a login, which has to be made for that login.
func (l *Logins) vouched(token string, a attempt) (access.Vouched, error) {
	verified, err := l.v.signed(token, l.v.o.ClientID)
	if err != nil {
		return access.Vouched{}, err
	}
	claims, err := claimsOf(verified)
	if err != nil || verified.Nonce != a.Nonce {
		return access.Vouched{}, again("the token of the provider is not for this login", err)
	}
	var azp string
	if raw, is := claims["azp"]; (is || len(verified.Audience) > 1) && (json.Unmarshal(raw, &azp) != nil || azp != l.v.o.ClientID) {
		return access.Vouched{}, again("the token of the provider was made for another program (azp)", nil)
	}
	v, err := l.v.vouch(verified)
	if err != nil || l.v.o.Accept {
		return v, err
	}
	if v.Unattended = "the identity provider does not say that it has had the person log in just now"; claims.since(a.Begun.Add(-clocks)) {
		v.Unattended = ""
	}
	return v, nil
}

// since reports whether the person has logged in at the provider since then.
func (c claims) since(then time.Time) bool {
	var seconds float64
	return json.Unmarshal(c["auth_time"], &seconds) == nil && seconds >= float64(then.Unix())
}

func (l *Logins) seal(raw []byte) []byte {
	sum := hmac.New(sha256.New, l.key)
	_, _ = sum.Write(raw)
	return sum.Sum(nil)
}

var errSeal = errors.New("it was not made here, or it is too old")

func (l *Logins) unseal(kept string) (attempt, error) {
	raw, err := base64.RawURLEncoding.DecodeString(kept)
	if err != nil || len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], l.seal(raw[sha256.Size:])) {
		return attempt{}, errSeal
	}
	var a attempt
	if err := json.Unmarshal(raw[sha256.Size:], &a); err != nil {
		return a, err //nolint:wrapcheck // it was made here
	}
	if age := l.v.o.Now().Sub(a.Begun); age < 0 || age >= LoginTime {
		return a, errSeal
	}
	return a, nil
}

// said repeats what a provider says of an error.
func said(what string, parts ...string) string {
	all := []string{what}
	for _, part := range parts {
		if part = legible.Text(strings.ToValidUTF8(part, "?")); part != "" {
			head, _ := legible.Cut(part, mostSaid)
			all = append(all, head)
		}
	}
	return strings.Join(all, ": ")
}

func again(message string, err error) error {
	return &access.Error{Code: access.CodeUnknown, Message: message, Hint: "log in again", Err: err}
}
