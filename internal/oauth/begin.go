package oauth

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/settings"
)

// Request is what the operator says of a login.
type Request struct {
	Name     string // of the server
	Redirect string // the address that the browser is sent back to
	// ClientID and Secret are a client that was registered by hand; an empty one is registered now.
	ClientID string
	Secret   settings.Secret
}

// Attempt is a login that was begun. It is stored where the person answers in another process.
type Attempt struct {
	Name        string    `json:"name"`
	Address     string    `json:"address"` // what the person opens
	State       string    `json:"state"`
	Verifier    string    `json:"verifier"`
	Redirect    string    `json:"redirect"`
	NeedsIssuer bool      `json:"needs_issuer,omitzero"` // the answer has to name its issuer (RFC 9207)
	AuthURL     string    `json:"auth_url"`
	Begun       time.Time `json:"begun"`
	Login       Login     `json:"login"` // without its tokens
}

// attemptTime is how long an attempt that was stored can be answered.
const attemptTime = time.Hour

// Begin registers this program at the authorization server if necessary, and makes the address to open.
func (s *Store) Begin(ctx context.Context, p Provider, r Request) (*Attempt, error) {
	client, err := clientOf(p.Server, p.Networks)
	if err != nil {
		return nil, err
	}
	a := &Attempt{
		Name: r.Name, State: newID(), Verifier: oauth2.GenerateVerifier(), Redirect: r.Redirect, AuthURL: p.meta.AuthorizationEndpoint, Begun: s.Now(),
		NeedsIssuer: p.meta.AuthorizationResponseIssParameterSupported,
		Login: Login{
			Server: p.Server, Issuer: p.Issuer, Resource: p.Resource, Scopes: p.Scopes, Networks: p.Networks,
			TokenURL: p.meta.TokenEndpoint, RevocationURL: p.meta.RevocationEndpoint,
		},
	}
	if a.Login.Client, err = clientFor(ctx, client, p, r); err != nil {
		return nil, err
	}
	a.Address = a.config("").AuthCodeURL(a.State, oauth2.S256ChallengeOption(a.Verifier), oauth2.SetAuthURLParam("resource", p.Resource))
	return a, nil
}

func (a *Attempt) config(secret string) *oauth2.Config {
	l := a.Login
	return &oauth2.Config{
		ClientID: l.Client.ID, ClientSecret: secret, RedirectURL: a.Redirect, Scopes: l.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.AuthURL, TokenURL: l.TokenURL, AuthStyle: l.Client.Style},
	}
}

// The ways of a client to say who it is (RFC 7591).
const (
	byNothing = "none"
	byBody    = "client_secret_post"
	byHeader  = "client_secret_basic"
)

// clientFor returns the operator's own client, or a new one.
func clientFor(ctx context.Context, client *http.Client, p Provider, r Request) (Client, error) {
	methods := p.meta.TokenEndpointAuthMethodsSupported
	secretMethod := byHeader // what counts where nothing is said
	if slices.Contains(methods, byBody) {
		secretMethod = byBody
	}
	if r.ClientID != "" {
		method := byNothing
		if r.Secret != (settings.Secret{}) {
			method = secretMethod
		}
		return Client{ID: r.ClientID, SecretRef: r.Secret, Style: styleOf(method)}, nil
	}
	if p.meta.RegistrationEndpoint == "" {
		return Client{}, cause.Fail(nil, cause.OneLine(p.Issuer)+" lets no program register itself",
			"register Earshot there by hand, with the address http://127.0.0.1:7412/callback, and run it again with --client-id ID --port 7412, "+
				"and with --secret env:VARIABLE if you were given a secret")
	}
	method := byNothing
	if len(methods) > 0 && !slices.Contains(methods, byNothing) {
		method = secretMethod
	}
	registered, err := oauthex.RegisterClient(ctx, p.meta.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		ClientName: "Earshot", RedirectURIs: []string{r.Redirect}, ApplicationType: "native", TokenEndpointAuthMethod: method,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}, Scope: strings.Join(p.Scopes, " "),
	}, client)
	if err != nil {
		why := reason(err)
		if refused, is := errors.AsType[*oauthex.ClientRegistrationError](err); is {
			why = described(refused.ErrorCode, refused.ErrorDescription)
		}
		return Client{}, cause.Fail(errors.New(why), cause.OneLine(p.Issuer)+" does not register Earshot", "register it there by hand, and name it with --client-id")
	}
	if registered.TokenEndpointAuthMethod != "" {
		method = registered.TokenEndpointAuthMethod
	} else if registered.ClientSecret != "" {
		method = secretMethod
	}
	return Client{ID: registered.ClientID, Secret: registered.ClientSecret, Style: styleOf(method)}, nil
}

func styleOf(method string) oauth2.AuthStyle {
	if method == byHeader {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

// secretOf opens the secret of a client; "" if it has none.
func (s *Store) secretOf(c Client) (string, error) {
	if c.SecretRef == (settings.Secret{}) {
		return c.Secret, nil
	}
	const name = "client"
	values, err := settings.Secrets{name: c.SecretRef}.Open(s.LookupEnv, []string{name})
	if err != nil {
		return "", cause.Fail(err, "the secret of the client cannot be read", "put it where --secret said")
	}
	return values[name], nil
}

// SaveAttempt stores an attempt that another process answers.
func (s *Store) SaveAttempt(ctx context.Context, a *Attempt) error {
	return s.locked(ctx, a.Name, func() error { return s.write(a.Name, attemptFile, a) })
}

// Attempt returns the attempt that was stored; [ErrNone] if there is none that can still be answered.
func (s *Store) Attempt(name, server string) (*Attempt, error) {
	var a Attempt
	if err := s.read(name, attemptFile, &a); err != nil {
		return nil, err
	}
	if a.Login.Server != server || s.Now().Sub(a.Begun) > attemptTime {
		return nil, ErrNone
	}
	return &a, nil
}

// Finish makes a login of the answer that the browser was sent back with. Its errors are [*cause.Error]; nothing is stored
// with one.
func (s *Store) Finish(ctx context.Context, a *Attempt, answer url.Values) (Login, error) {
	code, err := a.code(answer)
	if err != nil {
		return Login{}, err
	}
	l := a.Login
	client, err := clientOf(l.Server, l.Networks)
	if err != nil {
		return l, err
	}
	secret, err := s.secretOf(l.Client)
	if err != nil {
		return l, err
	}
	token, err := a.config(secret).Exchange(context.WithValue(ctx, oauth2.HTTPClient, client), code,
		oauth2.VerifierOption(a.Verifier), oauth2.SetAuthURLParam("resource", l.Resource))
	if err == nil {
		err = usable(token)
	}
	if err != nil {
		return l, cause.Fail(errors.New(reason(err)), cause.OneLine(l.Issuer)+" gave no token", again(a.Name))
	}
	l.ID, l.Since = newID(), s.Now().Round(time.Second)
	l.take(token, s.Now())
	if granted, is := token.Extra("scope").(string); is && granted != "" {
		l.Scopes = strings.Fields(granted)
	}
	return l, s.locked(ctx, a.Name, func() error { return s.write(a.Name, loginFile, l) })
}

// unusable says why a token cannot be used.
type unusable string

// Error implements error.
func (e unusable) Error() string { return string(e) }

// usable refuses a token that could not be sent as one.
func usable(t *oauth2.Token) error {
	if !strings.EqualFold(t.Type(), "Bearer") {
		return unusable("its token is of the type " + cause.OneLine(settings.Clip(t.Type(), 40)) + "; expected Bearer")
	}
	if strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return unusable("its token has characters that no header may have")
	}
	return nil
}

func again(name string) string { return "begin again: `earshot mcp login " + name + "`" }

// code checks an answer, and returns its code.
func (a *Attempt) code(answer url.Values) (string, error) {
	for _, name := range []string{"state", "code", "error", "iss"} {
		if len(answer[name]) > 1 {
			return "", cause.Fail(nil, fmt.Sprintf("the answer has %s twice; nothing was stored", name), again(a.Name))
		}
	}
	if subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(a.State)) != 1 {
		return "", cause.Fail(nil, "the answer does not belong to this login (its state is another one); nothing was stored",
			"close other pages of this login, and "+again(a.Name))
	}
	if issuer := answer.Get("iss"); issuer != a.Login.Issuer && (issuer != "" || a.NeedsIssuer) {
		return "", cause.Fail(nil, "the answer came from "+cause.Quoted(settings.Clip(issuer, 200))+", expected "+cause.Quoted(a.Login.Issuer)+"; nothing was stored",
			"somebody may have led the browser elsewhere; "+again(a.Name))
	}
	switch refused := answer.Get("error"); {
	case refused == "access_denied":
		return "", &cause.Error{Kind: cause.Declined, Message: "the login was declined in the browser; nothing was stored", Hint: again(a.Name)}
	case refused != "":
		return "", cause.Fail(errors.New(described(refused, answer.Get("error_description"))), cause.OneLine(a.Login.Issuer)+" did not log you in", again(a.Name))
	case answer.Get("code") == "":
		return "", cause.Fail(nil, "the answer has no code; nothing was stored", again(a.Name))
	}
	return answer.Get("code"), nil
}

// Answer reads the address that a browser was sent back to, as a person pastes it.
func Answer(pasted string) (url.Values, error) {
	u, err := url.Parse(strings.TrimSpace(pasted))
	if err == nil && u.Query().Has("state") {
		return u.Query(), nil
	}
	return nil, cause.Misuse("that is not the address that the browser was sent back to",
		"copy all of it, from http://127.0.0.1 to its end; that the browser cannot show the page is as it should be")
}
