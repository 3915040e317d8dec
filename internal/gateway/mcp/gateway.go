package mcp

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
)

// Agent is an agent at Earshot. [Client] implements it.
type Agent interface {
	Tools(ctx context.Context) ([]api.AgentTool, error)
	Open(ctx context.Context, q api.AgentOpen) (Session, error)
}

// Session is an agent's session. Its methods are those of [client.AgentSession].
type Session interface {
	Invoke(ctx context.Context, q api.AgentInvoke, wait time.Duration) (api.AgentCall, error)
	Question(ctx context.Context, q api.AgentQuestion, wait time.Duration) (api.AgentCall, error)
	Wait(ctx context.Context, call string, wait time.Duration) (api.AgentCall, error)
	Received(ctx context.Context, call string) error
	Report(ctx context.Context, q api.AgentReport) error
	End(ctx context.Context, q api.AgentEnd) error
}

// Options configure a gateway. Dial is required.
type Options struct {
	// Dial connects to Earshot as the agent for the host. It gets the host's own name.
	Dial func(ctx context.Context, host string) (Agent, error)
	// Key identifies the host's own session, for example by its process. A gateway continues the session at Earshot
	// that was opened with the same key. Holder identifies this process. Without a key each gateway has a session of
	// its own.
	Key, Holder string
	// Label describes in a few words what the host works on.
	Label string
	// Wall is the time after which an open call is answered; default 240 s. It must be less than the host's own
	// timeout.
	Wall time.Duration
	// ProgressInterval is the interval of progress notifications, if the host wants them; default 15 s.
	ProgressInterval time.Duration
	// Idle is the time without a call after which the session ends; default one hour.
	Idle time.Duration
	// Where returns the address that a host shows to a person who has a question to answer, if the host can; "" if it
	// is not known. The host learns it, so it must not contain a secret. Without it, nothing is shown. It has no effect
	// for hosts that connect by HTTP, which cannot be asked.
	Where   func() string
	Version string
	Logger  *slog.Logger
}

const (
	defaultWall             = 240 * time.Second
	defaultProgressInterval = 15 * time.Second
	// firstWait is how long the first request for a call waits: by then a fast call has its result, and for a slow one
	// it is known what it waits for.
	firstWait = 2 * time.Second
	// longestWait is how long each further request waits.
	longestWait = 60 * time.Second
	// pause is the delay before a retry after the server was lost.
	pause = time.Second
	// pollInterval is the interval of checks for changed tools.
	pollInterval = time.Minute
	// presence is how long the gateway may be silent until it counts as gone.
	presence = 90 * time.Second
	// goodbye is the timeout for ending the session.
	goodbye = 2 * time.Second
)

// Gateway is an MCP server for one host. Create it with [New], and serve with [Gateway.Run]; [HTTP] has one for each
// host that connects by HTTP.
type Gateway struct {
	o     Options
	tools *toolset
	// receipts are the results that are being sent to the host. A call waits until their receipt is known: otherwise
	// the same call again could return such a result a second time.
	receipts receipts
	pointers pointers

	mu      sync.Mutex
	session Session
	opened  int             // the number of sessions under the key so far
	open    map[string]bool // calls without a result that the host has requested, by id or by the number of the request
	asked   int             // requests for calls
}

// New creates a gateway.
func New(o Options) *Gateway {
	o = o.complete()
	g := &Gateway{o: o, open: map[string]bool{}}
	g.tools = newToolset(o, func(context.Context) *Gateway { return g })
	return g
}

func (o Options) complete() Options {
	o.Wall, o.ProgressInterval = cmp.Or(o.Wall, defaultWall), cmp.Or(o.ProgressInterval, defaultProgressInterval)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// instructions are for the host's model.
const instructions = "Calls of these tools go through Earshot: a person may be asked first, which can take minutes. A call that is still open is answered " +
	"with its call_id; wait for it with earshot_wait. If a person says no, do not try to get the same done in another way."

// RunStdio serves the host that started this process, on standard input and output.
func (g *Gateway) RunStdio(ctx context.Context) error { return g.Run(ctx, &sdk.StdioTransport{}) }

// Run serves one host until it disconnects or the context ends. Then it ends the session, unless a call is open: the
// host may start another gateway, which joins the call, and a person can answer meanwhile.
func (g *Gateway) Run(ctx context.Context, t sdk.Transport) error {
	watching, quiet := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() { g.tools.watch(watching) })
	owned.Go(func() { g.stay(watching) })
	err := g.tools.server.Run(ctx, acknowledging{t, g})
	quiet()
	owned.Wait()
	g.pointers.close()
	g.mu.Lock()
	leaves := len(g.open) > 0
	g.mu.Unlock()
	if !leaves {
		g.end(ctx)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		return nil // the host has disconnected, or the context has ended
	}
	return err //nolint:wrapcheck // it says itself what it is about
}

// stay reports from time to time that the gateway is there. Otherwise the session of one that was killed would last for an hour more.
func (g *Gateway) stay(ctx context.Context) {
	ticker := time.NewTicker(presence / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		g.mu.Lock()
		session := g.session
		g.mu.Unlock()
		if session == nil {
			continue
		}
		if err := session.Report(ctx, api.AgentReport{Lease: int(presence / time.Second)}); err != nil {
			g.o.Logger.Debug("that the gateway is there is not noted", "reason", err)
		}
	}
}

// end ends the session, if there is one.
func (g *Gateway) end(ctx context.Context) {
	g.mu.Lock()
	session := g.session
	g.mu.Unlock()
	if session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if err := session.End(ctx, api.AgentEnd{}); err != nil {
		g.o.Logger.Info("the session is not ended", "reason", err)
	}
}

// at returns the session, and opens it if there is none.
func (g *Gateway) at(ctx context.Context) (Session, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.session != nil {
		return g.session, nil
	}
	agent := g.tools.known()
	if agent == nil {
		return nil, errors.New("mcp: a call came before the tools were known")
	}
	q := api.AgentOpen{Label: g.o.Label, Holder: g.o.Holder, Idle: int(g.o.Idle / time.Second)}
	if g.o.Key != "" {
		q.Key = keyFor(g.o.Key, g.opened)
	}
	session, err := agent.Open(ctx, q)
	if err == nil {
		g.session = session
	}
	return session, err
}

// requested records that a call was requested, whose id is not known yet.
func (g *Gateway) requested() (request string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked++
	request = "request " + strconv.Itoa(g.asked)
	g.open[request] = true
	return request
}

// forget removes a request: its call is known, or there is none.
func (g *Gateway) forget(request string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, request)
}

// stands records whether a call is open.
func (g *Gateway) stands(request string, c api.AgentCall) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, request)
	if c.Ended() {
		delete(g.open, c.ID)
	} else {
		g.open[c.ID] = true
	}
}

// ended forgets a session that has ended by itself: the next call opens another one.
func (g *Gateway) ended(session Session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.session == session {
		g.session = nil
		g.opened++
		clear(g.open)
	}
}
