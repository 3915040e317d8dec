package acp

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/coder/acp-go-sdk"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/program"
)

// Agent is an agent that was started, and the connection to it. Use [Start] or [Connect] to create one.
type Agent struct {
	// Name is what it calls itself, Title is for people.
	Name, Title string

	command string // for messages
	dir     string
	logins  []login
	conn    *acp.Connection
	process *program.Piped // nil if it is not ours
	close   func()

	mu     sync.Mutex
	update func(params jsontext.Value)
	asked  func(ctx context.Context, params jsontext.Value) string
}

// login is a way to log in to an agent.
type login struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// hello is an agent's answer to initialize.
type hello struct {
	Version int `json:"protocolVersion"`
	Info    struct {
		Name  string `json:"name"`
		Title string `json:"title"`
	} `json:"agentInfo"`
	Logins []login `json:"authMethods"`
}

// Start starts an agent's program. The agent belongs to the caller, who has to close it.
func Start(ctx context.Context, c Command, version string) (*Agent, error) {
	p, err := start(c)
	if err != nil {
		return nil, cause.Fail(err, "the agent "+cause.Quoted(c.Args[0])+" could not be started", "see that the command is right, for example earshot acp -- gemini --acp")
	}
	a := &Agent{command: c.Args[0], dir: c.Dir, process: p, close: p.End}
	err = a.connect(ctx, p.Stdin, p.Stdout, version)
	return a, err
}

// Connect connects to an agent that runs already. Close ends the connection.
func Connect(ctx context.Context, name, dir string, to io.WriteCloser, from io.ReadCloser) (*Agent, error) {
	a := &Agent{command: name, dir: dir, close: func() { _, _ = to.Close(), from.Close() }}
	err := a.connect(ctx, to, from, "")
	return a, err
}

// connect opens the connection and exchanges versions. After an error, the agent is closed.
func (a *Agent) connect(ctx context.Context, to io.Writer, from io.Reader, version string) error {
	t := newTap(from, a.onUpdate)
	a.conn = acp.NewConnection(a.handle, to, t)
	a.conn.SetLogger(slog.New(slog.DiscardHandler)) // it would write the person's data to standard error
	close(t.opened)
	h, err := ask[hello](ctx, a, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber, ClientInfo: &acp.Implementation{Name: "earshot", Version: version},
	})
	switch {
	case err != nil:
		err = cause.Fail(nil, "the agent "+cause.Quoted(a.command)+" does not answer as an ACP agent: "+err.Error(), "see that the command starts it in its ACP form, such as gemini --acp")
	case h.Version != acp.ProtocolVersionNumber:
		found := fmt.Sprintf("the agent %s speaks version %d of ACP, expected version %d", cause.Quoted(a.command), h.Version, acp.ProtocolVersionNumber)
		err = cause.Fail(nil, found, "use a version of the agent that speaks it")
	}
	if err != nil {
		a.Close()
		return err
	}
	a.Name = cmp.Or(h.Info.Name, filepath.Base(a.command))
	a.Title, a.logins = cmp.Or(h.Info.Title, a.Name), h.Logins
	return nil
}

// Process returns the process id of the agent; 0 if it is not one that [Start] has started.
func (a *Agent) Process() int {
	if a.process == nil {
		return 0
	}
	return a.process.ID()
}

// Close ends the agent: its program, and the group of it.
func (a *Agent) Close() {
	a.close()
	<-a.conn.Done()
}

// how says how the agent ended, once its connection is closed.
func (a *Agent) how() string {
	if a.process == nil {
		return "the connection is closed"
	}
	return ending(a.process)
}

// listen sets what processes the agent's updates and its requests for permission.
func (a *Agent) listen(update func(jsontext.Value), asked func(context.Context, jsontext.Value) string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.update, a.asked = update, asked
}

func (a *Agent) listeners() (update func(jsontext.Value), asked func(context.Context, jsontext.Value) string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.update, a.asked
}

func (a *Agent) onUpdate(params jsontext.Value) {
	if update, _ := a.listeners(); update != nil {
		update(params.Clone())
	}
}

// handle answers the agent's requests. It offers neither files nor terminals: the agent uses its own.
func (a *Agent) handle(ctx context.Context, method string, params stdjson.RawMessage) (result any, failure *acp.RequestError) {
	switch method {
	case acp.ClientMethodSessionUpdate:
		a.onUpdate(jsontext.Value(params)) // the tap could not read it
		return nil, nil                    // a notification has no result
	case acp.ClientMethodSessionRequestPermission:
		return acp.RequestPermissionResponse{Outcome: outcome(a.permission(ctx, jsontext.Value(params)))}, nil
	}
	return nil, acp.NewMethodNotFound(method)
}

// permission returns the option that was selected; "" is none, also after a panic.
func (a *Agent) permission(ctx context.Context, params jsontext.Value) (selected string) {
	defer func() {
		if recover() != nil {
			selected = ""
		}
	}()
	if _, asked := a.listeners(); asked != nil {
		return asked(ctx, params)
	}
	return ""
}

func outcome(selected string) acp.RequestPermissionOutcome {
	if selected == "" {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	return acp.NewRequestPermissionOutcomeSelected(acp.PermissionOptionId(selected))
}

// ask makes a request of the agent.
func ask[T any](ctx context.Context, a *Agent, method string, params any) (T, error) {
	answer, err := acp.SendRequest[T](a.conn, ctx, method, params)
	if err == nil {
		return answer, nil
	}
	refusal, is := errors.AsType[*acp.RequestError](err)
	if is && refusal.Code == codeInternal {
		a.closesSoon() // the SDK says so, too, if it cannot write
	}
	select {
	case <-a.conn.Done():
		return answer, &endedError{a.how()}
	default:
	}
	switch {
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case !is:
		return answer, fmt.Errorf("the request could not be sent: %w", err)
	}
	return answer, &refusedError{code: refusal.Code, message: messageOf(refusal)}
}

// closesSoon waits a short time for the end of the connection.
func (a *Agent) closesSoon() {
	timer := time.NewTimer(program.Grace)
	defer timer.Stop()
	select {
	case <-a.conn.Done():
	case <-timer.C:
	}
}

// endedError says that the agent ended before it answered.
type endedError struct{ how string }

func (e *endedError) Error() string { return "it has ended: " + e.how }

// refusedError is an error that the agent answered with.
type refusedError struct {
	code    int
	message string
}

func (e *refusedError) Error() string { return e.message }

const (
	// codeAuthRequired is the protocol's code of an agent that wants a login first.
	codeAuthRequired = -32000
	codeInternal     = -32603
)

// messageOf returns the words of an agent's error. The details are often the only useful part.
func messageOf(e *acp.RequestError) string {
	text := e.Message
	switch data := e.Data.(type) {
	case string:
		text += ": " + data
	case map[string]any:
		text += detailOf(data)
	}
	return shortened(cause.OneLine(strings.TrimSpace(text)), maxTitle)
}

// detailOf returns the details of an agent's error, in front of which a colon stands.
func detailOf(data map[string]any) string {
	for _, name := range []string{"details", "message", "error"} {
		if detail, is := data[name].(string); is {
			return ": " + detail
		}
	}
	return ""
}

// openFailure converts an error of session/new.
func (a *Agent) openFailure(err error) error {
	name := a.Title
	if e, is := errors.AsType[*refusedError](err); is && e.code == codeAuthRequired {
		hint := "start it in a terminal of its own and log in there, then try again"
		if len(a.logins) > 0 {
			ways := make([]string, 0, len(a.logins))
			for _, l := range a.logins {
				ways = append(ways, l.Name)
			}
			hint += "; it offers: " + strings.Join(ways, ", ")
		}
		return cause.Fail(nil, "the agent "+name+" wants you to log in first: "+err.Error(), hint)
	}
	return cause.Fail(nil, "the agent "+name+" could not begin a session: "+err.Error(), "see whether it works in a terminal of its own")
}
