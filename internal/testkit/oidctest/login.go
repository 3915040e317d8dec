package oidctest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// ClientID and ClientSecret are those of the program at which people log in.
const (
	ClientID     = "earshot-page"
	ClientSecret = "a secret of the page"
)

const signInPath = "/sign-in"

// People is who logs in at a provider, and how.
type People struct {
	mu       sync.Mutex
	who      Grant
	at       func() time.Time
	refuses  bool
	audience []string
	party    string // for whom ID tokens are made; "" is the program that asks
	back     string
	requests map[string]*request // by id
	codes    map[string]string   // the ids, by code
}

// SignIn makes somebody the one who logs in from now on: with a groups claim in the ID token, having shown themselves at a time (default:
// then). They come back to an address.
func (p *Provider) SignIn(g Grant, at func() time.Time, back string) {
	p.people.mu.Lock()
	defer p.people.mu.Unlock()
	p.people.who, p.people.at, p.people.back, p.people.refuses, p.people.audience, p.people.party = g, at, back, false, nil, ""
	if at == nil {
		p.people.at = time.Now
	}
}

// Refuse makes the person refuse from now on.
func (p *Provider) Refuse() {
	p.people.mu.Lock()
	defer p.people.mu.Unlock()
	p.people.refuses = true
}

// ForOthers has ID tokens name other programs, too.
func (p *Provider) ForOthers(names ...string) {
	p.people.mu.Lock()
	defer p.people.mu.Unlock()
	p.people.audience = names
}

// ForParty has ID tokens say, of logins that are exchanged from now on, that they were made for another program (azp); "" is the one that asks.
func (p *Provider) ForParty(name string) {
	p.people.mu.Lock()
	defer p.people.mu.Unlock()
	p.people.party = name
}

// request is a login that was begun.
type request struct {
	*oidc.AuthRequest

	people   *People
	id       string
	who      Grant
	at       time.Time
	audience []string
	done     bool
}

func (r *request) GetID() string                      { return r.id }
func (r *request) GetACR() string                     { return "" }
func (r *request) GetAMR() []string                   { return []string{"pwd"} }
func (r *request) GetAudience() []string              { return append([]string{r.ClientID}, r.audience...) }
func (r *request) GetAuthTime() time.Time             { return r.at }
func (r *request) GetClientID() string                { return cmp.Or(r.people.madeFor(), r.ClientID) }
func (r *request) GetNonce() string                   { return r.Nonce }
func (r *request) GetRedirectURI() string             { return r.RedirectURI }
func (r *request) GetScopes() []string                { return r.Scopes }
func (r *request) GetState() string                   { return r.State }
func (r *request) GetSubject() string                 { return r.who.Subject }
func (r *request) Done() bool                         { return r.done }
func (r *request) GetResponseType() oidc.ResponseType { return r.ResponseType }
func (r *request) GetResponseMode() oidc.ResponseMode { return r.ResponseMode }
func (r *request) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: r.CodeChallenge, Method: r.CodeChallengeMethod}
}

func (p *People) madeFor() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.party
}

// signIn is the page on which a person logs in, by its one button.
func (p *People) signIn(w http.ResponseWriter, r *http.Request) {
	id := r.FormValue("id")
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.requests[id]
	switch {
	case one == nil:
		http.Error(w, "this login was not begun", http.StatusBadRequest)
	case r.Method != http.MethodPost:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!DOCTYPE html><html lang="en"><title>Sign in</title><form method="post"><button>Sign in</button></form></html>`) // to where it is
	case p.refuses:
		http.Redirect(w, r, one.RedirectURI+"?error=access_denied&error_description=they+said+no&state="+one.State, http.StatusSeeOther)
	default:
		one.done, one.who, one.at, one.audience = true, p.who, p.at(), p.audience
		http.Redirect(w, r, "/authorize/callback?id="+one.id, http.StatusSeeOther)
	}
}

var errUnknown = errors.New("nobody of that name")

func (s *storage) CreateAuthRequest(_ context.Context, q *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	one := &request{AuthRequest: q, people: &s.p.people, id: rand.Text()}
	s.p.people.mu.Lock()
	defer s.p.people.mu.Unlock()
	s.p.people.requests[one.id] = one
	return one, nil
}

func (s *storage) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	s.p.people.mu.Lock()
	defer s.p.people.mu.Unlock()
	if one := s.p.people.requests[id]; one != nil {
		return one, nil
	}
	return nil, errUnknown
}

func (s *storage) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	s.p.people.mu.Lock()
	id := s.p.people.codes[code]
	s.p.people.mu.Unlock()
	return s.AuthRequestByID(ctx, id)
}

func (s *storage) SaveAuthCode(_ context.Context, id, code string) error {
	s.p.people.mu.Lock()
	defer s.p.people.mu.Unlock()
	s.p.people.codes[code] = id
	return nil
}

func (s *storage) DeleteAuthRequest(_ context.Context, id string) error {
	s.p.people.mu.Lock()
	defer s.p.people.mu.Unlock()
	delete(s.p.people.requests, id)
	return nil
}

func (s *storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	s.p.people.mu.Lock()
	defer s.p.people.mu.Unlock()
	if id != ClientID && id != cmp.Or(s.p.people.party, ClientID) {
		return nil, errUnknown
	}
	return client{id: cmp.Or(s.p.people.party, id), back: s.p.people.back}, nil
}

func (s *storage) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != ClientID || secret != ClientSecret {
		return errUnknown
	}
	return nil
}

func (s *storage) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil
}

// SetUserinfoFromRequest puts the claims of the person into the ID token.
func (s *storage) SetUserinfoFromRequest(_ context.Context, user *oidc.UserInfo, q op.IDTokenRequest, _ []string) error {
	if one, is := q.(*request); is {
		user.Subject = one.who.Subject
		user.AppendClaims(Claim, one.who.Groups)
	}
	return nil
}

func (c client) RedirectURIs() []string              { return []string{c.back} }
func (c client) PostLogoutRedirectURIs() []string    { return nil }
func (c client) ApplicationType() op.ApplicationType { return op.ApplicationTypeWeb }
func (c client) AuthMethod() oidc.AuthMethod         { return oidc.AuthMethodBasic }
func (c client) ResponseTypes() []oidc.ResponseType {
	return []oidc.ResponseType{oidc.ResponseTypeCode}
}
func (c client) LoginURL(id string) string      { return signInPath + "?id=" + id }
func (c client) IDTokenLifetime() time.Duration { return time.Hour }
func (c client) DevMode() bool                  { return true }
func (c client) RestrictAdditionalIdTokenScopes() func([]string) []string { //nolint:revive // the library's name
	return func(scopes []string) []string { return scopes }
}
func (c client) IsScopeAllowed(string) bool           { return true }
func (c client) IDTokenUserinfoClaimsAssertion() bool { return true }
