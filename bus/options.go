package bus

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"strconv"
	"time"
)

const (
	defaultMaxPayload  = 512 << 10
	defaultConcurrency = 64
	defaultBacklog     = 1024
	defaultTimeout     = 30 * time.Second
)

// Options says who may use the bus and within what limits.
type Options struct {
	// Project is the project that every subject carries: one subject token. Required.
	Project string
	// Principals are those who are let in; two of one kind never share a name.
	Principals []Principal
	// Listen is a loopback address to listen on ("127.0.0.1:0" picks a port), or ""
	// for none: then the bus is reachable from this process only. Nothing but
	// loopback is taken, because the connection is not encrypted.
	Listen string
	// JetStreamDir, if not "", turns JetStream on for the kernel's account and keeps
	// its files there. Nothing of Earshot needs it.
	JetStreamDir string
	// MaxPayload is the limit of header and payload together, in bytes, for every
	// message. Default and highest value: 512 KiB.
	MaxPayload int
	// Concurrency is how many requests are handled at once. Default 64.
	Concurrency int
	// Backlog is how many requests may wait for a handler; those beyond it are
	// answered busy at once. Default 1024.
	Backlog int
	// Timeout bounds a request, or any other exchange with the server, whose context
	// has no deadline. Default 30 s.
	Timeout time.Duration
	// Rand is where passwords and inbox names come from. Default crypto/rand.
	Rand io.Reader
	// Logger takes notes without content: subjects, names and codes. Default: none.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxPayload == 0 {
		o.MaxPayload = defaultMaxPayload
	}
	if o.Concurrency == 0 {
		o.Concurrency = defaultConcurrency
	}
	if o.Backlog == 0 {
		o.Backlog = defaultBacklog
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) check() error {
	if !isToken(o.Project) {
		return invalidf("project %q is not a subject token; use 1 to %d of A-Z a-z 0-9 _ -", o.Project, maxToken)
	}
	if o.MaxPayload < 1 || o.MaxPayload > defaultMaxPayload {
		return invalidf("MaxPayload is %d; expected 1 to %d", o.MaxPayload, defaultMaxPayload)
	}
	if o.Concurrency < 1 || o.Backlog < 1 || o.Timeout < 0 {
		return invalidf("Concurrency %d, Backlog %d, Timeout %s: each has to be positive", o.Concurrency, o.Backlog, o.Timeout)
	}
	seen := make(map[Principal]bool, len(o.Principals))
	for _, p := range o.Principals {
		if err := p.check(); err != nil {
			return err
		}
		if seen[p] {
			return invalidf("principal %s is listed twice; each needs a name of its own", p)
		}
		seen[p] = true
	}
	return nil
}

// listenAddress splits Listen; port -1 stands for one that the system picks.
func (o Options) listenAddress() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return "", 0, invalidf("listen address %q: %s; expected host:port, such as 127.0.0.1:0", o.Listen, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return "", 0, invalidf("listen address %q is not loopback; the bus is not encrypted, use 127.0.0.1 or ::1", o.Listen)
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, invalidf("listen address %q: the port is not a number from 0 to 65535", o.Listen)
	}
	if number == 0 {
		return host, -1, nil
	}
	return host, int(number), nil
}
