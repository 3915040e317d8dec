package listen

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// callTime is how long a request may take, streams excepted.
	callTime = 30 * time.Second
	// silence is how long a stream may say nothing at all: three of the server's
	// comments (TR-SSE-13).
	silence = 45 * time.Second
	// defaultPatience is how long a lost server is tried for again.
	defaultPatience = 10 * time.Minute
)

// DialOptions say which server to listen to, and as whom. URL and one of Token and
// TokenFile are required, or ServerFile, which has an address and a token itself.
type DialOptions struct {
	// URL of the server, such as http://127.0.0.1:7411. Without TLS it is for the
	// loopback only: the token would travel where others can read it.
	URL string
	// Token says who listens. It is never written anywhere.
	Token string
	// TokenFile holds the token on its first line. With ServerFile it goes before the token
	// in that, and is read as often.
	TokenFile string
	// ServerFile is what a server leaves in its data directory, see [Place]. It is read
	// again for each connection, because a server that has started anew has another token.
	ServerFile string

	// Session narrows the events to those of one session, from its first one on, and
	// ends them after its last. Without it they are those of every session that the
	// listener may hear, from now on, and never end.
	Session string
	// Name is how this listener calls itself; default "earshot".
	Name string
	// Patience is how long a lost server is tried for again before the events end
	// with an error; default 10 minutes.
	Patience time.Duration
	// Told gets the loss of the connection, and its return, each once. It is called by
	// the goroutine that reads the events.
	Told func(Connection)
	// Items lists what a question is about, from the arguments' JSON; default [Values].
	Items func(arguments jsontext.Value) []Item
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Transport makes the requests; default one of its own, with the environment's proxy.
	Transport http.RoundTripper
}

// Connection is a change in the connection to the server.
type Connection struct {
	// Lost is why there is none; nil when there is one again.
	Lost error
}

// Client listens to a server by HTTP and implements [Port]. It is safe for concurrent
// use. Make it with [Dial].
type Client struct {
	o    DialOptions
	http *http.Client

	mu           sync.Mutex
	subscription string            // of the events under way
	numbered     map[string]int    // questions that carry a number, by token; of the events under way
	renewed      map[string]string // the token that a question has got with more time, by the one before
	arguments    map[int][]Item    // by question, read once
}

// Dial finds the server and asks it who this is. Its errors are of type [*Error]. The
// context is for the dialling alone; there is nothing to close.
func Dial(ctx context.Context, o DialOptions) (*Client, error) {
	o.Name = cmp.Or(o.Name, "earshot")
	o.Patience = cmp.Or(o.Patience, defaultPatience)

	if o.Now == nil {
		o.Now = time.Now
	}

	if o.Told == nil {
		o.Told = func(Connection) {}
	}

	if o.Items == nil {
		o.Items = Values
	}

	if o.Transport == nil {
		o.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 2, IdleConnTimeout: silence}
	}

	c := &Client{
		o: o, numbered: map[string]int{}, renewed: map[string]string{}, arguments: map[int][]Item{},
		http: &http.Client{
			Transport: o.Transport,
			// A redirection would carry the token to wherever it leads.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}

	if _, err := c.Me(ctx); err != nil {
		return nil, err
	}

	return c, nil
}

// Server is the address of the server, as far as it is known.
func (c *Client) Server() string {
	p, err := c.place()
	if err != nil {
		return c.o.URL
	}

	return p.URL
}

// Of returns a client of the same server that hears one session only.
func (c *Client) Of(session string) *Client {
	o := c.o
	o.Session = session

	return &Client{o: o, http: c.http, numbered: map[string]int{}, renewed: map[string]string{}, arguments: map[int][]Item{}}
}
