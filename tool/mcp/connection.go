package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool"
)

// link is what carries the messages: a program's pipes, or HTTP.
type link interface {
	transport() mcp.Transport
	// end ends it, and returns once nothing of it is left.
	end()
	// ending says how it ended, where that is known; else "".
	ending() string
	// written is how many bytes were given to it, of all calls together.
	written() int64
}

// connection is one session with a server.
type connection struct {
	session  *mcp.ClientSession
	link     link
	redactor *redactor
	calls    string // what the server calls itself
	version  string
	// announces: the server has said that it tells when its tools change. Else they are listed again before each call.
	announces bool
	changed   chan struct{} // of one place: the tools are to be listed
	stale     atomic.Bool   // they have changed since they were listed last
	ended     chan struct{} // closed when the session has ended
	broken    error         // once gone is closed

	mu      sync.Mutex
	known   map[string]string  // the digest of each tool's definition, by the server's own name
	running map[string]*flight // by progress token
}

// connect starts a session.
func (s *Server) connect(ctx context.Context) (*connection, error) {
	secrets, err := s.c.Secrets.Open(s.o.LookupEnv, s.c.used())
	if err != nil {
		return nil, fmt.Errorf("it was not started: %w", err)
	}
	c := &connection{
		redactor: newRedactor(secrets), changed: make(chan struct{}, 1), ended: make(chan struct{}), running: map[string]*flight{},
	}
	if c.link, err = s.open(secrets, c.redactor); err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "earshot", Version: s.o.Version}, &mcp.ClientOptions{
		Capabilities:                s.c.capabilities(),
		ElicitationHandler:          c.elicited,
		ToolListChangedHandler:      func(context.Context, *mcp.ToolListChangedRequest) { c.change() },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { c.progress(r.Params) },
	})
	client.AddRoots(s.c.roots()...) //nolint:staticcheck // servers of today ask for them; deprecated is not removed
	client.AddSendingMiddleware(askAgain)
	c.session, err = client.Connect(ctx, c.link.transport(), nil)
	if err != nil {
		c.link.end()
		return nil, c.notStarted(ctx, err)
	}
	go func() {
		c.broken = c.session.Wait()
		close(c.ended)
	}()
	c.calls = s.name
	if r := c.session.InitializeResult(); r != nil {
		if r.ServerInfo != nil {
			c.calls, c.version = r.ServerInfo.Name, r.ServerInfo.Version
		}
		c.announces = r.Capabilities != nil && r.Capabilities.Tools != nil && r.Capabilities.Tools.ListChanged
	}
	return c, nil
}

// askAgain has a list of tools be asked for each time: how long it holds is not the server's to say.
func askAgain(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		if list, is := result.(*mcp.ListToolsResult); is && list != nil {
			list.TTLMs = 0
		}
		return result, err
	}
}

func (s *Server) open(secrets map[string]string, r *redactor) (link, error) {
	if s.c.URL != "" {
		return s.openHTTP(secrets, r), nil
	}
	p, err := s.start(secrets)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// notStarted says why there is no session.
func (c *connection) notStarted(ctx context.Context, err error) error {
	if need, is := errors.AsType[*LoginError](err); is {
		return need
	}
	why := string(c.redactor.Text([]byte(cause.Of(err))))
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "it had not answered in time"
	}
	if how := c.link.ending(); how != "" {
		why += "; " + string(c.redactor.Text([]byte(how)))
	}
	return errors.New("it did not start: " + why)
}

// ending says why a session that was at work has ended.
func (c *connection) ending() error {
	c.link.end()
	how := ""
	if c.broken != nil && !errors.Is(c.broken, io.EOF) {
		how = cause.Of(c.broken)
	}
	if how == "" {
		how = c.link.ending()
	}
	if how == "" {
		how = "it closed the connection"
	}
	return errors.New("it ended: " + string(c.redactor.Text([]byte(how))))
}

// close ends the session and all that belongs to it.
func (c *connection) close() {
	c.link.end()
	_ = c.session.Close() // there is nobody left to speak to
	<-c.ended
}

func (c *connection) change() {
	c.stale.Store(true)
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// know keeps what was offered.
func (c *connection) know(tools []offered) {
	known := make(map[string]string, len(tools))
	for _, t := range tools {
		known[t.upstream] = t.digest
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = known
}

// flight is a call under way.
type flight struct {
	call  *tool.Call
	life  context.Context //nolint:containedctx // it is the call's own life, and the server's questions come by another way
	limit *time.Timer     // ends the call for its time
	time  time.Duration   // how long that is
	asks  sync.Mutex      // held while the person is asked

	mu      sync.Mutex
	unasked []string // what the server has asked for, and nobody was asked
}

func (c *connection) add(token string, f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[token] = f
}

func (c *connection) drop(token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, token)
}

// progress passes on how far a call is, where the server says of how much, and its words.
func (c *connection) progress(p *mcp.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string) // ours are strings
	c.mu.Lock()
	f := c.running[token]
	c.mu.Unlock()
	if f == nil {
		return
	}
	if p.Total > 0 {
		f.call.Progress(p.Progress / p.Total)
	}
	f.call.Doing(string(c.redactor.Text([]byte(p.Message))))
}

// flightKey is where the context of a call has it.
type flightKey struct{}

// elicited puts what the server asks to the person, as a question in the middle of the call that it is about. It is information for
// the server: what the call may do was asked for before, and no answer to this allows another one.
func (c *connection) elicited(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	f := c.asking(ctx)
	message := tool.Readable(string(c.redactor.Text([]byte(r.Params.Message))))
	if f == nil { // it is not known for whom it asks
		return &mcp.ElicitResult{Action: actionCancel}, nil
	}
	asked, err := formOf(message, r.Params.RequestedSchema)
	var result *mcp.ElicitResult
	switch {
	case r.Params.Mode == "url":
		err = errors.New("it asks to open an address")
	case err == nil:
		result, err = asked.fill(ctx, f.ask)
	}
	if err == nil {
		return result, nil
	}
	f.mu.Lock()
	f.unasked = append(f.unasked, message)
	f.mu.Unlock()
	return &mcp.ElicitResult{Action: actionCancel}, nil
}

// asking is the call in the middle of which the server asks; nil where that cannot be known.
func (c *connection) asking(ctx context.Context) *flight {
	if f, known := ctx.Value(flightKey{}).(*flight); known {
		return f
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.running) != 1 { // else it is not said which of them asks
		return nil
	}
	for _, f := range c.running {
		return f
	}
	return nil
}

// ask asks the person, as long as the call goes on. The time that they take is not the call's.
func (f *flight) ask(ctx context.Context, q api.Question) (api.Answered, error) {
	f.asks.Lock() // one question of a call after the other
	defer f.asks.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(f.life, func() { cancel(context.Cause(f.life)) })()
	f.limit.Stop()
	defer f.limit.Reset(f.time)
	return f.call.Ask(ctx, q)
}
