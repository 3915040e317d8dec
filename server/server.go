// Package server embeds a whole Earshot in another program: the ledger, the gate, the message bus, the page and the
// API, with that program's agents and tools.
//
// [New] opens the server and resumes the turns of an earlier process. [Server.Run] blocks until its context ends or the
// server fails. [Server.Close] stops everything and waits for it. People answer on the page ([Server.Page], with a code
// from [Server.Code]). Programs use the API with [Server.Token], as package client does.
//
// The options are named like the flags of `earshot up`, and errors name those flags: --http is Options.HTTP. Every
// error at the start is an [*Error].
package server

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/address"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/datadir"
	"github.com/earshot-dev/earshot/internal/fault"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/internal/instance"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/oidc"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/policyfile"
	"github.com/earshot-dev/earshot/internal/presence"
	"github.com/earshot-dev/earshot/internal/transport/web"
	"github.com/earshot-dev/earshot/utp"
)

// Server is a running Earshot. It is safe for concurrent use.
type Server struct {
	instance *instance.Instance
	agents   map[string]Agent
	notice   func(string)
	asking   *presence.Hosts

	url  string // of the API
	page string // of the page, for browsers
	// origin is the page's address for the kernel, which asks for it from goroutines of its own.
	origin atomic.Value
	https  string   // the address for other machines; "" if there is none
	at     net.Addr // the address on the loopback

	within   *Server   // the server whose listeners and message server this project shares; nil for that of the process
	projects *projects // of this process; nil for a project that shares another's

	socket       string // the path of the Unix socket; "" if there is none
	local        net.Listener
	introduction introduction
	logins       *oidc.Logins // at the identity provider; nil if there are none

	web   *web.Server
	hosts *mcp.HTTP
	http  *http.Server
	// serving counts the goroutines that serve connections.
	serving sync.WaitGroup
	once    sync.Once
}

// New opens a server. When it returns, people and programs can connect, and the turns of an earlier process have been
// resumed.
func New(ctx context.Context, o Options) (*Server, error) {
	return open(ctx, o, nil)
}

// open opens a server, or a project that shares the listeners of another.
func open(ctx context.Context, o Options, within *Server) (*Server, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	if o.Data == "" {
		return nil, cause.Misuse("there is no data directory", "name a folder with --data DIR")
	}
	certificate, err := address.OpenCertificate(o.far(), o.Now, o.Logger)
	if err != nil {
		return nil, err
	}
	authorities, err := address.OpenClientCA(o.far(), o.Logger)
	if err != nil {
		return nil, err
	}
	policy, err := policyfile.Open(o.Policy)
	if err != nil {
		return nil, err
	}
	socket, err := o.socketPath()
	if err != nil {
		return nil, err
	}
	introduction, err := introduce(o, policy.Decides(), socket != "")
	if err != nil {
		return nil, err
	}
	s := &Server{agents: map[string]Agent{}, notice: o.Notice, introduction: introduction, socket: socket, asking: presence.NewHosts(presence.Processes), within: within}
	if within == nil {
		s.projects = newProjects(s, o, certificate)
	}
	for _, a := range o.Agents {
		s.agents[a.Name] = a
	}
	if s.instance, err = s.openInstance(ctx, o, policy); err != nil {
		return nil, err
	}
	if err := s.connect(ctx, o, settingsOf(certificate, authorities)); err != nil {
		s.Close()
		return nil, s.instance.Cause(err)
	}
	return s, nil
}

func (s *Server) openInstance(ctx context.Context, o Options, policy *policyfile.File) (*instance.Instance, error) {
	points, _ := o.LookupEnv(fault.Variable)
	provider, err := o.reach(ctx)
	if err != nil {
		return nil, err
	}
	inner := instance.Options{
		Passkeys: kernel.Passkeys{Require: passkey.Requirement(o.RequirePresence), Origin: s.pageOrigin},

		Data: o.Data, Policy: policy, Shared: true, Database: o.Ledger, Takeover: o.Takeover, Listen: o.NATSListen, Retention: o.retention(),
		Events: o.PublishEvents, DispatchTimeout: o.DispatchTimeout, MaxActive: o.MaxActive, AddedCards: o.MaxCards, MayStart: o.MayStart,
		Agents: slices.Collect(maps.Keys(s.agents)), Parameters: map[string]jsontext.Value{}, Notice: o.Notice,
		Now: o.Now, LookupEnv: o.LookupEnv, Logger: o.Logger, Reached: fault.Points(points),
	}
	if s.within != nil {
		inner.Bus = s.within.instance.Bus
	}
	if provider != nil {
		inner.Provider, s.logins = provider, provider.Logins()
	}
	for _, one := range o.Agents {
		inner.Parameters[one.Name] = one.Parameters
	}
	for _, one := range o.Services {
		inner.Services = append(inner.Services, one.inner())
		if one.Keeper != nil {
			inner.Keepers = append(inner.Keepers, one.Keeper)
		}
	}
	return instance.Open(ctx, inner)
}

// pageOrigin is the origin of the page; "" until it has one.
func (s *Server) pageOrigin() string {
	origin, _ := s.origin.Load().(string)
	return origin
}

// connect starts the agents and services, and lets clients connect.
func (s *Server) connect(ctx context.Context, o Options, settings *tls.Config) error {
	listeners, err := s.listen(ctx, o)
	if err != nil {
		return err
	}
	defer func() {
		if s.http == nil { // no goroutine serves them
			for _, l := range listeners {
				_ = l.Close()
			}
		}
	}()
	if s.page = o.PageURL; s.page == "" {
		name, err := s.instance.Data.PageName()
		if err != nil {
			return err
		}
		if s.page, err = address.Page(name, s.at); err != nil {
			return err
		}
	}
	s.origin.Store(s.page)
	if err := s.start(ctx, o); err != nil {
		return err
	}
	// Before anybody is served: until its turn is resumed, a question is parked, and a page that comes back would say that it
	// has changed.
	if err := s.resumeAll(ctx); err != nil {
		return err
	}
	if s.projects != nil {
		if err := s.projects.start(ctx); err != nil {
			return err
		}
	}
	if err := s.serve(o, settings, listeners); err != nil {
		return err
	}
	if err := s.listenLocal(ctx); err != nil {
		return err
	}
	if err := s.writeServerFile(o.Now()); err != nil {
		return cause.Fail(err, "the files that say where the server is cannot be written", "make room in "+s.instance.Data.Path)
	}
	return nil
}

// start starts the services and agents, and lets clients subscribe.
func (s *Server) start(ctx context.Context, o Options) error {
	if err := s.instance.Start(ctx); err != nil {
		return err
	}
	for _, a := range o.Agents {
		if err := s.instance.Work(ctx, a.Agent); err != nil {
			return err
		}
	}
	if err := s.instance.Work(ctx, operatorAgent()); err != nil {
		return err
	}
	s.instance.Subscribed(pacing.Offer{
		Producer:  aaep.Producer{AgentID: agentID, AgentName: "Earshot", AgentVersion: o.Version},
		Languages: s.introduction.manifest.LanguagesSupported, Levels: levels(), Extensions: []string{aaep.ExtensionContext},
		ManifestURI: s.url + "/.well-known/aaep-manifest.json", SignedManifest: s.introduction.signed,
	}, s.introduction.translations, o.Subscriptions, o.SubscriptionsEach)
	return nil
}

// Run blocks until ctx ends, or returns the error after which the server cannot continue. It closes nothing.
func (s *Server) Run(ctx context.Context) error {
	select {
	case err := <-s.instance.Broken():
		return err
	case <-ctx.Done():
		return nil
	}
}

// Close refuses new requests, ends the streams, tells running calls to stop, and waits for all of them. The next server
// on this data directory continues whatever is unfinished.
func (s *Server) Close() {
	s.once.Do(func() {
		_ = os.Remove(s.instance.Data.File(datadir.ServerFile)) // a file left behind would name a process that does not hold the lock
		_ = os.Remove(s.instance.Data.File(datadir.PersonFile)) // the token in it is no longer valid
		if s.local != nil {
			_ = s.local.Close() // which removes the socket
		}
		s.endStreams()
		if s.http != nil {
			s.projects.endStreams()
			ctx, cancel := context.WithTimeout(context.Background(), answerGrace)
			defer cancel()
			if err := s.http.Shutdown(ctx); err != nil {
				_ = s.http.Close()
			}
		}
		s.serving.Wait()
		if s.projects != nil {
			s.projects.close()
		}
		s.instance.Close()
	})
}

// endStreams ends the streams of people and hosts; later ones are refused.
func (s *Server) endStreams() {
	if s.web != nil {
		s.web.Close()
		s.hosts.Close()
	}
}

// URL is the address of the API.
func (s *Server) URL() string { return s.url }

// Page is the address of the page for browsers.
func (s *Server) Page() string { return s.page + "/" }

// HTTPS is the address for other machines; "" if there is none.
func (s *Server) HTTPS() string { return s.https }

// BusURL is where tool services and agents in other processes connect; "" if they cannot.
func (s *Server) BusURL() string { return s.instance.Bus.URL() }

// Database names the ledger's database; "" means a file in the data directory.
func (s *Server) Database() string {
	if s.instance.InDatabase {
		return s.instance.Ledger
	}
	return ""
}

// Projects lists the further projects of this server that are served, by name.
func (s *Server) Projects() []api.ServedProject {
	var all []api.ServedProject
	if s.projects == nil {
		return all
	}
	open := s.projects.all()
	for _, name := range slices.Sorted(maps.Keys(open)) {
		if one := open[name]; one.server != nil {
			all = append(all, one.told())
		}
	}
	return all
}

// Project returns a further project of this server, or nil if it is not served. It ends with this server, which alone is closed.
func (s *Server) Project(name string) *Server {
	if s.projects == nil {
		return nil
	}
	one := s.projects.all()[name]
	if one == nil {
		return nil
	}
	return one.server
}

// Token is for programs of the person who runs the process, and is valid until the server closes. It lets them receive
// events, start and stop turns, and run operator requests. It cannot answer questions.
func (s *Server) Token() string { return s.instance.Token }

// PersonToken is for an interface on which the person who runs the process answers. Never let an agent get hold of it.
func (s *Server) PersonToken() string { return s.instance.PersonToken }

// Code returns a login code for the page, for the person who runs the process. It is valid once, for 10 minutes.
func (s *Server) Code() (string, error) {
	code, err := s.instance.Access.Code(instance.Owner())
	return code, instance.AccessFailure(err)
}

// Passkeys lists the passkeys of everybody. While there is none, nothing is accepted that takes one: [Options.RequirePresence].
func (s *Server) Passkeys(ctx context.Context) ([]api.Passkey, error) {
	all, err := s.instance.Hub.Passkeys(ctx, "")
	if err != nil {
		return nil, cause.Fail(err, "the passkeys could not be read", "see `earshot doctor`")
	}
	return all.Passkeys, nil
}

// ChangedTools lists the tools whose programs have changed since they were reviewed. They count as unreviewed.
func (s *Server) ChangedTools() []utp.Definition { return s.instance.Changed }
