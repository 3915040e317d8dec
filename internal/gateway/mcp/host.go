package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// hostKey identifies a session of a host.
type hostKey struct {
	credential string
	name       string // the host's own name, as far as it is part of an id
	session    string // Mcp-Session-Id; "" if the protocol version has none
}

// host is one session of a host. Everything except its key can be recreated.
type host struct {
	key     hostKey
	token   string
	gateway *Gateway

	// Guarded by the mutex of its [HTTP].
	open map[*exchange]struct{} // requests under way
	used time.Time              // when the last of them ended
}

// enter counts a request, or returns why it is refused.
func (h *HTTP) enter(ctx context.Context, from Caller, key hostKey, wall time.Duration, id string) (*exchange, *refusal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, &refusal{http.StatusServiceUnavailable, "the server is closing; try again soon"}
	case h.requests(from.Credential) >= h.o.Requests:
		return nil, &refusal{http.StatusTooManyRequests, "too many requests of this token are open; end one first"}
	}
	one := h.hosts[key]
	if one == nil || one.token != from.Token { // the token may have been replaced by one of the same name
		if one == nil && !h.makeRoom(from.Credential) {
			return nil, &refusal{http.StatusTooManyRequests, "too many sessions of this token are in use; end one first"}
		}
		one = &host{key: key, token: from.Token, gateway: h.gatewayFor(from, key, wall), open: map[*exchange]struct{}{}}
		h.hosts[key] = one
	}
	e := &exchange{host: one, id: id}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	e.off = context.AfterFunc(h.life, func() { e.cancel(errClosing) })
	one.open[e] = struct{}{}
	h.open.Add(1)
	return e, nil
}

var (
	errClosing   = errors.New("mcp: the server is closing")
	errEnded     = errors.New("mcp: the host has ended its session")
	errAbandoned = errors.New("mcp: the host has given up")
	errAnother   = errors.New("mcp: the host has opened another stream")
)

// gatewayFor creates the gateway of a host, with the toolset of its agent.
func (h *HTTP) gatewayFor(from Caller, key hostKey, wall time.Duration) *Gateway {
	o := Options{
		Dial: func(ctx context.Context, _ string) (Agent, error) { return h.o.Dial(ctx, from.Token) },
		Key:  "http\n" + key.credential + "\n" + key.name + "\n" + key.session, Holder: h.holder, Label: key.name,
		Wall: cmp.Or(wall, h.o.Wall), ProgressInterval: h.o.ProgressInterval, Version: h.o.Version, Logger: important(h.o.Logger),
	}.complete()
	m := h.toolsets[from.Credential]
	if m == nil || m.token != from.Token { // the token may have been replaced by one of the same name
		m = &agentTools{token: from.Token, toolset: newToolset(o, func(ctx context.Context) *Gateway { return exchangeOf(ctx).host.gateway })}
		m.server.AddReceivingMiddleware(whileOpen)
		h.toolsets[from.Credential] = m
	}
	return &Gateway{o: o, tools: m.toolset, open: map[string]bool{}}
}

// agentTools is the toolset of a token's agent.
type agentTools struct {
	*toolset

	token string
}

// requests counts the open requests of a token.
func (h *HTTP) requests(credential string) int {
	n := 0
	for key, one := range h.hosts {
		if key.credential == credential {
			n += len(one.open)
		}
	}
	return n
}

// makeRoom makes room for one more session of a token: it forgets the one that has been idle for longest. It returns
// false if all are in use.
func (h *HTTP) makeRoom(credential string) bool {
	n := 0
	var oldest *host
	for key, one := range h.hosts {
		if key.credential != credential {
			continue
		}
		n++
		if len(one.open) == 0 && (oldest == nil || one.used.Before(oldest.used)) {
			oldest = one
		}
	}
	if n < h.o.Hosts {
		return true
	}
	if oldest == nil {
		return false
	}
	delete(h.hosts, oldest.key)
	return true
}

// leave ends the count of a request. The results in its answer count as received, unless the host had disconnected
// before.
func (h *HTTP) leave(e *exchange) {
	e.answered()
	e.off()
	e.cancel(nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(e.host.open, e)
	e.host.used = time.Now()
	h.open.Done()
}

// cancel ends the request with an id: the host no longer waits for it.
func (h *HTTP) cancel(one *host, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := range one.open {
		if e.id == id && id != "" {
			e.cancel(errAbandoned)
		}
	}
}

// listens records that the host receives notifications. It has one such stream per session: an older one may be lost
// without having ended here.
func (h *HTTP) listens(e *exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for other := range e.host.open {
		if other.listens && e.host.key.session != "" {
			other.cancel(errAnother)
		}
	}
	e.listens = true
}

// sweep forgets hosts that have been away for long, and returns the toolsets of those that listen.
func (h *HTTP) sweep() []*toolset {
	h.mu.Lock()
	defer h.mu.Unlock()
	used, listening := map[string]bool{}, map[*toolset]bool{}
	for key, one := range h.hosts {
		if len(one.open) == 0 && time.Since(one.used) > h.o.Forget {
			delete(h.hosts, key)
			continue
		}
		used[key.credential] = true
		for e := range one.open {
			if e.listens {
				listening[one.gateway.tools] = true
			}
		}
	}
	maps.DeleteFunc(h.toolsets, func(credential string, _ *agentTools) bool { return !used[credential] })
	return slices.Collect(maps.Keys(listening))
}

// An id consists of the host's name, random characters, and a keyed checksum for this token, all in characters that the protocol
// allows. It is enough to resume the session, but not a secret: it is useless without the token.

// newSession creates an id.
func newSession(credential, name string) string {
	id := name + "." + rand.Text()
	return id + "." + checkOf(credential, id)
}

// sessionName returns the host's name in an id; false if the id was not made for the token.
func sessionName(credential, id string) (name string, ours bool) {
	i := strings.LastIndexByte(id, '.')
	if i < 0 || len(id) > maxSession || id[i+1:] != checkOf(credential, id[:i]) {
		return "", false
	}
	name, _, ours = strings.Cut(id[:i], ".")
	return name, ours
}

const maxSession = 128

func checkOf(credential, id string) string {
	sum := sha256.Sum256([]byte("earshot-mcp-session-1\n" + credential + "\n" + id))
	return hex.EncodeToString(sum[:8])
}

// nameIn returns the part of a host's name that goes into an id: lowercase letters, digits and hyphens.
func nameIn(host string) string {
	const most = 48
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, host)
	if len(name) > most {
		name = name[:most]
	}
	if name = strings.Trim(name, "-"); name == "" {
		return "mcp-host"
	}
	return name
}

// endedSessions are the ids of the latest ended sessions, which are no longer valid.
type endedSessions struct {
	order []hostKey
	all   map[hostKey]struct{}
}

func (s *endedSessions) has(key hostKey) bool {
	_, is := s.all[key]
	return is
}

func (s *endedSessions) add(key hostKey) {
	const most = 4096
	if s.all == nil {
		s.all = map[hostKey]struct{}{}
	}
	if s.has(key) {
		return
	}
	if len(s.order) == most {
		delete(s.all, s.order[0])
		s.order = s.order[1:]
	}
	s.order, s.all[key] = append(s.order, key), struct{}{}
}
