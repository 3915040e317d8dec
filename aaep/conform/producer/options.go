package producer

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/conform/report"
	"github.com/earshot-dev/earshot/aaep/subscribe"
	"github.com/earshot-dev/earshot/aaep/transport/pipe"
)

const (
	defaultLength = time.Minute
	// settle is how long after the end of the session the other listeners may take to get theirs.
	settle = 3 * time.Second
	// linger is how long it listens on when all have heard the end: nothing may come behind it.
	linger = 500 * time.Millisecond
	// inFlight is how long after a close, or new terms, events may come that were under way.
	inFlight = 2 * time.Second
	// patience is how long a producer may take to follow up an answer.
	patience = 10 * time.Second
)

// Silence is the [Options.Answer] that leaves every question alone until its time is over.
const Silence aaep.Decision = "none"

// Options say which producer is judged, and how. URL is required.
type Options struct {
	// URL of the producer. An http or https address without a path is subscribed to first, with POST; one with a path is
	// a stream that wants no subscription, of level 1. A ws or wss address is that of a WebSocket, grpc or grpcs that of gRPC,
	// unix:PATH that of a Unix socket; the path of a named pipe of Windows is one.
	URL string
	// Token goes into the Authorization header if it is set; over a Unix socket it goes before the request, as Earshot takes it. Without TLS it is sent to loopback addresses only.
	Token string
	// Level is the level of conformance that is expected, 1 to 3; default 3.
	Level int
	// For is how long it listens; default a minute. With Session it ends when that session has.
	For     time.Duration
	Session string
	// Sessions ends it when so many sessions have ended; default 0, which does not.
	Sessions int
	// Fresh says that no session runs when Judge begins: each then has to begin with its start (SEQ-01).
	Fresh bool
	// Answer is the decision about every question, default reject. Clarifications are answered with accept only. With [Silence] nothing is
	// answered, and the producer has to go on by itself when the time is over. Nobody else should answer meanwhile.
	Answer aaep.Decision
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Transport makes the requests; default a new transport with the environment's proxy.
	Transport http.RoundTripper
	// Ready is called once when all listeners are connected, or have been refused.
	Ready func()
}

// checked returns the options with their defaults, and the address.
func (o Options) checked() (Options, *url.URL, error) {
	o.Level, o.For, o.Answer = cmp.Or(o.Level, 3), cmp.Or(o.For, defaultLength), cmp.Or(o.Answer, aaep.DecisionReject)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Transport == nil {
		o.Transport = subscribe.NewTransport(0)
	}
	if o.Ready == nil {
		o.Ready = func() {}
	}
	u, err := parsed(o.URL)
	switch {
	case err != nil || u.Host == "" || areas[u.Scheme] == "":
		return o, nil, report.Misuse(fmt.Sprintf("%q is not the address of a producer", o.URL),
			"it reads like http://localhost:8080, ws://localhost:8080/aaep/v1/ws, grpc://localhost:8080 or unix:/run/user/1000/aaep/agent.sock")
	case o.Level < 1 || o.Level > 3:
		return o, nil, report.Misuse(fmt.Sprintf("the level is %d, expected 1, 2 or 3", o.Level), "level 3 has the rules of all three")
	case !slices.Contains([]aaep.Decision{aaep.DecisionReject, aaep.DecisionAccept, Silence}, o.Answer):
		return o, nil, report.Misuse(fmt.Sprintf("the answer is %q, expected reject, accept or %s", o.Answer, Silence),
			"reject does no harm; with accept the producer does what it asks about")
	case o.For < 0 || o.Sessions < 0:
		return o, nil, report.Misuse("the time to listen, or the number of sessions, is negative", "")
	case o.Level > 1 && direct(u):
		return o, nil, report.Misuse("an address with a path is a stream without a subscription, which is of level 1", "give the address without the path, or ask for level 1")
	case o.Token != "" && slices.Contains([]string{"http", "ws", "grpc"}, u.Scheme) && !subscribe.IsLocal(u.Hostname()):
		return o, nil, report.Misuse("the token would travel unencrypted to "+u.Host, "use https, wss or grpcs, or a tunnel")
	}
	return o, u, nil
}

// parsed returns an address; that of a Unix socket, or of a named pipe of Windows, has its path for its host.
func parsed(address string) (*url.URL, error) {
	if pipe.IsNamed(address) {
		return &url.URL{Scheme: unixScheme, Host: address}, nil
	}
	if path, is := strings.CutPrefix(address, unixScheme+":"); is {
		return &url.URL{Scheme: unixScheme, Host: path}, nil
	}
	return url.Parse(address) //nolint:wrapcheck // the caller says what was found
}

// unixScheme begins the address of a Unix socket, before its path. A named pipe of Windows is treated as one.
const unixScheme = "unix"

// direct reports whether the address is a stream that wants no subscription.
func direct(u *url.URL) bool {
	return strings.HasPrefix(u.Scheme, "http") && strings.Trim(u.Path, "/") != ""
}
