package serve

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"io"
	"net/http"
	"time"

	"github.com/earshot-dev/earshot/aaep"
)

const (
	defaultSubscriptions = 256
	defaultHistory       = 4096
	// retention is how long the events of a session that has ended are kept, and a subscription that nobody streams.
	retention = 2 * time.Minute
	// maxQueued is how many events may wait for the budget of a subscriber before it is cut off.
	maxQueued = 4096
)

// Options configure a [Producer]. Only Producer is required.
type Options struct {
	// Producer is who speaks in the events; its AgentID is required.
	Producer aaep.Producer
	// Language is the tag of the language of the texts; default "en".
	Language string
	// Allow says what somebody may do who shows this token; "" is no token. It is called at each request and again while a stream runs,
	// by several goroutines at once. By default everybody on this machine hears, and nobody answers: an answer needs a token.
	Allow func(token string) Rights
	// Manifest has what the manifest says besides what the producer fills in: name, contact, further extensions.
	Manifest aaep.Manifest
	// Subscriptions is how many there may be at a time; default 256.
	Subscriptions int
	// History is how many events of a session are kept for those who resume; default 4,096.
	History int
	// Transports are further transports over HTTP, such as that of package aaep/serve/grpc.
	Transports []Transport
	// Rate is the highest rate that is granted, in events a second; default no limit.
	Rate int

	Now  func() time.Time // default time.Now
	Rand io.Reader        // for ids and tokens; default crypto/rand
}

// Transport is one more transport over HTTP. It is a package of its own, so that a program links only what it serves.
type Transport interface {
	// Name is what the manifest calls it.
	Name() aaep.Transport
	// Routes returns what it serves of a producer, by pattern of [http.ServeMux]. Who asks has passed the same checks as for the other
	// transports, except that of its token. It is called once, while the producer is made, and must not use the producer then.
	Routes(p *Producer) map[string]http.Handler
}

// Rights are what somebody may do.
type Rights struct {
	Hears   bool // may subscribe
	Answers bool // may answer questions
}

// Token returns the Allow of a producer with one token: who shows it hears and answers, and nobody else does either. It panics if the
// token is "", which everybody would show.
func Token(secret string) func(string) Rights {
	if secret == "" {
		panic("serve: the token is empty")
	}
	return func(shown string) Rights {
		same := subtle.ConstantTimeCompare([]byte(shown), []byte(secret)) == 1
		return Rights{Hears: same, Answers: same}
	}
}

// onlyHears is the default of [Options.Allow].
func onlyHears(string) Rights { return Rights{Hears: true} }

func (o Options) withDefaults() Options {
	o.Language = cmp.Or(o.Language, "en")
	o.Subscriptions = cmp.Or(o.Subscriptions, defaultSubscriptions)
	o.History = cmp.Or(o.History, defaultHistory)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	return o
}
