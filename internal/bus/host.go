package bus

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// host is the message server. The buses of several projects share one: each has accounts of its own, and nothing is exported from those of
// one project to those of another.
type host struct {
	options Options // those of the bus that started it: where it listens, and its limits
	nats    *server.Server
	url     string

	// changing is locked while who is admitted changes, and for reading while somebody of this process connects: a server that applies
	// its settings closes connections that have not said yet who they are.
	changing sync.RWMutex
	buses    []*Server
	ended    bool
}

// Share adds the bus of a further project to the message server of this one. It ends with its own Close, and at the latest with that of
// this bus. Its options say who may use it; where the server listens, and its limits, are those of this bus.
//
// Errors: invalid for options, for a project that is there already, and if JetStream is on; closed; failed.
func (s *Server) Share(ctx context.Context, o Options) (*Server, error) {
	o.Listen, o.MaxPayload, o.JetStreamDir = s.options.Listen, s.options.MaxPayload, s.options.JetStreamDir
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	if o.JetStreamDir != "" {
		return nil, invalidf("projects cannot be added while JetStream is on")
	}
	if err := ctx.Err(); err != nil {
		return nil, wireError("share", false, err)
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.dials.Done()
	further := newServer(o, nil)
	further.host = s.host
	if err := s.host.add(further); err != nil {
		return nil, err
	}
	if err := further.answerable(ctx); err != nil {
		return nil, err
	}
	return further, nil
}

// add admits a further project.
func (h *host) add(s *Server) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	if slices.ContainsFunc(h.buses, func(other *Server) bool { return other.options.Project == s.options.Project }) {
		return invalidf("there is a bus of the project %q already", s.options.Project)
	}
	h.buses = append(h.buses, s)
	err := h.reload()
	if err == nil {
		err = h.reload() // the server only starts the imports of accounts that it knew before
	}
	if err != nil {
		h.buses = slices.DeleteFunc(h.buses, func(other *Server) bool { return other == s })
	}
	return err
}

// admit changes who may use the bus of one project.
func (h *host) admit(s *Server, known []Credentials) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	if h.ended {
		return errClosed("admit")
	}
	before, was := s.known, s.now()
	s.known = known
	err := h.reload()
	if err == nil && s.now().adds(was) {
		err = h.reload() // as in add: imports of a new account start with the second
	}
	if err != nil {
		s.known = before
	}
	return err
}

// leave ends the server with the bus that started it, and otherwise cuts off the principals of one project.
func (h *host) leave(s *Server) {
	h.changing.Lock()
	defer h.changing.Unlock()
	switch {
	case s.own: // Close of the others has nothing left to do here
		h.ended = true
		h.nats.Shutdown()
		h.nats.WaitForShutdown()
	case !h.ended:
		h.buses = slices.DeleteFunc(h.buses, func(other *Server) bool { return other == s })
		if err := h.reload(); err != nil {
			s.options.Logger.Error("bus: a project that has ended is still admitted", "project", s.options.Project, "error", err)
		}
	}
}

// reload makes the server apply the plans of all projects, as at a start, and check every connection again. It needs changing.
func (h *host) reload() error {
	plans := make([]*plan, 0, len(h.buses))
	for _, s := range h.buses {
		var existing map[string]Login
		if before := s.now(); before != nil {
			existing = before.existing
		}
		o := s.options
		o.Known = s.known
		p, err := newPlan(o, existing)
		if err != nil {
			return err
		}
		plans = append(plans, p)
	}
	settings, err := serverOptions(h.options, plans...)
	if err != nil {
		return err
	}
	if err := h.nats.ReloadOptions(settings); err != nil {
		return &Error{Code: CodeFailed, Message: "the embedded server refuses its new settings: " + err.Error(), Err: err}
	}
	for n, s := range h.buses {
		s.apply(plans[n])
	}
	return nil
}

// signInTime is the authentication timeout of a connection, in seconds, the same as the client's dial timeout. With the
// library's default of 2 s, the server would permanently reject a process that a loaded machine has not scheduled. All
// connections come over the loopback.
const signInTime = float64(defaultTimeout / time.Second)

// stallTime is how long a connection may stall before it is closed. With the library's default of 10 s, a machine that
// was suspended for that long would lose messages.
const stallTime = time.Minute

// backAgain is the delay before a connection of this process is opened again.
const backAgain = 100 * time.Millisecond

func serverOptions(o Options, plans ...*plan) (*server.Options, error) {
	settings := &server.Options{
		ServerName:      "earshot",
		DontListen:      o.Listen == "",
		NoSigs:          true,
		NoSystemAccount: true,
		AuthTimeout:     signInTime,
		WriteDeadline:   stallTime,
		MaxPayload:      int32(o.MaxPayload),
		JetStream:       o.JetStreamDir != "",
		StoreDir:        o.JetStreamDir,
	}
	for _, p := range plans {
		settings.Accounts, settings.Users = append(settings.Accounts, p.accounts...), append(settings.Users, p.users...)
	}
	if o.Listen == "" {
		return settings, nil
	}
	var err error
	settings.Host, settings.Port, err = o.listenAddress()
	return settings, err
}

func (h *host) run(settings *server.Options, kernel string) error {
	ns, err := server.NewServer(settings)
	if err != nil {
		return &Error{Code: CodeFailed, Message: "the embedded server refuses its settings: " + err.Error(), Err: err}
	}
	log := &serverLog{log: h.options.Logger}
	ns.SetLogger(log, false, false)
	ns.Start()
	if err := h.ready(ns, log, kernel); err != nil {
		ns.Shutdown()
		ns.WaitForShutdown()
		return err
	}
	h.nats = ns
	return nil
}

// ready completes a start: Start of the server has returned, so all that can fail has.
func (h *host) ready(ns *server.Server, log *serverLog, kernel string) error {
	if reason := log.failure(); reason != "" {
		return &Error{Code: CodeFailed, Message: "the embedded server did not start: " + reason}
	}
	if h.options.Listen != "" {
		address, ok := ns.Addr().(*net.TCPAddr)
		if !ok {
			return &Error{Code: CodeFailed, Message: "the embedded server does not listen on " + h.options.Listen}
		}
		h.url = "nats://" + address.String()
	}
	if h.options.JetStreamDir == "" {
		return nil
	}
	account, err := ns.LookupAccount(kernel)
	if err == nil {
		err = account.EnableJetStream(nil, nil)
	}
	if err != nil {
		return &Error{Code: CodeFailed, Message: "JetStream in " + h.options.JetStreamDir + ": " + err.Error(), Err: err}
	}
	return nil
}
