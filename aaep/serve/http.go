package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/pacing"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/socket"
	"github.com/earshot-dev/earshot/aaep/transport/stream"
)

// manifestPath is where anybody finds the manifest (MAN-01).
const manifestPath = "/.well-known/aaep-manifest.json"

func (p *Producer) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+manifestPath, func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, p.manifest) })
	mux.HandleFunc("POST "+transport.Root+"/subscriptions", p.takeRequest)
	mux.HandleFunc("GET "+transport.Root+"/events", p.sendEvents)
	mux.HandleFunc("POST "+transport.Root+"/replies", p.takeReply)
	mux.HandleFunc("GET "+transport.Root+"/ws", p.serveSocket)
	for _, further := range p.o.Transports {
		for pattern, handler := range further.Routes(p) {
			mux.Handle(pattern, handler)
		}
	}
	return mux
}

// ServeHTTP implements [http.Handler]: server-sent events with POST, and a WebSocket, below /aaep/v1, the manifest, and what
// [Options.Transports] serve. A page of another origin gets nothing. Without an Allow of its own the producer serves the names of this machine only.
func (p *Producer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.local && !stream.IsLocal(r) {
		refuse(w, http.StatusForbidden, "this producer is for this machine only", "use localhost")
		return
	}
	http.NewCrossOriginProtection().Handler(p.mux).ServeHTTP(w, r)
}

// BearerToken returns the token that a request shows, as Authorization: Bearer; "" is none.
func BearerToken(r *http.Request) string {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// body reads a message; after an error the request has been answered.
func body(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, transport.MessageLimit))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the message is larger than %d KiB", transport.MessageLimit>>10), "send less")
	} else if err != nil {
		refuse(w, http.StatusBadRequest, "the message cannot be read to its end", "send it again")
	}
	return raw, err == nil
}

// takeRequest takes a subscription.request (TR-SSE-01, TR-SSE-02).
func (p *Producer) takeRequest(w http.ResponseWriter, r *http.Request) {
	if _, rejected := p.admit(BearerToken(r)); rejected != nil {
		reject(w, stream.StatusOf(rejected.ReasonCode), *rejected)
		return
	}
	raw, ok := body(w, r)
	if !ok {
		return
	}
	request, err := aaep.DecodeSubscriptionRequest(raw)
	if err != nil {
		reject(w, http.StatusBadRequest, pacing.Malformed(err))
		return
	}
	s, accepted, rejected := p.subscribe(BearerToken(r), request)
	if rejected != nil {
		reject(w, stream.StatusOf(rejected.ReasonCode), *rejected)
		return
	}
	answer, err := accepted.Encode()
	if err != nil {
		s.Close()
		refuse(w, http.StatusInternalServerError, "the answer cannot be written", "")
		return
	}
	w.Header().Set("Location", transport.Root+"/events?subscription_id="+url.QueryEscape(s.id))
	write(w, http.StatusCreated, answer)
}

// sendEvents sends the events of a subscription (TR-SSE-03).
func (p *Producer) sendEvents(w http.ResponseWriter, r *http.Request) {
	token := BearerToken(r)
	s := p.subscription(token, r.URL.Query().Get("subscription_id"))
	if s == nil {
		refuse(w, http.StatusNotFound, "there is no such subscription of yours", "make one with POST "+transport.Root+"/subscriptions")
		return
	}
	to := stream.Open(w)
	if to.Send(stream.Frame{Comment: "connected"}) != nil {
		return
	}
	_ = to.Run(r.Context(), func(ctx context.Context, send func([]stream.Frame) bool) error {
		return s.Frames(ctx, r.Header.Get("Last-Event-ID"), send)
	}, permit{p, token}) // how a stream has ended is not told over HTTP
}

// takeReply takes what a subscriber sends back (TR-SSE-04).
func (p *Producer) takeReply(w http.ResponseWriter, r *http.Request) {
	raw, ok := body(w, r)
	if !ok {
		return
	}
	answer, err := p.message(BearerToken(r), raw)
	switch {
	case errors.Is(err, errForbidden):
		refuse(w, http.StatusForbidden, err.Error(), "")
	case err != nil:
		refuse(w, http.StatusBadRequest, "the message cannot be read: "+err.Error(), "correct it; the same again fails again")
	case answer != nil:
		write(w, http.StatusOK, answer)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// serveSocket serves a WebSocket (TR-WS-01 to TR-WS-08).
func (p *Producer) serveSocket(w http.ResponseWriter, r *http.Request) {
	token := BearerToken(r)
	if !p.o.Allow(token).Hears {
		refuse(w, http.StatusUnauthorized, "this token may not hear", "send one that may as Authorization: Bearer")
		return
	}
	conn, err := socket.Accept(w, r, socket.Options{Limit: transport.MessageLimit})
	if err != nil {
		return // it has answered
	}
	stream.Converse(r.Context(), conn, &peer{permit{p, token}}, nil)
}

func reject(w http.ResponseWriter, status int, r aaep.SubscriptionRejected) {
	raw, err := r.Encode()
	if err != nil {
		refuse(w, status, "the subscription is refused", "")
		return
	}
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", strconv.Itoa(r.RetryAfterSeconds))
	}
	write(w, status, raw)
}

// refuse answers a request that is not taken.
func refuse(w http.ResponseWriter, status int, message, hint string) {
	raw, _ := json.Marshal(map[string]any{"error": map[string]string{"message": message, "hint": hint}}, json.Deterministic(true)) // texts only
	write(w, status, raw)
}

func write(w http.ResponseWriter, status int, raw []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(raw) //nolint:gosec // its media type is JSON
}
