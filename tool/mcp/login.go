package mcp

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// Login provides the access tokens of a server at an address that asks for a login. It is safe for concurrent use. Its
// errors are a [*LoginError] where only a person can help, by logging in; any other may pass.
type Login interface {
	// Token returns an access token that has not expired, which may take a request to where the login was; "" if there is
	// no login, and requests go without.
	Token(ctx context.Context) (string, error)
	// Refused says that the server has refused a request with this token ("": without one). It returns another token to
	// try once.
	Refused(ctx context.Context, token string) (string, error)
	// Watch calls changed whenever the login has become another one, or was ended, until ctx ends. It returns early if
	// that cannot be noticed.
	Watch(ctx context.Context, changed func())
}

// LoginError says that a server asks for a login, or for another one. Nothing was done by the request that it refused.
type LoginError struct {
	Server string // its name
	Why    string // as part of a sentence
	// Scopes are what the server says that the login has to allow beside, if it does.
	Scopes []string
}

// Error implements error.
func (e *LoginError) Error() string { return "the MCP server " + e.Server + " " + e.Plain() }

// Plain says what was found and what to do, behind the server's name.
func (e *LoginError) Plain() string {
	var command strings.Builder
	command.WriteString("earshot mcp login " + e.Server)
	for _, scope := range e.Scopes {
		command.WriteString(" --scope '" + scope + "'")
	}
	return e.Why + ". Log in: `" + command.String() + "`"
}

// Why a login is needed.
const (
	WhyNoLogin = "asks for a login"
	whyRefused = "does not take the login any more"
	whyScopes  = "says that the login does not allow this"
)

// takesLogin reports whether requests to the server may carry the token of a login: not if the operator has said what
// they carry.
func (c config) takesLogin() bool {
	return c.URL != "" && !slices.ContainsFunc(slices.Collect(maps.Keys(c.Headers)), func(name string) bool { return strings.EqualFold(name, "authorization") })
}

// challenge is what a server says of the login that it asks for; ok is false if it does not ask for one.
func challenge(answer *http.Response) (scopes []string, insufficient, ok bool) {
	all, err := oauthex.ParseWWWAuthenticate(answer.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, false, false
	}
	for _, c := range all {
		if c.Scheme != "bearer" {
			continue
		}
		for scope := range strings.FieldsSeq(c.Params["scope"]) {
			if IsScope(scope) {
				scopes = append(scopes, scope)
			}
		}
		return scopes, c.Params["error"] == "insufficient_scope", true
	}
	return nil, false, false
}

// IsScope reports whether a text is the name of a scope (RFC 6749, section 3.3) that can stand in a command as it is.
func IsScope(text string) bool {
	return text != "" && len(text) <= 256 && !strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' || strings.ContainsRune("\"\\'`$", r) })
}

// errRelogin ends a session when there is another login: it belonged to the one before.
var errRelogin = errors.New("there is another login")

// watchLogin follows the login until ctx ends. The caller waits for the returned function.
func (s *Server) watchLogin(ctx context.Context) (wait func()) {
	var owned sync.WaitGroup
	if s.login != nil {
		owned.Go(func() {
			s.login.Watch(ctx, func() {
				select {
				case s.relogin <- struct{}{}:
				default: // it is known already
				}
			})
		})
	}
	return owned.Wait
}

// noteLogin tells the operator once that a login is needed.
func (s *Server) noteLogin(need *LoginError) {
	s.mu.Lock()
	text := need.Plain()
	known := s.needed == text
	s.needed = text
	s.mu.Unlock()
	if !known {
		s.noticef("it %s", text)
	}
}

func (s *Server) loggedIn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.needed = ""
}

// authorized sends a request with the token of the login. A request that was refused as unauthorized was not done; it is
// sent once more where there is another token.
func (r *remote) authorized(q *http.Request, a *attempt) (*http.Response, error) {
	token := ""
	if r.s.login != nil {
		var err error
		if token, err = r.s.login.Token(q.Context()); err != nil {
			return nil, r.noLogin(err)
		}
	}
	answer, err := r.send(q, token, a)
	if err != nil || !r.s.c.takesLogin() {
		return answer, err
	}
	scopes, insufficient, asks := challenge(answer)
	switch {
	case answer.StatusCode == http.StatusForbidden && insufficient && token != "":
		return nil, r.refused(answer, a, &LoginError{Server: r.s.name, Why: whyScopes, Scopes: scopes})
	case answer.StatusCode != http.StatusUnauthorized || token == "" && !asks:
		return answer, nil
	case r.s.login == nil:
		return nil, r.refused(answer, a, &LoginError{Server: r.s.name, Why: WhyNoLogin})
	}
	other, err := r.s.login.Refused(q.Context(), token)
	if err != nil {
		return nil, r.refused(answer, a, err)
	}
	again, err := repeated(q)
	if err != nil {
		return nil, r.refused(answer, a, err)
	}
	_ = r.refused(answer, a, nil)
	answer, err = r.send(again, other, a)
	if err == nil && answer.StatusCode == http.StatusUnauthorized {
		return nil, r.refused(answer, a, &LoginError{Server: r.s.name, Why: whyRefused})
	}
	return answer, err
}

// repeated returns a request with its body from the beginning.
func repeated(q *http.Request) (*http.Request, error) {
	again := q.Clone(q.Context())
	if q.GetBody == nil {
		return again, nil
	}
	body, err := q.GetBody()
	again.Body = body
	return again, err //nolint:wrapcheck // a RoundTripper's error is its own
}

// refused drops an answer that refuses a request. Nothing of that request was done.
func (r *remote) refused(answer *http.Response, a *attempt, err error) error {
	_ = answer.Body.Close()
	if a != nil {
		a.sent.Add(-1)
	}
	if err != nil {
		return r.noLogin(err)
	}
	return nil
}

func (r *remote) noLogin(err error) error {
	if need, is := errors.AsType[*LoginError](err); is {
		r.s.noteLogin(need)
	}
	return err
}
