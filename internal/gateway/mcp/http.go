package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
)

// HTTPOptions configure an [HTTP]. Dial is required.
type HTTPOptions struct {
	// Dial connects to Earshot as the token's agent.
	Dial func(ctx context.Context, token string) (Agent, error)
	// Hosts and Requests limit the sessions and requests of one token; default 256 and 512.
	Hosts, Requests int
	// Forget is the time without a request after which a host's session is dropped here; by then Earshot has ended it.
	// Default 65 minutes.
	Forget time.Duration
	// Wall and ProgressInterval are those of [Options].
	Wall, ProgressInterval time.Duration
	Version                string
	Logger                 *slog.Logger
}

const (
	defaultHosts    = 256
	defaultRequests = 512
	defaultForget   = api.DefaultIdle*time.Second + 5*time.Minute
)

// Caller is the authenticated sender of a request: an agent, with a token of its own.
type Caller struct {
	// Credential is the id of the token. It is not secret. Sessions belong to it.
	Credential string
	Token      string
}

// HTTP serves hosts with MCP's streamable HTTP transport. Requests are already authenticated. Create it with [NewHTTP],
// and close it at the end.
//
// Up to version 2025-11-25, a host's session has an id. Later versions have none: all requests with the same token and
// name are one session, unless their addresses name one. The library is stateless: it gets each request by itself, so
// that an idle session takes no memory but its list of tools, and continues after a restart.
// nothing but its list of tools, and one goes on after a restart.
type HTTP struct {
	o       HTTPOptions
	holder  string
	library *sdk.StreamableHTTPHandler

	life context.Context //nolint:containedctx // it is the life of all requests, not of a call
	quit context.CancelFunc
	open sync.WaitGroup // requests and the watch

	mu       sync.Mutex
	closed   bool
	toolsets map[string]*agentTools // by the credential
	hosts    map[hostKey]*host
	ended    endedSessions
}

// NewHTTP creates an [HTTP].
func NewHTTP(o HTTPOptions) *HTTP {
	o.Hosts, o.Requests, o.Forget = cmp.Or(o.Hosts, defaultHosts), cmp.Or(o.Requests, defaultRequests), cmp.Or(o.Forget, defaultForget)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h := &HTTP{o: o, holder: rand.Text(), toolsets: map[string]*agentTools{}, hosts: map[hostKey]*host{}}
	h.life, h.quit = context.WithCancel(context.Background())
	h.library = sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server { return exchangeOf(r.Context()).host.gateway.tools.server },
		// Origin, host and size of requests were checked before.
		&sdk.StreamableHTTPOptions{Stateless: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1, PropagateRequestCancellation: true, Logger: important(o.Logger)},
	)
	h.open.Go(h.watch)
	return h
}

// Close ends all requests and waits for them. The sessions continue with the next server, until they have been idle for
// too long.
func (h *HTTP) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.quit()
	h.open.Wait()
}

// ServeHTTP answers a request of the caller.
func (h *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request, from Caller) {
	version := r.Header.Get("Mcp-Protocol-Version")
	switch {
	case r.Method == http.MethodPost:
		h.post(w, r, from, version)
	case version >= withoutSessions:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "version "+withoutSessions+" of the protocol has no sessions; send a POST", http.StatusMethodNotAllowed)
	case r.Method == http.MethodDelete:
		h.end(w, r, from)
	case r.Method == http.MethodGet:
		h.listen(w, r, from, version)
	default:
		w.Header().Set("Allow", "DELETE, GET, POST")
		http.Error(w, "found the method "+r.Method+", expected DELETE, GET or POST", http.StatusMethodNotAllowed)
	}
}

// withoutSessions is the first version of the protocol without session ids. Versions are dates, so their text is
// ordered.
const withoutSessions = "2026-07-28"

const sessionHeader = "Mcp-Session-Id"

// post answers a message of a host.
func (h *HTTP) post(w http.ResponseWriter, r *http.Request, from Caller, version string) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the body could not be read; send it again", http.StatusBadRequest)
		return
	}
	m, err := readMessage(raw)
	if err != nil {
		http.Error(w, "the body is not one message of JSON-RPC: "+err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(raw))
	key, refused := h.named(r, from, version, m)
	if refused != nil {
		refused.write(w)
		return
	}
	e, refused := h.enter(r.Context(), from, key, wallOf(r), string(m.ID))
	if refused != nil {
		refused.write(w)
		return
	}
	defer h.leave(e)
	switch m.Method {
	case "initialize":
		w.Header().Set(sessionHeader, key.session)
	case "notifications/cancelled":
		h.cancel(e.host, string(m.Params.RequestID))
	case "subscriptions/listen":
		h.listens(e)
	}
	h.library.ServeHTTP(trackedWriter{w, e}, r.WithContext(e.context()))
}

// named determines the session of a message.
func (h *HTTP) named(r *http.Request, from Caller, version string, m message) (hostKey, *refusal) {
	if version >= withoutSessions {
		return hostKey{credential: from.Credential, name: nameIn(m.client()) + sessionOfAddress(r)}, nil
	}
	id := r.Header.Get(sessionHeader)
	if m.Method == "initialize" {
		id = newSession(from.Credential, nameIn(m.client()))
	}
	return h.sessionOf(from, id)
}

// sessionOf returns the session with an id. One that this process does not know was created before a restart, and is
// resumed.
func (h *HTTP) sessionOf(from Caller, id string) (hostKey, *refusal) {
	if id == "" {
		return hostKey{}, &refusal{http.StatusBadRequest, "found no " + sessionHeader + "; begin with initialize, and send the id that comes with its answer"}
	}
	name, ours := sessionName(from.Credential, id)
	key := hostKey{credential: from.Credential, name: name, session: id}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !ours || h.ended.has(key) {
		return hostKey{}, &refusal{http.StatusNotFound, "there is no session with this " + sessionHeader + "; begin with initialize"}
	}
	return key, nil
}

// listen streams notifications to the host: that the tools have changed.
func (h *HTTP) listen(w http.ResponseWriter, r *http.Request, from Caller, version string) {
	key, refused := h.sessionOf(from, r.Header.Get(sessionHeader))
	if refused != nil {
		refused.write(w)
		return
	}
	e, refused := h.enter(r.Context(), from, key, wallOf(r), "")
	if refused != nil {
		refused.write(w)
		return
	}
	defer h.leave(e)
	h.listens(e)
	ctx := e.context()
	t := &sdk.StreamableServerTransport{Stateless: true}
	s, err := e.host.gateway.tools.server.Connect(ctx, t, &sdk.ServerSessionOptions{State: &sdk.ServerSessionState{
		InitializeParams: &sdk.InitializeParams{ProtocolVersion: cmp.Or(version, "2025-06-18")}, InitializedParams: &sdk.InitializedParams{},
	}})
	if err != nil {
		http.Error(w, "the stream could not be opened; try again", http.StatusInternalServerError)
		return
	}
	t.ServeHTTP(w, r.WithContext(ctx))
	_ = s.Close() // the host has disconnected
}

// end ends a session that the host has finished.
func (h *HTTP) end(w http.ResponseWriter, r *http.Request, from Caller) {
	key, refused := h.sessionOf(from, r.Header.Get(sessionHeader))
	if refused != nil {
		refused.write(w)
		return
	}
	e, refused := h.enter(r.Context(), from, key, 0, "")
	if refused != nil {
		refused.write(w)
		return
	}
	defer h.leave(e)
	e.host.gateway.receipts.wait(r.Context()) // the latest answers count as received
	h.mu.Lock()
	h.ended.add(key)
	delete(h.hosts, key)
	for other := range e.host.open {
		if other != e {
			other.cancel(errEnded)
		}
	}
	h.mu.Unlock()
	e.host.gateway.end(r.Context())
	w.WriteHeader(http.StatusNoContent)
}

// watch follows the tools of agents whose hosts listen, and forgets hosts that have been away for long.
func (h *HTTP) watch() {
	for rest(h.life, pollInterval) == nil {
		for _, m := range h.sweep() {
			agent := m.known()
			if agent == nil {
				continue
			}
			if err := m.update(h.life, agent); err != nil {
				h.o.Logger.Debug("the tools are not known", "reason", err)
			}
		}
	}
}
