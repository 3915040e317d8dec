// Package oidctest runs a real OpenID provider, that of github.com/zitadel/oidc, for tests: its documents, its keys and its tokens, over
// HTTP on the loopback.
package oidctest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
	"golang.org/x/oauth2/clientcredentials"
)

// Audience is what tokens are for, unless they say otherwise. Claim is what they have their groups in.
const (
	Audience = "earshot"
	Claim    = "groups"
)

// Grant is what a token says.
type Grant struct {
	Subject  string
	Audience string // default [Audience]
	Groups   []string
	Life     time.Duration // default an hour
}

// Provider is a running provider. Each program that asks it for a token is somebody: its id is the subject.
type Provider struct {
	URL string
	// Away makes it answer nothing but 503.
	Away atomic.Bool
	// Fetched counts how often its keys were fetched.
	Fetched atomic.Int64

	people People

	t      testing.TB
	mu     sync.Mutex
	keys   []key // the last one signs
	grants map[string]Grant
}

// New runs a provider until the test ends.
func New(t testing.TB) *Provider {
	t.Helper()
	p := &Provider{t: t, grants: map[string]Grant{}, people: People{at: time.Now, requests: map[string]*request{}, codes: map[string]string{}}}
	p.Rotate()
	var served atomic.Pointer[op.Provider]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.Away.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == op.DefaultEndpoints.JwksURI.Relative() {
			p.Fetched.Add(1)
		}
		if r.URL.Path == signInPath {
			p.people.signIn(w, r)
			return
		}
		served.Load().ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.URL = server.URL
	provider, err := op.NewProvider(&op.Config{CryptoKey: [32]byte{1}, CryptoKeyId: "1"}, &storage{p: p}, op.StaticIssuer(p.URL),
		op.WithAllowInsecure(), op.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	served.Store(provider)
	return p
}

// Rotate makes another key, which signs from now on. The former ones stay until [Provider.Withdraw].
func (p *Provider) Rotate() {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, key{id: "key-" + strconv.Itoa(len(p.keys)+1), private: private})
}

// Withdraw withdraws all keys but the one that signs.
func (p *Provider) Withdraw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = p.keys[len(p.keys)-1:]
}

// Token asks the provider for an access token, as a program does.
func (p *Provider) Token(g Grant) string {
	p.t.Helper()
	p.mu.Lock()
	p.grants[g.Subject] = g
	p.mu.Unlock()
	asks := clientcredentials.Config{ClientID: g.Subject, ClientSecret: "secret", TokenURL: p.URL + "/oauth/token"}
	token, err := asks.Token(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return token.AccessToken
}

// Key is the private key that signs now, and its id: for tokens that the provider would not make.
func (p *Provider) Key() (id string, private *rsa.PrivateKey) {
	k := p.key()
	return k.id, k.private
}

func (p *Provider) key() key {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[len(p.keys)-1]
}

func (p *Provider) granted(subject string) (Grant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, found := p.grants[subject]
	if !found {
		return g, errors.New("nobody of that name")
	}
	if g.Audience == "" {
		g.Audience = Audience
	}
	if g.Life == 0 {
		g.Life = time.Hour
	}
	return g, nil
}

// key is a signing key and, with its private part left out, a published one.
type key struct {
	id      string
	private *rsa.PrivateKey
}

func (k key) ID() string                                  { return k.id }
func (k key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k key) Key() any                                    { return k.private }

type published struct{ key }

func (k published) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k published) Use() string                        { return "sig" }
func (k published) Key() any                           { return &k.private.PublicKey }

// storage is what the library asks for. What neither the grant of client credentials nor a login needs is missing.
type storage struct {
	op.Storage

	p *Provider
}

func (s *storage) Health(context.Context) error { return nil }

func (s *storage) SigningKey(context.Context) (op.SigningKey, error) { return s.p.key(), nil }

func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}

func (s *storage) KeySet(context.Context) ([]op.Key, error) {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	all := make([]op.Key, 0, len(s.p.keys))
	for _, k := range s.p.keys {
		all = append(all, published{k})
	}
	return all, nil
}

func (s *storage) ClientCredentials(_ context.Context, id, _ string) (op.Client, error) {
	_, err := s.p.granted(id)
	return client{id: id}, err
}

func (s *storage) ClientCredentialsTokenRequest(_ context.Context, id string, scopes []string) (op.TokenRequest, error) {
	g, err := s.p.granted(id)
	return &oidc.JWTTokenRequest{Subject: id, Audience: []string{g.Audience}, Scopes: scopes}, err
}

func (s *storage) CreateAccessToken(_ context.Context, q op.TokenRequest) (string, time.Time, error) {
	if _, is := q.(*request); is {
		return rand.Text(), time.Now().Add(time.Hour), nil
	}
	g, err := s.p.granted(q.GetSubject())
	return rand.Text(), time.Now().Add(g.Life), err
}

func (s *storage) GetPrivateClaimsFromScopes(_ context.Context, user, _ string, _ []string) (map[string]any, error) {
	g, err := s.p.granted(user)
	return map[string]any{Claim: g.Groups}, err
}

// client is a program that asks for tokens, or at which people log in.
type client struct {
	id, back string
}

func (c client) GetID() string { return c.id }
func (c client) GrantTypes() []oidc.GrantType {
	return []oidc.GrantType{oidc.GrantTypeClientCredentials, oidc.GrantTypeCode}
}

func (c client) AccessTokenType() op.AccessTokenType {
	if c.back != "" { // people log in there
		return op.AccessTokenTypeBearer
	}
	return op.AccessTokenTypeJWT
}
func (c client) ClockSkew() time.Duration { return 0 }
func (c client) RestrictAdditionalAccessTokenScopes() func([]string) []string {
	return func(scopes []string) []string { return scopes }
}
