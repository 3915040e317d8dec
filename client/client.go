package client

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/api"
)

const (
	// callTime limits a request, streams excepted.
	callTime = 30 * time.Second
	// silence is how long a stream may send nothing: three times the interval of the server's comments (TR-SSE-13).
	silence = 45 * time.Second
	// defaultReconnectTimeout is how long a client tries to reach a lost server.
	defaultReconnectTimeout = 10 * time.Minute
)

// Options name the server and the credentials. Either URL and one of Token and TokenFile are required, or ServerFile,
// which contains an address and a token.
type Options struct {
	// URL of the server, such as http://127.0.0.1:7411. Without TLS only loopback addresses are accepted, because
	// others could read the token on its way. With ws or wss instead of http or https, Events come over a WebSocket.
	URL string
	// Token identifies the person or program. The client never writes it anywhere.
	Token string
	// TokenFile contains the token on its first line. It takes precedence over the token in ServerFile, and is read for
	// each request.
	TokenFile string
	// ServerFile is the file that a server writes into its data directory, see [ServerInfo]. It is read for each
	// request, because a restarted server has a new token.
	ServerFile string

	// Session limits Events to one session, from its first event to its last. Without it, Events yields the events of
	// every session that the token may access, from now on, without end.
	Session string
	// Name is the name of this listener that operators see; default "earshot".
	Name string
	// Gateway says that an agent's host has started this program and asks through it. Then it is the host that asks, and
	// nothing that the host has started answers.
	Gateway bool
	// AgentProcess is the process id of an agent that this program has started, and for which it asks. Then it is that
	// process, and what it starts, that answers nothing; this program may be where a person answers.
	AgentProcess int
	// ReconnectTimeout is how long Events, and a call of an [AgentSession] that waits for its result, try to reach a lost
	// server before they end with an error; default 10 minutes.
	ReconnectTimeout time.Duration
	// OnConnection is called once when the connection of Events is lost and once when it is back, by the goroutine that
	// reads the events.
	OnConnection func(Connection)
	// OnWait is called after each further attempt that failed while the connection is lost, by the same goroutine, with the time of the loss.
	OnWait func(since time.Time)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Transport makes the requests; default a new transport with the environment's proxy.
	Transport http.RoundTripper
}

// Client accesses one server over HTTP. It is safe for concurrent use and needs no closing. Use [Dial] to create one.
type Client struct {
	o        Options
	http     *http.Client
	bySocket bool // whether Events come over a WebSocket; o.URL is then the one for requests
	zone     *time.Location
}

// Dial finds the server and asks it who the token stands for. Its errors are of type [*Error]. The context covers
// dialling only.
func Dial(ctx context.Context, o Options) (*Client, error) {
	c := newClient(o)

	me, err := c.Identity(ctx)
	if err != nil {
		return nil, err
	}

	if zone, err := api.Zone(me.TimeZone); err == nil {
		c.zone = zone
	}

	return c, nil
}

func newClient(o Options) *Client {
	address, bySocket := socketServer(o.URL)
	o.URL = address
	o.Name = cmp.Or(o.Name, "earshot")
	o.ReconnectTimeout = cmp.Or(o.ReconnectTimeout, defaultReconnectTimeout)

	if o.Now == nil {
		o.Now = time.Now
	}

	if o.OnConnection == nil {
		o.OnConnection = func(Connection) {}
	}

	if o.Transport == nil {
		o.Transport = subscribe.NewTransport(silence)
	}

	return &Client{
		o: o, bySocket: bySocket,
		http: &http.Client{
			Transport: o.Transport,
			// Following a redirection would send the token to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Server is the server's address. While the server file cannot be read, it is Options.URL.
func (c *Client) Server() string {
	p, err := c.serverInfo()
	if err != nil {
		return c.o.URL
	}

	return p.URL
}

// ForSession returns a client of the same server whose Events are limited to one session.
func (c *Client) ForSession(session string) *Client {
	other := *c
	other.o.Session = session

	return &other
}
