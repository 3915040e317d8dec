package subscribe

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/aaep/transport"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

const (
	// silence is how long a stream of server-sent events may send nothing: three times the interval of a producer's comments (TR-SSE-13).
	silence = 45 * time.Second
	// defaultReconnectTimeout is how long a lost producer is tried for.
	defaultReconnectTimeout = 10 * time.Minute
	// maxMessage is the largest message that is received, in bytes.
	maxMessage = 16 << 20
	// maxAnswer is the largest answer over HTTP that is read, in bytes.
	maxAnswer = 1 << 20
	// postTimeout limits a request over HTTP, streams excepted.
	postTimeout = 30 * time.Second
	// leaveTimeout is how long a producer may take to hear that the subscription has ended.
	leaveTimeout = 2 * time.Second
)

// Options name the producer and the terms. Only URL is required, or Target.
type Options struct {
	// URL of the producer: http or https for server-sent events, ws or wss for a WebSocket, grpc or grpcs for gRPC, unix:PATH for a Unix
	// socket, or the path of a named pipe of Windows. An http address with a path is a stream that wants no subscription; nothing can be
	// answered there, except at RepliesTo. A ws address without a path means /aaep/v1/ws.
	URL string
	// RepliesTo is where a stream that wants no subscription takes replies by POST, such as /messages: a path, or an address at the host of
	// the stream. A producer that knows no subscriptions has no use for the subscription_id of such a reply, which is made here.
	RepliesTo string
	// Token goes into the Authorization header if it is set; over a Unix socket it goes before the request, as Earshot takes it. Without
	// TLS it is sent to this machine only.
	Token string
	// Target gives the address and the token instead, before each connection and each request, for those that change.
	Target func() (address, token string, err error)
	// Request is what is asked for. The version is filled in, and a SubscriberID if there is none; give one that stays the same, so that
	// the producer can know this subscriber again. The zero value asks for everything but questions, see [aaep.Capabilities].
	Request aaep.SubscriptionRequest
	// Keys are the public keys of the producer, from somebody whom you trust. Unless nil, only a signed manifest will do: it is asked for, and where
	// there is none that holds and has what is offered, the sequence ends with CodeUntrusted before anything of that answer is yielded (CAP-13,
	// SEC-12). A manifest can be copied: who is at the other end is shown by TLS, or by a Unix socket in a folder that others cannot write to.
	Keys manifest.Keys
	// After is where the first connection resumes: the [Subscription.Position] of an earlier subscription to the producer; "" is from now on.
	After string
	// ReconnectTimeout is how long a producer that was lost is tried for; default 10 minutes.
	ReconnectTimeout time.Duration
	// ConnectTimeout is how long the first connection is tried for; default ReconnectTimeout. Below 0 there is one attempt.
	ConnectTimeout time.Duration
	// OnConnection is called once when the connection is lost for longer than a moment, and once when it is back, by the goroutine that
	// ranges.
	OnConnection func(Connection)
	// OnWait is called after each further attempt that failed, from the reported loss on until the connection is back, by the same goroutine,
	// with the time of the loss.
	OnWait func(since time.Time)
	// MayRetry reports whether another attempt makes sense after this error; default: after one that [Error.Retry] says it of, when the
	// producer cannot be reached, and when a connection broke.
	MayRetry func(error) bool
	// Verbatim takes what is not UTF-8 too: for a recorder, which judges nothing.
	Verbatim bool
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Transport makes the requests over HTTP, and the calls of gRPC; default a new transport with the environment's proxy.
	Transport http.RoundTripper
}

// Connection is a change in the connection to the producer.
type Connection struct {
	// Lost is why it was lost; nil when it is back.
	Lost error
}

func (o Options) withDefaults() Options {
	o.Request.AAEPVersion = cmp.Or(o.Request.AAEPVersion, aaep.Version)
	o.Request.SubscriberID = cmp.Or(o.Request.SubscriberID, "subscriber-"+rand.Text())
	o.ReconnectTimeout = cmp.Or(o.ReconnectTimeout, defaultReconnectTimeout)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, o.ReconnectTimeout)
	if o.Keys != nil {
		o.Request.Capabilities = o.Request.Capabilities.Clone()
		o.Request.Capabilities.AcceptSignedManifestsOnly = new(true)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.OnConnection == nil {
		o.OnConnection = func(Connection) {}
	}
	if o.OnWait == nil {
		o.OnWait = func(time.Time) {}
	}
	if o.MayRetry == nil {
		o.MayRetry = mayRetry
	}
	if o.Transport == nil {
		o.Transport = NewTransport(silence)
	}
	if o.Target == nil {
		address, token := o.URL, o.Token
		o.Target = func() (string, string, error) { return address, token, nil }
	}
	return o
}

// target is where a producer is, and who this is there.
type target struct {
	url     *url.URL // that of a Unix socket has its path for its host
	token   string
	replies string // where a stream without subscriptions takes replies; "" if it takes none
}

// unixScheme begins the address of a Unix socket, before its path. A named pipe of Windows is treated as one.
const unixScheme = "unix"

// target returns where the producer is now.
func (o Options) target() (target, error) {
	address, token, err := o.Target()
	if err != nil {
		return target{}, err
	}
	u, err := parsed(address)
	if err != nil {
		return target{}, err
	}
	at := target{url: u, token: token}
	if at.direct() && o.Keys != nil {
		return target{}, &Error{
			Code: CodeUsage, Message: u.Redacted() + " is a stream without subscriptions, which brings no signed manifest", Hint: "subscribe to the producer itself, or name no keys",
		}
	}
	if err := at.repliesTo(o.RepliesTo); err != nil {
		return target{}, err
	}
	if plain := slices.Contains([]string{"http", "ws", "grpc"}, u.Scheme); plain && token != "" && !IsLocal(u.Hostname()) {
		return target{}, &Error{Code: CodeInsecure, Message: "the token would travel unencrypted to " + u.Host, Hint: "use https, wss or grpcs, or a tunnel"}
	}
	return at, nil
}

func parsed(address string) (*url.URL, error) {
	if pipe.IsNamed(address) {
		return &url.URL{Scheme: unixScheme, Host: address}, nil
	}
	if path, is := strings.CutPrefix(address, unixScheme+":"); is && path != "" {
		return &url.URL{Scheme: unixScheme, Host: path}, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("%q is not the address of a stream", address), Err: err,
			Hint: "it reads like http://localhost:8080/events, ws://localhost:8080/aaep/v1/ws, grpc://localhost:8080, unix:/run/user/1000/aaep/agent.sock or " + `\\.\pipe\aaep\agent`,
		}
	}
	if !slices.Contains([]string{"http", "https", "ws", "wss", "grpc", "grpcs"}, u.Scheme) {
		return nil, &Error{
			Code: CodeUsage, Message: fmt.Sprintf("the address begins with %q, expected http, https, ws, wss, grpc, grpcs or unix", u.Scheme), Hint: "give the address of a stream",
		}
	}
	return u, nil
}

// web reports whether it speaks server-sent events and POST.
func (t target) web() bool { return strings.HasPrefix(t.url.Scheme, "http") }

// direct reports whether the address is a stream that needs no subscription.
func (t target) direct() bool { return t.web() && strings.Trim(t.url.Path, "/") != "" }

// repliesTo sets where a stream without subscriptions takes replies.
func (t *target) repliesTo(address string) error {
	if address == "" {
		return nil
	}
	u, err := t.url.Parse(address)
	switch {
	case !t.direct():
		return &Error{
			Code: CodeUsage, Message: t.url.Redacted() + " is not a stream without subscriptions, so an address for replies has no use",
			Hint: "leave it out; replies belong to the subscription",
		}
	case err != nil || u.Host != t.url.Host || u.Scheme != t.url.Scheme: // the token would go to somebody else
		return &Error{
			Code: CodeUsage, Message: fmt.Sprintf("%q is not an address for replies at %s", address, t.url.Host), Hint: "give a path there, such as /messages", Err: err,
		}
	}
	t.replies = u.String()
	return nil
}

// at is the address of a resource of the HTTP transports.
func (t target) at(path string) string { return t.url.JoinPath(transport.Root, path).String() }

// request returns the request, with the terms as they were changed last. On a connection it asks for points to resume after.
func (s *Subscription) request(after string, points bool) ([]byte, error) {
	s.mu.Lock()
	r := s.o.Request
	r.Capabilities = s.wanted.Clone()
	s.mu.Unlock()
	if points {
		resume := "{}"
		if after != "" {
			quoted, _ := jsontext.AppendQuote(nil, after) // what is not UTF-8 is replaced, and then is not a point that the producer knows
			resume = `{"after":` + string(quoted) + `}`
		}
		var err error
		if r.Capabilities, err = resuming(r.Capabilities, resume); err != nil {
			return nil, err
		}
	}
	raw, err := r.Encode()
	if err != nil {
		return nil, &Error{Code: CodeUsage, Message: "the subscription cannot be asked for: " + err.Error(), Err: err}
	}
	return raw, nil
}

// resuming adds Earshot's capability, which others ignore (CAP-14).
func resuming(c aaep.Capabilities, resume string) (aaep.Capabilities, error) {
	ours := map[string]jsontext.Value{}
	if asked, is := c.Extensions[aaep.PrefixEarshot]; is {
		if err := json.Unmarshal(asked, &ours); err != nil {
			return c, &Error{Code: CodeUsage, Message: "the capability earshot is not an object", Err: err}
		}
	}
	ours["resume"] = jsontext.Value(resume)
	raw, err := json.Marshal(ours, json.Deterministic(true))
	if err != nil {
		return c, &Error{Code: CodeUsage, Message: "the capability earshot cannot be written", Err: err}
	}
	if c.Extensions == nil {
		c.Extensions = map[string]jsontext.Value{}
	}
	c.Extensions[aaep.PrefixEarshot] = raw
	if !slices.Contains(c.SupportedExtensions, aaep.ExtensionContext) {
		c.SupportedExtensions = append(c.SupportedExtensions, aaep.ExtensionContext)
	}
	return c, nil
}
