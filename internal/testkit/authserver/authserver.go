// Package authserver is an authorization server with an MCP server that asks for its tokens, on this machine: the other
// side of a login, for tests. It is strict about what a client has to send.
package authserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Behavior is what a test changes of a server. The zero value is the usual one: tokens last an hour, refresh tokens are used
// once.
type Behavior struct {
	Lifetime time.Duration // of access tokens
	// NoRefresh gives no refresh tokens.
	NoRefresh bool
	// Deny has the person decline.
	Deny bool
	// Issuer and State are put into the answer to the browser instead of the right ones.
	Issuer, State string
	// Resource and Provider stand in the metadata of the resource instead of the right ones; TokenURL in that of the
	// authorization server.
	Resource, Provider, TokenURL string
	// Hand refuses that a client registers itself. The client "by-hand" has the secret "secret-of-a-client".
	Hand bool
	// Break breaks the connection of a refresh after the tokens were exchanged.
	Break bool
	// Insufficient says that a token does not allow a call.
	Insufficient bool
}

// Server is a server at work.
type Server struct {
	*httptest.Server

	mu        sync.Mutex
	b         Behavior
	clients   map[string]string // redirect addresses by client
	codes     map[string]grant
	access    map[string]bool
	refresh   map[string]bool
	issued    []string
	refreshes int
	calls     int
	revoked   int
}

// grant is what a code was given for.
type grant struct{ client, redirect, challenge, resource string }

// The client that was registered by hand.
const (
	HandID     = "by-hand"
	HandSecret = "secret-of-a-client"
)

// Start starts a server. Its MCP server is at [Server.Resource] and has the tool look, which says which token it was sent.
func Start() *Server {
	s := &Server{clients: map[string]string{}, codes: map[string]grant{}, access: map[string]bool{}, refresh: map[string]bool{}}
	mux := http.NewServeMux()
	s.Server = httptest.NewServer(mux)
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", s.describeResource)
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", s.describe)
	mux.HandleFunc("POST /register", s.register)
	mux.HandleFunc("GET /authorize", s.authorize)
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("POST /revoke", s.revoke)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.tools() }, &mcp.StreamableHTTPOptions{Stateless: true})
	guard := auth.RequireBearerToken(s.verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: s.URL + "/.well-known/oauth-protected-resource/mcp", Scopes: []string{"read", "write"}})
	mux.Handle("/mcp", s.count(guard(handler)))
	return s
}

// Resource is the address of the MCP server.
func (s *Server) Resource() string { return s.URL + "/mcp" }

// Behave changes what the server does.
func (s *Server) Behave(change func(*Behavior)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.b)
}

func (s *Server) behavior() Behavior {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b
}

// Counts are how often something was asked for.
type Counts struct{ Refreshes, Calls, Revoked, Clients int }

// Counts returns what was asked for so far. Calls are requests to call a tool, refused ones too.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Counts{s.refreshes, s.calls, s.revoked, len(s.clients)}
}

// Issued are all the tokens and codes that were given.
func (s *Server) Issued() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.issued...)
}

// EndAccess makes all access tokens void.
func (s *Server) EndAccess() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// EndAll makes all tokens void.
func (s *Server) EndAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
	clear(s.refresh)
}

func (s *Server) tools() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "hub", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name: "look", Description: "Look at it.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}, InputSchema: map[string]any{"type": "object"},
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "seen with " + r.Extra.Header.Get("Authorization")}}}, nil
	})
	return server
}

// count counts the calls of tools.
func (s *Server) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Method") == "tools/call" {
			s.mu.Lock()
			s.calls++
			insufficient := s.b.Insufficient
			s.mu.Unlock()
			if insufficient {
				w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="read admin"`)
				w.WriteHeader(http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.access[token] {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{Scopes: []string{"read", "write"}, Expiration: time.Now().Add(time.Hour)}, nil
}

func or(text, usual string) string {
	if text != "" {
		return text
	}
	return usual
}

func (s *Server) describeResource(w http.ResponseWriter, _ *http.Request) {
	b := s.behavior()
	answer(w, http.StatusOK, map[string]any{
		"resource": or(b.Resource, s.Resource()), "authorization_servers": []string{or(b.Provider, s.URL)}, "scopes_supported": []string{"read", "write"},
	})
}

func (s *Server) describe(w http.ResponseWriter, _ *http.Request) {
	b := s.behavior()
	meta := map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": or(b.TokenURL, s.URL+"/token"),
		"revocation_endpoint": s.URL + "/revoke", "response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"}, "authorization_response_iss_parameter_supported": true,
	}
	if !b.Hand {
		meta["registration_endpoint"] = s.URL + "/register"
	}
	answer(w, http.StatusOK, meta)
}

func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	var q struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if json.UnmarshalRead(r.Body, &q) != nil || len(q.RedirectURIs) != 1 {
		refuse(w, "invalid_redirect_uri")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := fmt.Sprintf("client-%d", len(s.clients)+1)
	s.clients[id] = q.RedirectURIs[0]
	answer(w, http.StatusCreated, map[string]any{"client_id": id, "token_endpoint_auth_method": "none", "redirect_uris": q.RedirectURIs})
}

// authorize is the page of the login: the person agrees at once, or declines.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	client, redirect := q.Get("client_id"), q.Get("redirect_uri")
	known := s.clients[client] == redirect && redirect != "" || client == HandID
	if !known || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("code_challenge") == "" || q.Get("resource") != s.Resource() || q.Get("state") == "" {
		refuse(w, "invalid_request")
		return
	}
	back := url.Values{"state": {or(s.b.State, q.Get("state"))}, "iss": {or(s.b.Issuer, s.URL)}}
	if s.b.Deny {
		back.Set("error", "access_denied")
	} else {
		code := s.secret()
		s.codes[code] = grant{client, redirect, q.Get("code_challenge"), q.Get("resource")}
		back.Set("code", code)
	}
	http.Redirect(w, r, redirect+"?"+back.Encode(), http.StatusFound) //nolint:gosec // to where the client said, as its registration allows
}

// secret makes a token. The caller has the lock.
func (s *Server) secret() string {
	text := rand.Text()
	s.issued = append(s.issued, text)
	return text
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.FormValue("resource") != s.Resource() {
		refuse(w, "invalid_target")
		return
	}
	client := r.FormValue("client_id")
	if id, secret, basic := r.BasicAuth(); basic {
		if client = id; secret != HandSecret {
			refuse(w, "invalid_client")
			return
		}
	}
	switch r.FormValue("grant_type") {
	case "authorization_code":
		g, known := s.codes[r.FormValue("code")]
		delete(s.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if !known || g.client != client || g.redirect != r.FormValue("redirect_uri") || g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse(w, "invalid_grant")
			return
		}
	case "refresh_token":
		s.refreshes++
		old := r.FormValue("refresh_token")
		if !s.refresh[old] {
			refuse(w, "invalid_grant")
			return
		}
		delete(s.refresh, old)
	default:
		refuse(w, "unsupported_grant_type")
		return
	}
	s.give(w, r.FormValue("grant_type") == "refresh_token")
}

// give answers with new tokens. The caller has the lock.
func (s *Server) give(w http.ResponseWriter, refreshed bool) {
	lifetime := s.b.Lifetime
	if lifetime == 0 {
		lifetime = time.Hour
	}
	access := s.secret()
	s.access[access] = true
	given := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": int(lifetime.Seconds())}
	if !s.b.NoRefresh {
		refresh := s.secret()
		s.refresh[refresh] = true
		given["refresh_token"] = refresh
	}
	if refreshed && s.b.Break {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return
	}
	answer(w, http.StatusOK, given)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked++
	delete(s.refresh, r.FormValue("token"))
	clear(s.access)
	w.WriteHeader(http.StatusOK)
}

func refuse(w http.ResponseWriter, code string) {
	answer(w, http.StatusBadRequest, map[string]any{"error": code, "error_description": "said " + strings.ReplaceAll(code, "_", " ")})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, value)
}
