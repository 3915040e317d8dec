package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/api"
)

// Options are what a server needs. Hub and Access are required.
type Options struct {
	Hub    Hub
	Access Access
	// Programs serves agents that are programs outside. Default: there are none.
	Programs Agents
	// MCP serves a host of the Model Context Protocol, whose token is an agent's. The request's context ends with the server. Default:
	// none are served.
	MCP func(w http.ResponseWriter, r *http.Request, who Principal, token string)
	// Agents judges a turn before it is started: an agent that is not there, or arguments
	// that it does not take, are a [Refusal]. Default: the hub alone judges.
	Agents func(ctx context.Context, t *api.TurnStart) error
	// Ready answers whether work can be taken. Default: always.
	Ready func(ctx context.Context) error
	// Counters are counted elsewhere in the process and told with /metrics. Default: none.
	Counters func() []Counter
	// Credentials takes up the files of credentials as they are now. Default: there are none.
	Credentials func(ctx context.Context) (api.Credentials, error)
	// Manifest is what is published at the well-known address (MAN-01). The server adds
	// its versions, its transport and its paths; the default of AgentID is earshot.
	Manifest aaep.Manifest
	// PageURL is the origin at which browsers see the page, such as
	// http://0123456789abcdef0123456789abcdef.localhost:7411 or https://earshot.example.org.
	// The page, its login and its cookie are served under this name and no other: browsers
	// send a cookie to every port of a name, so anyone who knows the name of a page without TLS
	// can be sent its cookie. The API answers to the name too. Default: there is no page.
	PageURL string
	// User names the account of this machine that a request comes from, "" where that is not
	// known. A login counts for the account alone that has logged in. Default: it is never
	// known.
	User func(r *http.Request) string
	// AllowedOrigins are origins, such as https://example.org, whose pages may use the API
	// with a token. The page and its cookie are never theirs.
	AllowedOrigins []string
	// Streams is how many streams one principal may have open; default 32.
	Streams int
	// Zone is where deadlines are read; default the machine's own.
	Zone *time.Location
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Logger gets what goes wrong, never content. Default: nothing is logged.
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
	if o.User == nil {
		o.User = func(*http.Request) string { return "" }
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
