package bus

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"time"
)

const (
	defaultMaxPayload  = 512 << 10
	defaultConcurrency = 64
	defaultBacklog     = 1024
	defaultTimeout     = 30 * time.Second
	minKey             = 32
)

// Options configure who may use the bus and within what limits.
type Options struct {
	// Project is the project that every subject carries: one subject token. Required.
	Project string
	// Principals are admitted. Two of one kind must not share a name. A third-party peer must not share one with an
	// agent or a tool, whose messages it would receive.
	Principals []Principal
	// Known are admitted principals with existing secrets: those whose processes outlive this bus, see
	// [NewCredentials].
	Known []Credentials
	// Listen is a loopback address to listen on ("127.0.0.1:0" picks a port). If "", the bus is reachable from this
	// process only. Only loopback is accepted, because the connection is not encrypted.
	Listen string
	// Kernels admits kernels of other processes if the bus listens, see [Server.KernelCredentials]. Otherwise the
	// kernel's credentials work only inside this process.
	Kernels bool
	// Events lets the kernel publish the events of agents: what each does (evt.agent.*), and what it writes (str.agent.*). They
	// reach the principals of kind Operator, see [Client.AgentEvents], and nobody else.
	Events bool
	// Key, if not empty, is the secret from which the passwords are derived: at least 32 bytes. A bus that is restarted
	// with the same key accepts the same credentials.
	Key []byte
	// JetStreamDir, if not "", turns JetStream on for the kernel's account and stores its files there. Earshot does not
	// need it.
	JetStreamDir string
	// MaxPayload is the limit of header and payload together, in bytes, for every message. Default and maximum: 512
	// KiB.
	MaxPayload int
	// Concurrency is how many requests are handled concurrently. Default 64.
	Concurrency int
	// Backlog is how many requests may wait for a handler; three quarters of them may be of one principal. Requests
	// beyond that are answered with busy at once. Default 1024.
	Backlog int
	// Timeout limits a request, or any other exchange with the server, whose context has no deadline. Default 30 s.
	Timeout time.Duration
	// Rand is the source of passwords and inbox names. Default crypto/rand.
	Rand io.Reader
	// Logger receives log entries without content: subjects, names and codes. Default: none.
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
	if len(o.Key) > 0 && len(o.Key) < minKey {
		return invalidf("Key has %d bytes; expected none or at least %d", len(o.Key), minKey)
	}
	if o.Kernels && o.Listen == "" {
		return invalidf("Kernels of other processes are to be let in, but the bus does not listen; set Listen")
	}
	if o.MaxPayload < 1 || o.MaxPayload > defaultMaxPayload {
		return invalidf("MaxPayload is %d; expected 1 to %d", o.MaxPayload, defaultMaxPayload)
	}
	if o.Concurrency < 1 || o.Backlog < 1 || o.Timeout < 0 {
		return invalidf("Concurrency %d, Backlog %d, Timeout %s: each has to be positive", o.Concurrency, o.Backlog, o.Timeout)
	}
	seen := make(map[Principal]bool, len(o.Principals)+len(o.Known))
	all := slices.Clone(o.Principals)
	for _, c := range o.Known {
		if err := c.check(o.Project); err != nil {
			return err
		}
		all = append(all, c.Principal)
	}
	for _, p := range all {
		if err := p.check(); err != nil {
			return err
		}
		if seen[p] {
			return invalidf("principal %s is listed twice; each needs a name of its own", p)
		}
		seen[p] = true
	}
	for p := range seen {
		if p.Kind == External && (seen[Principal{Kind: Agent, Name: p.Name}] || seen[Principal{Kind: Tool, Name: p.Name}]) {
			return invalidf("the foreign peer %q has the name of an agent or a tool, and would hear its messages; it needs one of its own", p.Name)
		}
	}
	return nil
}

// listenAddress splits Listen; port -1 means that the system picks one.
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
