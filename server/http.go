package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport/grpc"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/internal/peer"
	"github.com/earshot-dev/earshot/internal/transport/web"
)

const (
	headerTime = 10 * time.Second
	// idleTime is how long a connection may wait for its next request.
	idleTime = time.Minute
	// answerGrace is how long pending requests may take once the server shuts down.
	answerGrace = 2 * time.Second
)

// listen opens the listeners before any address is announced.
func (s *Server) listen(ctx context.Context, o Options) ([]net.Listener, error) {
	if s.within != nil {
		s.at = s.within.at
		url, err := address.Page(s.hostName(), s.at)
		s.url = url
		return nil, err
	}
	listeners, err := address.Listen(ctx, o.HTTP)
	if err != nil {
		return nil, err
	}
	s.at = listeners[0].Addr()
	s.url = "http://" + s.at.String()
	if o.HTTPS == "" {
		return listeners, nil
	}
	far, err := new(net.ListenConfig).Listen(ctx, "tcp", o.HTTPS)
	if err != nil {
		for _, l := range listeners {
			_ = l.Close()
		}
		return nil, address.Failure("--https", o.HTTPS, err)
	}
	s.https = far.Addr().String()
	return append(listeners, far), nil
}

// serve serves the page and the API.
func (s *Server) serve(o Options, settings *tls.Config, listeners []net.Listener) (err error) {
	i := s.instance
	s.hosts = mcp.NewHTTP(mcp.HTTPOptions{Dial: s.dialInProcess, Version: o.Version, Logger: o.Logger})
	options := web.Options{
		Hub: web.FromHub(i.Hub), Programs: web.AgentsFromHub(i.Hub), Producers: s.newProducers(o.Data, i.Now),
		Passkeys: web.PasskeysFromHub(i.Hub), MCP: s.serveHost, Access: i.Access, Directory: i.Access, Policy: s.policy,
		Agents: s.check, Startable: startable(o.Agents), KnownAgents: s.knownAgents, Definitions: s.definitions,
		Now: i.Now, Logger: o.Logger, PageURL: s.page, AllowedOrigins: o.AllowOrigins,
		User: peer.Of, Terminal: s.terminalOf, Asked: s.asked, Name: s.hostName(), Below: s.below, Console: o.Console, Streams: o.SubscriptionsEach,
		Ready: i.Hub.Ready, Counters: s.counters, Credentials: s.credentials, Services: s.rereader(o.Reread),
		Decides: i.Decides, Manifest: s.introduction.manifest, MachineWritten: s.introduction.translations.ByMachine(),
		SignedManifest: s.introduction.signed, ManifestKeys: s.introduction.keys,
	}
	if s.projects != nil && o.OpenProject != nil {
		options.Projects = s.projects.answer
	}
	if s.logins != nil {
		options.Logins = s.logins
	}
	if s.web, err = web.New(options); err != nil {
		s.hosts.Close()
		return cause.Fail(err, "the page could not be made", "")
	}
	if s.within != nil {
		return nil // its requests come to the other's listeners
	}
	s.http = &http.Server{
		Handler: s.projects, ConnContext: peer.With, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(&handshakes{Handler: o.Logger.Handler(), o: o}, slog.LevelDebug), TLSConfig: settings,
	}
	grpc.Configure(s.http)
	for _, l := range listeners {
		s.serving.Go(func() {
			if err := s.accept(l); !errors.Is(err, http.ErrServerClosed) {
				i.Fail(cause.Fail(err, "the HTTP server has failed", ""))
			}
		})
	}
	return nil
}

// accept serves connections until the server ends; those from other machines over TLS.
func (s *Server) accept(l net.Listener) error {
	if s.https != "" && l.Addr().String() == s.https {
		return s.http.ServeTLS(l, "", "") //nolint:wrapcheck // the caller says what has failed
	}
	return s.http.Serve(l) //nolint:wrapcheck // the same
}

// counters are the kernel's counts of third-party peers.
func (s *Server) counters() []web.Counter {
	foreign := s.instance.Kernel.ExternalCounts()
	return []web.Counter{
		{Name: "earshot_foreign_commands_adopted_total", Help: "Commands of foreign workers that became calls.", Value: foreign.Adopted},
		{Name: "earshot_foreign_commands_refused_total", Help: "Such commands that were wrong, and were answered.", Value: foreign.Answered},
		{Name: "earshot_foreign_commands_dropped_total", Help: "Such commands that were wrong, and name no call to answer.", Value: foreign.Dropped},
	}
}
