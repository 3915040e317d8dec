package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/api"
)

// Options configure a server. Hub and Access are required.
type Options struct {
	Hub    Hub
	Access Access
	// Directory lists logins and tokens to operators, on the page. Default: they are not listed.
	Directory Directory
	// Logins lets people log in on the page at an identity provider. Default: they log in by a one-time code alone.
	Logins Logins
	// Policy returns the operator's rules as they were read. Default: there is no page for them.
	Policy func() Policy
	// Programs serves external agents. Default: none are served.
	Programs Agents
	// Producers takes events of producers of AAEP. Default: none are taken.
	Producers Producers
	// Passkeys serves people's passkeys on the page. Default: there are none.
	Passkeys Passkeys
	// MCP serves a host of the Model Context Protocol that has an agent's token. The request's context ends with the
	// server. Default: none are served.
	MCP func(w http.ResponseWriter, r *http.Request, who Principal, token string)
	// Agents checks a turn before it is started: it returns a [Refusal] for an unknown agent, or for arguments that the
	// agent does not take. Default: only the hub checks.
	Agents func(ctx context.Context, t *api.TurnStart) error
	// Startable are the agents that people start from the page. Default: none.
	Startable []StartAgent
	// Definitions returns what operators have defined about agents. Default: nothing.
	Definitions func(ctx context.Context) ([]api.AgentDefinition, error)
	// KnownAgents returns the agents of this process, and those with a credential for the bus. Default: none.
	KnownAgents func() ([]KnownAgent, error)
	// Ready reports whether the server can take work. Default: always.
	Ready func(ctx context.Context) error
	// Counters returns further metrics of the process for /metrics. Default: none.
	Counters func() []Counter
	// Credentials reloads the credential files. Default: there are none.
	Credentials func(ctx context.Context) (api.Credentials, error)
	// Projects says how the projects are served, with again after it has read their list again. Default: the server has none besides its
	// own.
	Projects func(ctx context.Context, again bool) (api.Projects, error)
	// Services reads the list of Model Context Protocol servers again. Default: there is none.
	Services func(ctx context.Context) (api.Services, error)
	// Manifest is published at the well-known address (MAN-01). The server adds its versions, transport and paths; the
	// default of AgentID is earshot.
	Manifest aaep.Manifest
	// MachineWritten are those of the manifest's languages whose sentences no native speaker has read. Default: none.
	MachineWritten []string
	// Decides is whether the default of a question holds as soon as nobody who is connected can answer it. The manifest says
	// where that is not so.
	Decides bool
	// SignedManifest is what [Describe] made of Manifest and Decides, as a compact JWS, and ManifestKeys are the keys that verify it.
	// Default: the manifest is not signed.
	SignedManifest string
	ManifestKeys   manifest.Keys
	// PageURL is the page's origin, such as http://0123456789abcdef0123456789abcdef.localhost:7411 or
	// https://earshot.example.org. The page, its login and its cookie are served under this host name only. Browsers
	// send a cookie to every port of a host, so anyone who knows the host name of a page without TLS can attract its
	// cookie. The API answers to the name too. Default: there is no page.
	PageURL string
	// Name is the host name under which programs come, and no page is, where several servers share an address. Default: the names
	// that every server of this machine has.
	Name string
	// User returns the local account that a request comes from, or "" if unknown. A login is valid only for the account
	// that logged in. Default: always unknown.
	User func(r *http.Request) string
	// Terminal returns the terminal of the process that a request comes from. Its error is why none is known, in words
	// that go on after a colon. Default: none is.
	Terminal func(r *http.Request) (Terminal, error)
	// Asked notes that the process that a request comes from asks for calls, or that which it names by
	// [api.GatewayHeader]. Default: it is not noted.
	Asked func(r *http.Request, gateway string)
	// Below returns an error, in words that go on after a colon, if the process that a request comes from was started
	// by one that asks for calls. Default: that is not known.
	Below func(r *http.Request) error
	// Console shows a line in the terminal where the server runs, and nowhere else. Default: there is none.
	Console func(line string)
	// AllowedOrigins are origins, such as https://example.org, whose pages may use the API with a token. They can never
	// use the page or its cookie.
	AllowedOrigins []string
	// Streams is the maximum number of open streams of one principal; default 32.
	Streams int
	// Zone is the time zone of displayed times; default the machine's own.
	Zone *time.Location
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Logger receives errors, never content. Default: nothing is logged.
	Logger *slog.Logger
}

func (o Options) complete() (Options, error) {
	if o.Hub == nil || o.Access == nil {
		return o, errors.New("web: the options need a Hub and an Access")
	}
	for _, origin := range o.AllowedOrigins {
		if !IsOrigin(origin) {
			return o, errors.New("web: the allowed origin " + origin + " is not of the form https://name or https://name:port")
		}
	}
	if o.PageURL != "" && !IsOrigin(o.PageURL) {
		return o, errors.New("web: the address of the page is not of the form https://name or https://name:port")
	}
	if o.Agents == nil {
		o.Agents = func(context.Context, *api.TurnStart) error { return nil }
	}
	if o.KnownAgents == nil {
		o.KnownAgents = func() ([]KnownAgent, error) { return nil, nil }
	}
	if o.Definitions == nil {
		o.Definitions = func(context.Context) ([]api.AgentDefinition, error) { return nil, nil }
	}
	if o.User == nil {
		o.User = func(*http.Request) string { return "" }
	}
	if o.Terminal == nil {
		o.Terminal = func(*http.Request) (Terminal, error) {
			return Terminal{}, errors.New("which process asks is not known here")
		}
	}
	if o.Asked == nil {
		o.Asked = func(*http.Request, string) {}
	}
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	if o.Counters == nil {
		o.Counters = func() []Counter { return nil }
	}
	if o.Streams <= 0 {
		o.Streams = 32
	}
	if o.Zone == nil {
		o.Zone = time.Local
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}
