package mcp

import (
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a server at an address.
type remote struct {
	s        *Server
	secrets  map[string]string
	redactor *redactor
	base     *http.Transport
	linkCtx  context.Context //nolint:containedctx // The link's own life: its end ends every request.
	stop     context.CancelFunc
	once     sync.Once
}

func (s *Server) openHTTP(secrets map[string]string, learns *redactor) *remote {
	r := &remote{s: s, secrets: secrets, redactor: learns, base: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: s.c.Limits.Start}).DialContext,
		TLSHandshakeTimeout: s.c.Limits.Start, MaxResponseHeaderBytes: 64 << 10,
		// One that has died meanwhile would leave it unknown whether the call has left.
		DisableKeepAlives: true,
	}}
	r.linkCtx, r.stop = context.WithCancel(context.Background()) //nolint:gosec // end calls it
	return r
}

func (r *remote) transport() mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint: r.s.c.URL, MaxEventSize: int(r.s.c.Limits.Message),
		HTTPClient: &http.Client{
			Transport: r,
			// Elsewhere nobody has said that the credentials may go.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// end gives the session's last word a moment.
func (r *remote) end() {
	r.once.Do(func() {
		const farewell = time.Second
		time.AfterFunc(farewell, r.stop)
	})
}

func (r *remote) ending() string { return "" }

// written is not known: an [attempt] knows it of its call.
func (r *remote) written() int64 { return 0 }

// attempt is what became of the requests of a call; its context has it. There is more than one where the server asks back.
type attempt struct {
	sent   atomic.Int32 // how many had a connection to go out on
	status atomic.Int32 // of the last answer; 0 for none
}

type attemptKey struct{}

// RoundTrip implements [http.RoundTripper]: it adds the operator's headers and the token of the login, and bounds what comes back.
func (r *remote) RoundTrip(q *http.Request) (*http.Response, error) {
	a, _ := q.Context().Value(attemptKey{}).(*attempt)
	return r.authorized(q, a)
}

// send sends one request, once. The token goes to the address of the server alone.
func (r *remote) send(q *http.Request, token string, a *attempt) (*http.Response, error) {
	ctx, cancel := context.WithCancel(q.Context())
	ending := context.AfterFunc(r.linkCtx, cancel)
	done := func() {
		ending()
		cancel()
	}
	if a != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.sent.Add(1) }})
	}
	q = q.Clone(ctx)
	for name, text := range r.s.c.Headers {
		q.Header.Set(name, fill(text, r.secrets))
	}
	if token != "" && q.URL.String() == r.s.c.URL {
		r.redactor.learn(token)
		q.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := r.base.RoundTrip(q)
	if err != nil {
		done()
		return nil, err //nolint:wrapcheck // a RoundTripper's error is its own
	}
	if a != nil {
		a.status.Store(int32(answer.StatusCode))
	}
	answer.Body = &bounded{ReadCloser: answer.Body, done: done, left: r.most(answer)}
	return answer, nil
}

// most is how much of an answer is read: of a stream, whose messages are bounded one by one, all of it.
func (r *remote) most(answer *http.Response) int64 {
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err == nil && kind == "text/event-stream" {
		return -1
	}
	return int64(r.s.c.Limits.Message)
}

// bounded is a body that ends in an error where it is too long.
type bounded struct {
	io.ReadCloser

	done func()
	left int64 // negative means no bound
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return b.ReadCloser.Read(p) //nolint:wrapcheck // io.EOF stays what it is
	}
	if b.left == 0 {
		var one [1]byte
		if n, err := b.ReadCloser.Read(one[:]); n == 0 {
			return 0, err //nolint:wrapcheck // the same
		}
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err //nolint:wrapcheck // the same
}

// Close implements [io.Closer].
func (b *bounded) Close() error {
	err := b.ReadCloser.Close()
	b.done()
	return err //nolint:wrapcheck // it is the body's own
}

var errTooLarge = errors.New("it sent a message over the limit (limits: message)")
