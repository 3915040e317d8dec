package subscriber

import (
	"cmp"
	"fmt"
	"net"
	"time"

	"github.com/earshot-dev/earshot/aaep/conform/report"
)

const (
	defaultAddress = "127.0.0.1:0"
	defaultLength  = 5 * time.Minute
	// settle is how long the connection must hold after what has to be borne.
	settle = 500 * time.Millisecond
	// inFlight is how long after the end of a question, or of a subscription, a reply may come that was under way.
	inFlight = 2 * time.Second
	// patience is how long a subscriber may take to come back, and to leave when it is stopped.
	patience = 15 * time.Second
	// lastWords is how long a subscriber that has left is listened to.
	lastWords = 5 * time.Second
	// defaultBurst and maxBurst are how many events come at once where no rate was agreed, and at most.
	defaultBurst, maxBurst = 20, 1000
	// maxSkew is how far its clock may be off.
	maxSkew = time.Minute
)

// Options say how a subscriber is judged. The zero value is good.
type Options struct {
	// Address to listen at; default a free port of 127.0.0.1. There is no authentication: keep it on the loopback.
	Address string
	// Listener is used instead of Address, if it is set. Judge closes it.
	Listener net.Listener
	// Socket is the path of a Unix socket to listen at too; "" is none.
	Socket string
	// SocketListener is used instead of Socket, if it is set. Judge closes it.
	SocketListener net.Listener
	// Level is the level of conformance that is expected, 1 to 3; default 3.
	Level int
	// Person says that somebody, or something in their place, answers each question as its text says.
	Person bool
	// For is how long it takes at most; default 5 minutes.
	For time.Duration
	// Now is the clock; default time.Now.
	Now func() time.Time
	// Ready is called once, with the http address that the subscriber is to connect to.
	Ready func(url string)
	// Stop is called once when the script is over: the subscriber is to be stopped then, and has to say so (HS-71).
	Stop func()
}

// checked returns the options with their defaults.
func (o Options) checked() (Options, error) {
	o.Address, o.Level, o.For = cmp.Or(o.Address, defaultAddress), cmp.Or(o.Level, 3), cmp.Or(o.For, defaultLength)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ready == nil {
		o.Ready = func(string) {}
	}
	if o.Stop == nil {
		o.Stop = func() {}
	}
	switch {
	case o.Level < 1 || o.Level > 3:
		return o, report.Misuse(fmt.Sprintf("the level is %d, expected 1, 2 or 3", o.Level), "level 3 has the rules of all three")
	case o.For < 0:
		return o, report.Misuse("the time for the script is negative", "")
	}
	return o, nil
}
