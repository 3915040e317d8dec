package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// stallTime is how long a server may send nothing. A local model that reads a long conversation takes minutes.
	stallTime = 10 * time.Minute
	// maxRefusal bounds what is read of a refusal.
	maxRefusal = 64 << 10

	anthropicVersion = "2023-06-01"
)

// Client asks a model of one server.
type Client struct {
	wire Wire
	url  string
	key  func() (string, error)
	http *http.Client
}

// Options configure a client.
type Options struct {
	Wire Wire
	// Endpoint is the address of the server, such as https://api.openai.com or http://127.0.0.1:11434/v1. Plain HTTP is
	// only for this machine.
	Endpoint string
	// Key returns the key of the API before each request; nil, or an empty key, sends none.
	Key func() (string, error)
	// Transport carries the requests. Default: that of net/http.
	Transport http.RoundTripper
}

// NewClient checks the options. It asks nothing yet.
func NewClient(o Options) (*Client, error) {
	if err := o.Wire.Valid(); err != nil {
		return nil, err
	}
	at, err := Address(o.Wire, o.Endpoint)
	if err != nil {
		return nil, err
	}
	c := &Client{wire: o.Wire, url: at, key: o.Key, http: &http.Client{
		Transport: o.Transport,
		// A server that sends the request elsewhere would send the key and the conversation there.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if c.key == nil {
		c.key = func() (string, error) { return "", nil }
	}
	return c, nil
}

// Address returns the address that requests go to.
func Address(wire Wire, endpoint string) (string, error) {
	at, err := url.Parse(endpoint)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
		return "", fmt.Errorf("the endpoint is %q; it is the address of a server, such as https://api.openai.com", endpoint)
	case at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return "", fmt.Errorf("the endpoint %q has more than a server and a path; a key is never part of an address", at.Redacted())
	case at.Scheme == "http" && !loopback(at.Hostname()):
		return "", fmt.Errorf("the endpoint %s is plain HTTP to another machine: others could read the conversation and the key; use https", endpoint)
	}
	suffix := "/chat/completions"
	if wire == Anthropic {
		suffix = "/messages"
	}
	at.Path = strings.TrimRight(at.Path, "/")
	if !strings.HasSuffix(at.Path, suffix) {
		if at.Path == "" {
			at.Path = "/v1"
		}
		at.Path += suffix
	}
	return at.String(), nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Listener receives what happens while a model is asked. Each function may be nil.
type Listener struct {
	// Text receives the text of the answer as it comes. An error ends the request.
	Text func(text string) error
	// Again is called before a request is repeated: what went wrong, and how long it waits. If began, a part of an
	// answer was received; the next answer starts again from its beginning.
	Again func(why error, wait time.Duration, began bool) error
}

// Ask asks for one answer. It repeats the request while the server is busy or away, and while answers break off.
func (c *Client) Ask(ctx context.Context, q Request, l Listener) (Answer, error) {
	body, err := c.wire.Encode(q)
	if err != nil {
		return Answer{}, err
	}
	for attempt := 1; ; attempt++ {
		began := false
		a, err := c.once(ctx, body, func(text string) error {
			began = began || text != ""
			if l.Text == nil || text == "" {
				return nil
			}
			return l.Text(text)
		})
		if err == nil || ctx.Err() != nil {
			return a, err
		}
		wait, again := retry(err, attempt)
		if !again {
			return a, err
		}
		if l.Again != nil {
			if err := l.Again(err, wait, began); err != nil {
				return a, err
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return a, fmt.Errorf("llm: %w", context.Cause(ctx))
		}
	}
}

// once asks once.
func (c *Client) once(ctx context.Context, body []byte, said func(string) error) (Answer, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(stallTime, func() { cancel(errStalled) })
	defer stall.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return Answer{}, fmt.Errorf("llm: %w", err)
	}
	key, err := c.key()
	if err != nil {
		return Answer{}, &KeyError{Err: err}
	}
	c.headers(request.Header, key)
	response, err := c.http.Do(request)
	if err != nil {
		return Answer{}, unreachable(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // a refusal that breaks off is one all the same
		return Answer{}, failure(response, raw, key)
	}
	decoder := c.wire.Decoder()
	var listener error
	err = events(&watched{from: response.Body, stall: stall}, func(data []byte) error {
		text, err := decoder.Event(data)
		if err != nil {
			return err
		}
		listener = said(text)
		return listener
	})
	switch {
	case listener != nil:
		return Answer{}, &ListenerError{Err: listener}
	case errors.Is(err, ErrIncomplete) && ctx.Err() != nil:
		return Answer{}, fmt.Errorf("%w: %w", err, context.Cause(ctx))
	case err != nil:
		return Answer{}, err
	}
	return decoder.Answer()
}

func (c *Client) headers(h http.Header, key string) {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream")
	if c.wire == Anthropic {
		h.Set("Anthropic-Version", anthropicVersion)
		if key != "" {
			h.Set("X-Api-Key", key)
		}
		return
	}
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

// watched moves the end of a stalled request with each read.
type watched struct {
	from  io.Reader
	stall *time.Timer
	ended atomic.Bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if err == nil && !w.ended.Load() {
		w.ended.Store(!w.stall.Reset(stallTime)) // one that has fired has ended the request
	}
	return n, err //nolint:wrapcheck // it is a reader
}
