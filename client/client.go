package client

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

const (
	// callTime is how long a request may take, streams excepted.
	callTime = 30 * time.Second
	// silence is how long a stream may say nothing at all: three of the server's
	// comments (TR-SSE-13).
	silence = 45 * time.Second
	// defaultReconnectTimeout is how long a lost server is tried for again.
	defaultReconnectTimeout = 10 * time.Minute
)

// Options say which server to use, and as whom. URL and one of Token and TokenFile are required, or ServerFile, which
// has an address and a token itself.
type Options struct {
	// URL of the server, such as http://127.0.0.1:7411. Without TLS only the loopback is accepted: elsewhere the token
	// could be read on its way.
	URL string
	// Token names the person or program. It is never written anywhere.
	Token string
	// TokenFile holds the token on its first line. It wins over the token in ServerFile, and is read for each request.
	TokenFile string
	// ServerFile is the file that a server writes into its data directory, see [ServerInfo]. It is read for each request,
	// because a restarted server has another token.
	ServerFile string

	// Session narrows Events to one session, from its first event to its last. Without it they are those of every session
	// that the token may hear, from now on, and never end.
	Session string
	// Name is shown to operators as the name of this listener; default "earshot".
	Name string
	// ReconnectTimeout is how long Events tries to reach a lost server before it ends with an error; default 10 minutes.
	ReconnectTimeout time.Duration
	// OnConnection is called when the connection of Events is lost and when it is back, once each, by the goroutine that
	// reads the events.
	OnConnection func(Connection)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Transport makes the requests; default one of its own, with the environment's proxy.
	Transport http.RoundTripper
}

// Connection is a change in the connection to the server.
type Connection struct {
	// Lost is why there is none; nil when it is back.
	Lost error
}

// Client is a connection to one server over HTTP. It is safe for concurrent use, and there is nothing to close. Make it
// with [Dial].
type Client struct {
	o    Options
	http *http.Client
}

// Dial finds the server and asks it whom the token stands for. Its errors are of type [*Error]. The context is for
// dialling alone.
func Dial(ctx context.Context, o Options) (*Client, error) {
	c := newClient(o)

	if _, err := c.Identity(ctx); err != nil {
		return nil, err
	}

	return c, nil
}

func newClient(o Options) *Client {
	o.Name = cmp.Or(o.Name, "earshot")
	o.ReconnectTimeout = cmp.Or(o.ReconnectTimeout, defaultReconnectTimeout)

	if o.Now == nil {
		o.Now = time.Now
	}

	if o.OnConnection == nil {
		o.OnConnection = func(Connection) {}
	}

	if o.Transport == nil {
		o.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 2, IdleConnTimeout: silence}
	}

	return &Client{
		o: o,
		http: &http.Client{
			Transport: o.Transport,
			// A redirection would carry the token to wherever it leads.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Server is the server's address. Where its file cannot be read at the moment, it is Options.URL.
func (c *Client) Server() string {
	p, err := c.serverInfo()
	if err != nil {
		return c.o.URL
	}

	return p.URL
}

// ForSession returns a client of the same server whose Events are those of one session.
func (c *Client) ForSession(session string) *Client {
	o := c.o
	o.Session = session

	return &Client{o: o, http: c.http}
}
