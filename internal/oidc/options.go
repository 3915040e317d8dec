package oidc

import (
	"cmp"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
)

// DefaultClaim is the claim that roles are mapped from by default.
const DefaultClaim = "groups"

// Options configure a [Verifier]. Their names in errors are those of the flags of `earshot up`.
type Options struct {
	// Issuer is the provider's address. Required.
	Issuer string
	// Audience is what its tokens have to be for. Default: none of them count.
	Audience string
	// ClientID is the id that people log in on the page under, and ClientSecret is the secret that belongs to it, if it has one. Default:
	// nobody logs in at the provider. Either this or Audience is required.
	ClientID, ClientSecret string
	// Scopes are asked for at a login, besides openid.
	Scopes []string
	// Claim is the claim that Roles and Owners map from; default [DefaultClaim].
	Claim string
	// Roles map a value of the claim to a role, as VALUE=ROLE. At least one is required: a token that nothing is mapped to has no role.
	Roles []string
	// Owners map a value of the claim to somebody whose sessions it is for, as VALUE=PERSON; * is everybody.
	Owners []string
	// Accept is whether an accept with such a token counts. Default: no person is known to be behind it.
	Accept bool

	Transport http.RoundTripper // default a new transport with the environment's proxy
	Now       func() time.Time  // default time.Now
	Logger    *slog.Logger      // without tokens; default none
}

// mapped are the roles that can be given. An agent and a tool have tokens of the operator's making: they stay longer than tokens of a
// provider do, and what they ask for belongs to them.
var mapped = []api.Role{api.RoleListener, api.RoleApprover, api.RoleAuditor, api.RoleOperator}

// Named reports whether an identity provider is named, or anything about one.
func (o Options) Named() bool {
	return o.Issuer != "" || o.Audience != "" || o.ClientID != "" || o.ClientSecret != "" || len(o.Scopes) > 0 || o.Claim != "" || len(o.Roles) > 0 || len(o.Owners) > 0 || o.Accept
}

// checked returns the options with their defaults, and the two maps.
func (o Options) checked() (_ Options, roles map[string][]api.Role, owners map[string][]string, err error) {
	if err := checkIssuer(o.Issuer); err != nil {
		return o, nil, nil, err
	}
	switch {
	case o.ClientID == "" && (o.ClientSecret != "" || len(o.Scopes) > 0):
		return o, nil, nil, cause.Misuse("--oidc-client-secret-file and --oidc-scope are for people's logins, which need --oidc-client-id",
			"name the id that this server has at the provider")
	case o.Audience == "" && o.ClientID == "":
		return o, nil, nil, cause.Misuse("--oidc-issuer needs --oidc-client-id, so that people log in on the page with it, or --oidc-audience, so that its tokens count: "+
			"one that is for another program must not count here",
			"name the id that this server has at the provider, or what the provider puts into aud for it, such as --oidc-audience earshot")
	case len(o.Roles) == 0:
		return o, nil, nil, cause.Misuse("--oidc-issuer needs --oidc-role: a token without a role can do nothing",
			"map a value of the claim "+cmp.Or(o.Claim, DefaultClaim)+" to a role, such as --oidc-role earshot-listeners=listener")
	}
	roles, owners = map[string][]api.Role{}, map[string][]string{}
	for _, text := range o.Roles {
		value, name, err := pair("--oidc-role", text, "earshot-listeners=listener")
		if err != nil {
			return o, nil, nil, err
		}
		if !slices.Contains(mapped, api.Role(name)) {
			return o, nil, nil, cause.Misuse(fmt.Sprintf("--oidc-role gives %s the role %s; expected listener, approver, auditor or operator", cause.Quoted(value), cause.Quoted(name)),
				"make agents and tools tokens with `earshot token add`")
		}
		roles[value] = append(roles[value], api.Role(name))
	}
	for _, text := range o.Owners {
		value, person, err := pair("--oidc-owner", text, "earshot-listeners=anna")
		if err != nil {
			return o, nil, nil, err
		}
		owners[value] = append(owners[value], person)
	}
	o.Claim = cmp.Or(o.Claim, DefaultClaim)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: requestTime}).DialContext, DisableKeepAlives: true,
			TLSHandshakeTimeout: requestTime, ResponseHeaderTimeout: requestTime, MaxResponseHeaderBytes: maxDocument,
		}
	}
	return o, roles, owners, nil
}

// pair splits VALUE=WHAT at the last equals sign: names of groups may have some themselves.
func pair(flag, text, example string) (value, what string, err error) {
	at := strings.LastIndexByte(text, '=')
	if at <= 0 || at == len(text)-1 {
		return "", "", cause.Misuse(flag+" is "+cause.Quoted(text), "it has the form "+example+", with a value of the claim before the equals sign")
	}
	return text[:at], text[at+1:], nil
}

// checkIssuer requires an address that nobody on the way can speak for.
func checkIssuer(issuer string) error {
	const form = "it has the form https://id.example.org, letter by letter as the provider writes it into iss"
	u, err := url.Parse(issuer)
	switch {
	case issuer == "":
		return cause.Misuse("the flags that begin with --oidc need --oidc-issuer", form)
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return cause.Misuse("--oidc-issuer "+cause.Quoted(issuer)+" is not the address of a provider", form)
	case u.Scheme == "http" && !onLoopback(u):
		return cause.Misuse("--oidc-issuer "+issuer+" is on another machine, and plain HTTP can be changed on its way", "use https")
	}
	return nil
}

func onLoopback(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}
