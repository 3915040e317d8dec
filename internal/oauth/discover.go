package oauth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
)

// Provider is where the login of a server is, by the server's own metadata.
type Provider struct {
	Server   string
	Resource string   // what tokens are asked for (RFC 8707)
	Issuer   string   // the authorization server
	Scopes   []string // what the server wants the login to allow; none if it does not say
	Networks []string

	meta *oauthex.AuthServerMeta
}

const (
	maxDocument = 1 << 20
	// offlineAccess is the scope that some authorization servers want for a refresh token.
	offlineAccess = "offline_access"
)

// Discover finds where the login of the server at an address is. Networks are allowed beside the public ones. Its errors
// are [*cause.Error].
func Discover(ctx context.Context, server string, networks []string) (Provider, error) {
	client, err := clientOf(server, networks)
	if err != nil {
		return Provider{}, err
	}
	p := Provider{Server: server, Networks: networks}
	named, scopes, err := ask(ctx, client, server)
	if err != nil {
		return p, err
	}
	resource, err := resourceOf(ctx, client, server, named)
	if err != nil {
		return p, err
	}
	p.Resource, p.Issuer, p.Scopes = resource.Resource, resource.AuthorizationServers[0], scopes
	if len(p.Scopes) == 0 {
		p.Scopes = slices.DeleteFunc(resource.ScopesSupported, func(scope string) bool { return !mcp.IsScope(scope) })
	}
	if err := secure("the place of the login", p.Issuer, server); err != nil {
		return p, err
	}
	p.meta, err = auth.GetAuthServerMetadata(ctx, p.Issuer, client)
	if err != nil {
		return p, cause.Fail(errors.New(settings.Clip(cause.Of(err), 300)), "what "+cause.OneLine(p.Issuer)+" says of its login cannot be used", broken)
	}
	if p.meta == nil {
		return p, cause.Fail(nil, cause.OneLine(p.Issuer)+" does not say how to log in there (RFC 8414)", broken)
	}
	err = p.check()
	return p, err
}

// check refuses metadata with which a login could not be safe.
func (p *Provider) check() error {
	m := p.meta
	p.Issuer = m.Issuer
	switch {
	case m.AuthorizationEndpoint == "" || m.TokenEndpoint == "":
		return cause.Fail(nil, cause.OneLine(p.Issuer)+" names no address to log in at, or none for tokens", broken)
	case !slices.Contains(m.CodeChallengeMethodsSupported, "S256"):
		return cause.Fail(nil, cause.OneLine(p.Issuer)+" does not take PKCE with S256, without which others could use the login", broken)
	}
	for _, one := range []struct{ what, address string }{
		{"the address to log in at", m.AuthorizationEndpoint},
		{"the address for tokens", m.TokenEndpoint},
		{"the address to register at", m.RegistrationEndpoint},
		{"the address to revoke tokens at", m.RevocationEndpoint},
	} {
		if one.address == "" {
			continue
		}
		if err := secure(one.what, one.address, p.Server); err != nil {
			return err
		}
	}
	if slices.Contains(m.ScopesSupported, offlineAccess) && !slices.Contains(p.Scopes, offlineAccess) {
		p.Scopes = append(p.Scopes, offlineAccess)
	}
	return nil
}

// initialize is the first message of the protocol, to which a server that wants a login answers 401.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
	`"clientInfo":{"name":"earshot","version":"1"}}}`

// ask asks the server without a token, for what its refusal says: the address of its metadata, and the scopes it wants.
func ask(ctx context.Context, client *http.Client, server string) (metadata string, scopes []string, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, server, strings.NewReader(initialize))
	if err != nil {
		return "", nil, cause.Misuse("the address of the server cannot be read", "mend it in the file of tools")
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := client.Do(q)
	if err != nil {
		return "", nil, cause.Fail(errors.New(reason(err)), "the server "+cause.OneLine(server)+" cannot be reached", "look whether its address is right: `earshot mcp list`")
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusUnauthorized {
		return "", nil, nil
	}
	challenges, err := oauthex.ParseWWWAuthenticate(answer.Header.Values("WWW-Authenticate"))
	if err != nil {
		return "", nil, nil //nolint:nilerr // its metadata may be where everybody's is
	}
	for _, c := range challenges {
		if c.Scheme == "bearer" {
			scopes = slices.DeleteFunc(strings.Fields(c.Params["scope"]), func(scope string) bool { return !mcp.IsScope(scope) })
			return c.Params["resource_metadata"], scopes, nil
		}
	}
	return "", nil, nil
}

// resourceOf returns the metadata of the server as a resource (RFC 9728): where it says that it is, else where everybody's
// is. A server of the protocol's first version with logins has none: its own host is the authorization server.
func resourceOf(ctx context.Context, client *http.Client, server, named string) (oauthex.ProtectedResourceMetadata, error) {
	var none oauthex.ProtectedResourceMetadata
	places, err := metadataPlaces(server, named)
	if err != nil {
		return none, err
	}
	for _, place := range places {
		if err := secure("the place of its metadata", place, server); err != nil {
			return none, err
		}
		found, err := fetch(ctx, client, place)
		if err != nil {
			return none, cause.Fail(err, "the server's metadata at "+cause.OneLine(place)+" cannot be read", broken)
		}
		if found == nil {
			continue
		}
		if !covers(found.Resource, server) {
			return none, cause.Fail(nil, "the metadata at "+cause.OneLine(place)+" is about "+cause.Quoted(settings.Clip(found.Resource, 200))+", and not about "+cause.OneLine(server),
				"its tokens could be meant for another server, so nothing was asked for there; tell those who run it")
		}
		if len(found.AuthorizationServers) == 0 {
			return none, cause.Fail(nil, "the server's metadata names no place to log in", broken)
		}
		return *found, nil
	}
	if named != "" {
		return none, cause.Fail(nil, "there is no metadata at "+cause.OneLine(named)+", which the server names", broken)
	}
	origin, err := url.Parse(server)
	if err != nil {
		return none, cause.Misuse("the address of the server cannot be read", "mend it in the file of tools")
	}
	return oauthex.ProtectedResourceMetadata{Resource: server, AuthorizationServers: []string{origin.Scheme + "://" + origin.Host}}, nil
}

// metadataPlaces are where the metadata of a server can be, in the order of the protocol.
func metadataPlaces(server, named string) ([]string, error) {
	if named != "" {
		return []string{named}, nil
	}
	u, err := url.Parse(server)
	if err != nil {
		return nil, cause.Misuse("the address of the server cannot be read", "mend it in the file of tools")
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	root := u.Scheme + "://" + u.Host + wellKnown
	if path := strings.Trim(u.EscapedPath(), "/"); path != "" {
		return []string{root + "/" + path, root}, nil
	}
	return []string{root}, nil
}

// fetch reads the metadata of a resource; nil if there is none.
func fetch(ctx context.Context, client *http.Client, place string) (*oauthex.ProtectedResourceMetadata, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, place, http.NoBody)
	if err != nil {
		return nil, errors.New("it is not an address")
	}
	q.Header.Set("Accept", "application/json")
	answer, err := client.Do(q)
	if err != nil {
		return nil, errors.New(reason(err))
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode >= 400 && answer.StatusCode < 500 {
		return nil, nil //nolint:nilnil // there is none
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers with the status %s", answer.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil {
		return nil, errors.New(reason(err))
	}
	var found oauthex.ProtectedResourceMetadata
	if len(raw) > maxDocument || json.Unmarshal(bytes.TrimSpace(raw), &found) != nil {
		return nil, errors.New("it is not JSON of at most 1 MiB")
	}
	return &found, nil
}

// covers reports whether a resource is the server, or a part of its own host that the server is below: several servers
// may share one login. Tokens for another host are never asked for.
func covers(resource, server string) bool {
	r, err := url.Parse(resource)
	if err != nil {
		return false
	}
	s, err := url.Parse(server)
	if err != nil || r.Scheme != s.Scheme || !strings.EqualFold(r.Host, s.Host) || r.User != nil || r.Fragment != "" {
		return false
	}
	if r.RawQuery != "" && r.RawQuery != s.RawQuery {
		return false
	}
	above, below := strings.TrimSuffix(r.EscapedPath(), "/")+"/", strings.TrimSuffix(s.EscapedPath(), "/")+"/"
	return strings.HasPrefix(below, above)
}
