package acp

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/gateway/permission"
	"github.com/earshot-dev/earshot/utp"
)

// Front connects an agent to its session at Earshot. Its methods are safe for concurrent use. Close it once.
type Front struct {
	agent   *Agent
	session permission.Session
	id      string // of the agent's own session

	ctx    context.Context //nolint:containedctx // the life of the front
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	queue  *queue

	mu      sync.Mutex
	machine *Machine
	news    chan struct{} // closed and replaced when the agent becomes ready, and at the end
	lastID  int
	asked   map[string]asked
	closing bool
	// cancelled is closed when the last cancellation has been sent; nil if there was none.
	cancelled <-chan struct{}

	broken chan error
	done   chan struct{} // closed once the session was ended
	end    End           // of the time when done was closed
}

// asked is a request of the agent that waits for its reply.
type asked struct {
	reply  chan string
	ctx    context.Context //nolint:containedctx // the life of the request
	cancel context.CancelFunc
}

// ErrBusy is the error of a request that comes while the agent works on another one.
var ErrBusy = errors.New("the agent is at work on another request; wait until it has finished its turn, or type stop")

// NewFront returns a front of an agent and of a session at Earshot that belongs to it.
func NewFront(a *Agent, s permission.Session, o Settings) *Front {
	f := &Front{
		agent: a, session: s, machine: NewMachine(o), queue: newQueue(), news: make(chan struct{}), asked: map[string]asked{},
		broken: make(chan error, 1), done: make(chan struct{}),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	a.listen(f.onUpdate, f.onPermission)
	f.tasks.Go(f.report)
	f.tasks.Go(func() {
		select {
		case <-a.conn.Done():
			f.onAgentEnd()
		case <-f.ctx.Done():
		}
	})
	return f
}

// Open opens the agent's own session in a folder, sets its mode, and reports it. The gateway is the command of an MCP
// server that gives the agent Earshot's tools; an empty one gives it none. Open returns an error if the agent is refused.
func (f *Front) Open(ctx context.Context, gateway []string) error {
	servers := []acp.McpServer{}
	if len(gateway) > 0 {
		servers = append(servers, acp.McpServer{Stdio: &acp.McpServerStdio{Name: "earshot", Command: gateway[0], Args: gateway[1:], Env: []acp.EnvVariable{}}})
	}
	opened, err := ask[Opened](ctx, f.agent, acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: f.agent.dir, McpServers: servers})
	if err != nil {
		return f.agent.openFailure(err)
	}
	f.mu.Lock()
	f.id = opened.Session
	f.mu.Unlock()
	f.apply(func(m *Machine) []Effect { return m.Opened(opened) })
	return f.until(ctx, (*Machine).CanPrompt)
}

// Prompt gives the agent a request, and returns when it has finished its turn or the session has ended.
func (f *Front) Prompt(ctx context.Context, text string) error {
	given := false
	f.apply(func(m *Machine) []Effect {
		if given = m.CanPrompt(); !given {
			return nil
		}
		return m.Prompt(text)
	})
	if !given {
		select {
		case <-f.done:
			return f.reason()
		default:
			return ErrBusy
		}
	}
	return f.until(ctx, func(m *Machine) bool { return !m.running && !m.ended })
}

// LastPrompt says that there is no further request: the session ends with the one that the agent works on.
func (f *Front) LastPrompt() { f.apply((*Machine).LastPrompt) }

// Stop tells the agent to stop, and reports what it had begun. It returns when that is at Earshot, or ctx is done.
func (f *Front) Stop(ctx context.Context) {
	f.apply((*Machine).Stop)
	flushed := make(chan struct{})
	f.tasks.Go(func() {
		defer close(flushed)
		f.queue.flush()
	})
	select {
	case <-flushed:
	case <-ctx.Done():
	}
}

// Stopped says that the session at Earshot has ended, without this front having ended it.
func (f *Front) Stopped() { f.apply((*Machine).Stopped) }

// Done is closed once the front has ended the session at Earshot.
func (f *Front) Done() <-chan struct{} { return f.done }

// Broken receives the reason if the session had to be ended and Earshot could not be told.
func (f *Front) Broken() <-chan error { return f.broken }

// Account says what the agent had begun when it was stopped.
func (f *Front) Account() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.machine.Account()
}

// Declined returns how many permissions were asked for and not given.
func (f *Front) Declined() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.machine.Declined()
}

// IsStopped reports whether the session was stopped, rather than ended by this front.
func (f *Front) IsStopped() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.machine.stopped
}

// lastWordTime is how long an agent that has ended its turn may take to say what has become of the calls that it had
// begun: some say so only then.
const lastWordTime = time.Second

// Rest waits, after a stop, until the agent has ended its turn, and a moment for what has become of its calls.
func (f *Front) Rest(ctx context.Context) {
	f.wait(ctx, func(m *Machine) bool { return !m.running })
	ctx, cancel := context.WithTimeout(ctx, lastWordTime)
	defer cancel()
	f.wait(ctx, (*Machine).accounted)
}

// wait waits for a state of the machine.
func (f *Front) wait(ctx context.Context, holds func(*Machine) bool) {
	for {
		f.mu.Lock()
		is, news := holds(f.machine), f.news
		f.mu.Unlock()
		if is {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends what is left: what the agent asks for is cancelled, the session at Earshot ends, and so does the agent. It
// returns why the session has ended early, if it was not a person who stopped it.
func (f *Front) Close() error {
	f.mu.Lock()
	f.closing = true
	f.mu.Unlock()
	f.apply((*Machine).Stopped)
	f.queue.close()
	f.cancel()
	f.agent.Close()
	f.tasks.Wait()
	select {
	case <-f.done:
		return f.reason()
	default:
	}
	// It ends by itself otherwise, after a day.
	ctx, cancel := context.WithTimeout(context.Background(), permission.ReportTimeout)
	defer cancel()
	_ = f.session.End(ctx, api.AgentEnd{Status: utp.StatusCanceled, Summary: "The front end has ended."})
	return nil
}

// reason returns the error of a session that has ended early.
func (f *Front) reason() error {
	if f.end.Reason == "" {
		return nil
	}
	return &cause.Error{Message: f.end.Reason, Hint: f.end.Hint}
}

// until waits for a state of the machine, or for the end of the session.
func (f *Front) until(ctx context.Context, holds func(*Machine) bool) error {
	for {
		f.mu.Lock()
		is, news := holds(f.machine), f.news
		f.mu.Unlock()
		if is {
			return nil
		}
		select {
		case <-news:
		case <-f.done:
			return f.reason()
		case <-ctx.Done():
			return context.Cause(ctx) //nolint:wrapcheck // the caller has ended it
		case <-f.ctx.Done():
			return context.Cause(f.ctx) //nolint:wrapcheck // the front was closed
		}
	}
}

// apply passes one input to the machine and carries out its effects. None of that waits.
func (f *Front) apply(input func(*Machine) []Effect) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range input(f.machine) {
		f.carryOut(e)
	}
}

func (f *Front) carryOut(e Effect) {
	switch e := e.(type) {
	case Report, Ask:
		f.queue.push(e)
	case Reply:
		f.reply(e)
	case SetMode:
		f.tasks.Go(func() { f.setMode(e) })
	case Send:
		f.tasks.Go(func() { f.send(e) })
	case Cancel:
		sent := make(chan struct{})
		f.cancelled = sent
		f.tasks.Go(func() {
			defer close(sent)
			// The agent is ended in any case.
			_ = f.agent.conn.SendNotification(context.WithoutCancel(f.ctx), acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: acp.SessionId(f.id)})
		})
	case Ready:
		f.tell()
	case End:
		f.queue.push(e)
		f.tell()
	}
}

// reply gives a request of the agent its reply, after a cancellation that goes before it.
func (f *Front) reply(e Reply) {
	a, waits := f.asked[e.Request]
	if !waits {
		return
	}
	delete(f.asked, e.Request)
	a.cancel()
	if e.Option != "" || f.cancelled == nil {
		a.reply <- e.Option
		return
	}
	sent := f.cancelled
	f.tasks.Go(func() {
		<-sent
		a.reply <- ""
	})
}

// tell wakes those who wait for a state.
func (f *Front) tell() {
	close(f.news)
	f.news = make(chan struct{})
}

func (f *Front) setMode(e SetMode) {
	var err error
	if e.Setting == "" {
		_, err = ask[struct{}](f.ctx, f.agent, acp.AgentMethodSessionSetMode, acp.SetSessionModeRequest{SessionId: acp.SessionId(f.id), ModeId: acp.SessionModeId(e.Mode)})
	} else {
		_, err = ask[struct{}](f.ctx, f.agent, acp.AgentMethodSessionSetConfigOption, map[string]any{"sessionId": f.id, "configId": e.Setting, "value": e.Mode})
	}
	if hasAgentEnded(err) {
		return
	}
	f.apply(func(m *Machine) []Effect { return m.ModeSet(e.Mode, err) })
}

func (f *Front) send(e Send) {
	answer, err := ask[acp.PromptResponse](f.ctx, f.agent, acp.AgentMethodSessionPrompt, acp.PromptRequest{
		SessionId: acp.SessionId(f.id), Prompt: []acp.ContentBlock{acp.TextBlock(e.Text)},
	})
	if hasAgentEnded(err) {
		return
	}
	f.apply(func(m *Machine) []Effect {
		effects := m.Rested(string(answer.StopReason), err)
		f.tell()
		return effects
	})
}

// hasAgentEnded reports whether a request has failed because the agent has ended, which is processed elsewhere.
func hasAgentEnded(err error) bool {
	_, is := errors.AsType[*endedError](err)
	return is || errors.Is(err, context.Canceled)
}

func (f *Front) onAgentEnd() {
	how := f.agent.how()
	f.apply(func(m *Machine) []Effect {
		if f.closing {
			return nil
		}
		return m.AgentEnded(how)
	})
}

func (f *Front) onUpdate(params jsontext.Value) {
	f.apply(func(m *Machine) []Effect {
		effects := m.Update(params)
		if m.stopped {
			f.tell()
		}
		return effects
	})
	f.queue.room()
}

// onPermission returns the option that was selected for a request of the agent; "" is none.
func (f *Front) onPermission(ctx context.Context, params jsontext.Value) string {
	a := asked{reply: make(chan string, 1)}
	a.ctx, a.cancel = context.WithCancel(f.ctx)
	defer a.cancel()
	f.mu.Lock()
	f.lastID++
	id := strconv.Itoa(f.lastID)
	f.asked[id] = a
	f.mu.Unlock()
	f.apply(func(m *Machine) []Effect { return m.Permission(id, params) })
	select {
	case option := <-a.reply:
		return option
	case <-ctx.Done(): // the agent no longer waits
	case <-f.ctx.Done():
	}
	f.apply(func(m *Machine) []Effect { return m.Answered(id, hook.Answer{}) })
	return ""
}

// report sends the queue to the server.
func (f *Front) report() {
	for {
		e, more := f.queue.take()
		if !more {
			return
		}
		switch e := e.(type) {
		case Report:
			if err := f.session.Report(f.ctx, e.AgentReport); err != nil {
				f.onFailure(err)
			}
		case Ask:
			f.tasks.Go(func() { f.askPerson(e) })
		case End:
			f.endSession(e)
		case Reply, SetMode, Send, Cancel, Ready: // they do not go to the server
		}
	}
}

// onFailure processes a failure of the server.
func (f *Front) onFailure(err error) {
	if hasEnded(err) {
		f.Stopped()
		return
	}
	f.apply(func(m *Machine) []Effect { return m.Lost(cause.Of(err)) })
}

// askPerson asks for a permission, unless the request was withdrawn meanwhile.
func (f *Front) askPerson(e Ask) {
	f.mu.Lock()
	a, waits := f.asked[e.Request]
	f.mu.Unlock()
	if !waits {
		return
	}
	answer, err := permission.Request(a.ctx, f.session, e.Permission)
	failed := err != nil && a.ctx.Err() == nil
	if err != nil {
		answer = permission.Refused(a.ctx, err)
	}
	f.apply(func(m *Machine) []Effect { return m.Answered(e.Request, answer) })
	if failed {
		f.onFailure(err)
	}
}

// endSession ends the session at Earshot.
func (f *Front) endSession(e End) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), permission.ReportTimeout)
	defer cancel()
	err := f.session.End(ctx, e.Result)
	f.end = e
	if err != nil && !hasEnded(err) {
		f.broken <- f.reason() // nobody is told by an event
	}
	close(f.done)
}

// hasEnded reports whether a request has failed because the session has ended.
func hasEnded(err error) bool {
	e, is := errors.AsType[*client.Error](err)
	return is && (e.Stopped || e.Ended)
}
