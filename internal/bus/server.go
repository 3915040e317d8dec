package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"

	"github.com/nats-io/nats.go"
)

// Server is the embedded bus of one project. It is safe for concurrent use.
type Server struct {
	options Options
	host    *host
	own     bool          // the host ends with this bus
	known   []Credentials // those admitted besides the options' principals; locked with the host's changes

	mu     sync.Mutex
	plan   *plan
	closed bool
	open   map[closer]struct{} // kernels and clients
	dials  sync.WaitGroup      // dials in progress
	done   chan struct{}
}

type closer interface{ Close() }

// Start starts the bus and returns when it accepts connections. The context limits the start only; Close ends the bus.
// Errors are of type *Error: invalid for options, failed for a listener or a store that could not be opened.
func Start(ctx context.Context, o Options) (*Server, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, wireError("start", false, err)
	}
	p, err := newPlan(o, nil)
	if err != nil {
		return nil, err
	}
	settings, err := serverOptions(o, p)
	if err != nil {
		return nil, err
	}
	s := newServer(o, p)
	s.host, s.own = &host{options: o, buses: []*Server{s}}, true
	if err := s.host.run(settings, p.kernel.Name); err != nil {
		return nil, err
	}
	if err := s.answerable(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// answerable makes the first request of all, before anybody else can. For it the server draws the subject of the kernel's answers, and
// listens there a moment later: a request that came in between would be served, and its answer lost. An error closes the bus.
func (s *Server) answerable(ctx context.Context) error {
	ctx, cancel := bounded(ctx, defaultTimeout)
	defer cancel()
	c, err := s.dial(ctx, s.now().first)
	if err != nil {
		s.Close()
		return err
	}
	defer c.close()
	if _, sent, err := c.request(ctx, firstSubject(s.options.Project), nil); err != nil && !errors.Is(err, nats.ErrNoResponders) {
		s.Close()
		return wireError("start", sent, err)
	}
	return nil
}

func newServer(o Options, p *plan) *Server {
	return &Server{options: o, known: o.Known, plan: p, open: map[closer]struct{}{}, done: make(chan struct{})}
}

// URL returns where the bus listens, or "" if it does not.
func (s *Server) URL() string { return s.host.url }

// Credentials returns what another process needs to act as p. Error: not_allowed if p is not one of the principals.
func (s *Server) Credentials(p Principal) (Credentials, error) {
	c, ok := s.now().principals[p]
	if !ok {
		return Credentials{}, &Error{
			Code:    CodeNotAllowed,
			Message: fmt.Sprintf("%s is not on the list of principals; add it to the options", p),
		}
	}
	c.URL = s.host.url
	return c, nil
}

// KernelCredentials returns what another process needs to be a further kernel. Error: not_allowed unless
// Options.Kernels is set.
func (s *Server) KernelCredentials() (KernelCredentials, error) {
	if !s.options.Kernels {
		return KernelCredentials{}, &Error{Code: CodeNotAllowed, Message: "kernels of other processes are not let in; set Kernels in the options"}
	}
	c := s.kernelLogins()
	c.URL = s.host.url
	return c, nil
}

// kernelLogins returns those of a kernel of this process.
func (s *Server) kernelLogins() KernelCredentials {
	p := s.now()
	return KernelCredentials{
		Project: s.options.Project, MaxPayload: s.options.MaxPayload, Events: s.options.Events, Responder: p.responder, Publisher: p.publisher,
	}
}

// Kernel opens the kernel's two connections: one answers requests, one publishes.
func (s *Server) Kernel(ctx context.Context) (*Kernel, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.dials.Done()
	k, err := openKernel(ctx, s.kernelLogins(), s.options, s.dial)
	if err != nil {
		return nil, err
	}
	k.release = func() { s.release(k) }
	account, err := s.host.nats.LookupAccount(s.now().kernel.Name)
	if err != nil { // it was created with the server
		k.Close()
		return nil, &Error{Code: CodeFailed, Message: "the kernel's account is not there: " + err.Error(), Err: err}
	}
	k.interest = account.Interest
	s.adopt(k)
	return k, nil
}

// Connect opens the connections of a principal within this process.
func (s *Server) Connect(ctx context.Context, p Principal) (*Client, error) {
	credentials, err := s.Credentials(p)
	if err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.dials.Done()
	c, err := connect(ctx, credentials, s.options.Timeout, s.options.Logger, s.dial)
	if err != nil {
		return nil, err
	}
	c.release = func() { s.release(c) }
	s.adopt(c)
	return c, nil
}

func (s *Server) dial(ctx context.Context, l Login) (*conn, error) {
	s.host.changing.RLock()
	defer s.host.changing.RUnlock()
	return dial(ctx, l, s.options.Timeout, s.options.Logger, nats.InProcessServer(s.host.nats), nats.MaxReconnects(-1), nats.ReconnectWait(backAgain))
}

// enter delays Close until the caller has called Done: a connection to a server that is stopping would hang until its
// timeout.
func (s *Server) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &Error{Code: CodeClosed, Message: "the bus is closed"}
	}
	s.dials.Add(1)
	return nil
}

// adopt makes Close close c.
func (s *Server) adopt(c closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[c] = struct{}{}
}

func (s *Server) release(c closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// Close stops accepting requests, waits for the running handlers and sends their answers. It then closes every
// connection of this process, stops the server, or removes its project from one that others share, and returns when its last goroutine has ended. To make the handlers
// stop sooner, cancel the context passed to Serve first. Close may be called more than once.
func (s *Server) Close() {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		<-s.done
		return
	}
	s.dials.Wait()
	s.mu.Lock()
	open := maps.Clone(s.open)
	s.mu.Unlock()
	// Kernels first: callers that wait for an answer still have a connection.
	for c := range open {
		if _, ok := c.(*Kernel); ok {
			c.Close()
			delete(open, c)
		}
	}
	for c := range open {
		if client, ok := c.(*Client); ok {
			client.receive()
		}
		c.Close()
	}
	s.host.leave(s)
	close(s.done)
}
