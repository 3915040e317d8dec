package acp_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/gateway/acp"
	"github.com/earshot-dev/earshot/utp"
)

// patience bounds what a test waits for. It is long because a loaded machine is not a failure.
const patience = time.Minute

// agent is an agent in this process, on the SDK's side of agents.
type agent struct {
	sdk.Agent // nil: what is not below is not asked for

	conn    *sdk.AgentSideConnection
	version sdk.ProtocolVersion
	mode    string
	refuses error                                              // of session/new
	works   func(ctx context.Context, a *agent) sdk.StopReason // one turn
	cancels chan struct{}
	done    chan struct{} // closed when the connection is
	once    sync.Once

	mu   sync.Mutex
	told []string
	end  func()
}

func (a *agent) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{
		ProtocolVersion: a.version, AgentInfo: &sdk.Implementation{Name: "@someone/claude-agent-acp", Title: new("Claude")},
		AuthMethods: []sdk.AuthMethod{{Agent: &sdk.AuthMethodAgent{Id: "l", Name: "Log in with a browser"}}},
	}, nil
}

func (a *agent) NewSession(_ context.Context, r sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	for _, server := range r.McpServers {
		if one := server.Stdio; one != nil && one.Env != nil {
			a.notef("server %s: %s %q", one.Name, one.Command, one.Args)
		}
	}
	if a.refuses != nil {
		return sdk.NewSessionResponse{}, a.refuses
	}
	return sdk.NewSessionResponse{SessionId: "s1", Modes: &sdk.SessionModeState{
		CurrentModeId: sdk.SessionModeId(a.mode), AvailableModes: []sdk.SessionMode{{Id: "auto", Name: "Auto"}, {Id: "default", Name: "Ask"}},
	}}, nil
}

func (a *agent) SetSessionMode(_ context.Context, r sdk.SetSessionModeRequest) (sdk.SetSessionModeResponse, error) {
	a.notef("mode %s", r.ModeId)
	return sdk.SetSessionModeResponse{}, nil
}

func (a *agent) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	a.notef("prompt %s", r.Prompt[0].Text.Text)
	return sdk.PromptResponse{StopReason: a.works(ctx, a)}, nil
}

func (a *agent) Cancel(context.Context, sdk.CancelNotification) error {
	a.notef("cancel")
	a.once.Do(func() { close(a.cancels) })
	return nil
}

func (a *agent) notef(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, fmt.Sprintf(format, args...))
}

func (a *agent) all() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.told, "\n")
}

func (a *agent) says(u sdk.SessionUpdate) {
	_ = a.conn.SessionUpdate(context.Background(), sdk.SessionNotification{SessionId: "s1", Update: u}) // the connection may be closed
}

// asks requests a permission, and notes the outcome.
func (a *agent) asks() {
	r, err := a.conn.RequestPermission(context.Background(), sdk.RequestPermissionRequest{
		SessionId: "s1",
		ToolCall:  sdk.ToolCallUpdate{ToolCallId: "t1", Title: new("rm -r build"), RawInput: map[string]any{"command": "rm -r build"}},
		Options: []sdk.PermissionOption{
			{OptionId: "always", Kind: sdk.PermissionOptionKindAllowAlways}, {OptionId: "yes", Kind: sdk.PermissionOptionKindAllowOnce}, {OptionId: "no", Kind: sdk.PermissionOptionKindRejectOnce},
		},
	})
	switch {
	case err != nil:
		a.notef("no outcome")
	case r.Outcome.Selected != nil:
		a.notef("selected %s", r.Outcome.Selected.OptionId)
	default:
		a.notef("cancelled")
	}
}

// place is a session at Earshot.
type place struct {
	mu     sync.Mutex
	told   []string
	ended  chan struct{}
	asked  chan struct{} // one for each question
	answer func(ctx context.Context) (api.AgentCall, error)
	fails  error // of reports
}

func (p *place) notef(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, fmt.Sprintf(format, args...))
}

func (p *place) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.told, "\n")
}

func (p *place) RequestPermission(ctx context.Context, q api.AgentPermission, _ time.Duration) (api.AgentCall, error) {
	p.notef("asked %s %s", q.Tool, q.Input)
	p.asked <- struct{}{}
	return p.answer(ctx)
}

func (p *place) Wait(ctx context.Context, _ string, _ time.Duration) (api.AgentCall, error) {
	return p.answer(ctx)
}

func (p *place) Received(context.Context, string) error { return nil }

func (p *place) Report(_ context.Context, q api.AgentReport) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return p.fails
	}
	if n := len(p.told); n > 0 && q.Text != "" && strings.HasPrefix(p.told[n-1], "text ") { // how it is cut is the queue's
		p.told[n-1] += q.Text
		return nil
	}
	if q.Text != "" {
		p.told = append(p.told, "text "+q.Text)
		return nil
	}
	p.told = append(p.told, "report "+q.Observed)
	return nil
}

func (p *place) End(_ context.Context, q api.AgentEnd) error {
	p.notef("end %s %s", q.Status, q.Code)
	close(p.ended)
	return nil
}

func answered(status utp.Status, code utp.Code) func(context.Context) (api.AgentCall, error) {
	return func(context.Context) (api.AgentCall, error) {
		return api.AgentCall{ID: "c1", State: api.CallEnded, Status: status, Code: code}, nil
	}
}

// unanswered is a question that nobody answers as long as the agent waits.
func unanswered(ctx context.Context) (api.AgentCall, error) {
	<-ctx.Done()
	return api.AgentCall{}, context.Cause(ctx)
}

// connect connects a front to the agent.
func connect(t *testing.T, a *agent) (*acp.Agent, error) {
	t.Helper()
	if a.version == 0 {
		a.version = sdk.ProtocolVersionNumber
	}
	if a.mode == "" {
		a.mode = "default"
	}
	a.cancels, a.done = make(chan struct{}), make(chan struct{})
	var pipes [4]*os.File
	for i := 0; i < len(pipes); i += 2 {
		var err error
		if pipes[i], pipes[i+1], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
	}
	a.end = func() { _, _ = pipes[0].Close(), pipes[3].Close() }
	a.conn = sdk.NewAgentSideConnection(a, pipes[3], pipes[0])
	a.conn.SetLogger(slog.New(slog.DiscardHandler))
	go func() {
		defer close(a.done)
		<-a.conn.Done()
	}()
	t.Cleanup(func() {
		a.end()
		<-a.done
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return acp.Connect(ctx, "claude-agent-acp", "/work", pipes[1], pipes[2])
}

// stage is a front between an agent and a session at Earshot.
type stage struct {
	*acp.Front

	place *place

	t     *testing.T
	agent *agent
	ctx   context.Context //nolint:containedctx // the life of the test
}

func newStage(t *testing.T, a *agent, answer func(context.Context) (api.AgentCall, error)) *stage {
	t.Helper()
	there, err := connect(t, a)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, agent: a, place: &place{ended: make(chan struct{}), asked: make(chan struct{}, 9), answer: answer}}
	s.Front = acp.NewFront(there, s.place, acp.Settings{Agent: "claude"})
	var cancel context.CancelFunc
	s.ctx, cancel = context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return s
}

// opens opens the session, in the agent's asking mode.
func (s *stage) opens() {
	s.t.Helper()
	if err := s.Open(s.ctx, nil); err != nil {
		s.t.Fatal(err)
	}
}

// closes closes the front, and compares what the agent and the person were told.
func (s *stage) closes(agent, person string) {
	s.t.Helper()
	_ = s.Close()
	if got := s.agent.all(); got != agent {
		s.t.Errorf("the agent was told\n%s\nexpected\n%s", got, agent)
	}
	if got := s.place.all(); got != person {
		s.t.Errorf("the person was told\n%s\nexpected\n%s", got, person)
	}
}

// TestGateway: an agent that is given Earshot's tools is told of the server that has them.
func TestGateway(t *testing.T) {
	t.Parallel()
	s := newStage(t, &agent{}, nil)
	if err := s.Open(s.ctx, []string{"/usr/bin/earshot", "mcp", "serve"}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if got, want := s.agent.all(), `server earshot: /usr/bin/earshot ["mcp" "serve"]`; got != want {
		t.Errorf("the agent was told\n%s\nexpected\n%s", got, want)
	}
}

const modeLine = "report Its mode is Ask (default): it asks before it uses tools.\n"

// TestFrontTurn: a turn with text, a question and its answer.
func TestFrontTurn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer func(context.Context) (api.AgentCall, error)
		want   string
	}{
		"yes":              {answered(utp.StatusSuccess, ""), "selected yes"},
		"no":               {answered(utp.StatusCanceled, utp.CodeConsentDeclined), "selected no"},
		"expired":          {answered(utp.StatusCanceled, utp.CodeConsentExpired), "selected no"},
		"forbidden":        {answered(utp.StatusCanceled, utp.CodeDeniedByPolicy), "selected no"},
		"success and code": {answered(utp.StatusSuccess, utp.CodeInternalError), "selected no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, &agent{mode: "auto", works: func(_ context.Context, a *agent) sdk.StopReason {
				a.says(sdk.UpdateAgentMessageText("I "))
				a.says(sdk.UpdateAgentMessageText("clean up."))
				a.asks()
				return sdk.StopReasonEndTurn
			}}, tt.answer)
			s.opens()
			if err := s.Prompt(s.ctx, "Clean up."); err != nil {
				t.Fatal(err)
			}
			s.LastPrompt()
			<-s.Done()
			s.closes("mode default\nprompt Clean up.\n"+tt.want, modeLine+`report It is given the request: Clean up.
text I clean up.
asked other {"title":"rm -r build","input":{"command":"rm -r build"}}
report It has finished its turn.
end success `)
		})
	}
}

// TestFrontFails: whatever fails while a question is open, the agent is not told yes.
func TestFrontFails(t *testing.T) {
	t.Parallel()
	works := func(_ context.Context, a *agent) sdk.StopReason {
		a.asks()
		return sdk.StopReasonEndTurn
	}
	for name, tt := range map[string]struct {
		answer func(context.Context) (api.AgentCall, error)
		fail   func(s *stage)
		agent  string
		reason string
	}{
		"stopped here":      {unanswered, func(s *stage) { s.Stop(s.ctx) }, "cancelled", ""},
		"stopped elsewhere": {unanswered, func(s *stage) { s.Stopped() }, "cancelled", ""},
		"closed":            {unanswered, func(*stage) {}, "cancelled", ""},
		"refused by Earshot": {
			func(context.Context) (api.AgentCall, error) {
				return api.AgentCall{}, &client.Error{Code: client.CodeForbidden, Message: "only an agent acts as one"}
			}, func(s *stage) { <-s.Done() }, "selected no", "only an agent acts as one",
		},
		"the session was stopped": {
			func(context.Context) (api.AgentCall, error) {
				return api.AgentCall{}, &client.Error{Code: client.CodeConflict, Stopped: true}
			},
			func(*stage) {}, "selected no", "",
		},
		"the mode changes": {unanswered, func(s *stage) {
			s.agent.says(sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{CurrentModeId: "auto"}})
			<-s.Done()
		}, "cancelled", "its mode has changed to auto"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, &agent{works: works}, tt.answer)
			s.opens()
			prompted := make(chan error, 1)
			go func() { prompted <- s.Prompt(s.ctx, "Clean up.") }()
			<-s.place.asked
			tt.fail(s)
			rest, cancel := context.WithTimeout(s.ctx, 5*time.Second)
			defer cancel()
			if name != "closed" {
				s.Rest(rest)
			}
			err := s.Close()
			if late := <-prompted; late != nil { // the agent may have finished its turn before
				t.Log(late)
			}
			if (err == nil) != (tt.reason == "") || err != nil && !strings.Contains(err.Error(), tt.reason) {
				t.Errorf("found %v, expected %q", err, tt.reason)
			}
			if got := s.agent.all(); strings.Contains(got, "yes") || name != "closed" && !strings.Contains(got, tt.agent) {
				t.Errorf("the agent was told\n%s\nexpected %s", got, tt.agent)
			}
		})
	}
}

// TestFrontLateWord: an agent may say what has become of a call after its turn, and one that says nothing is not waited for long.
func TestFrontLateWord(t *testing.T) {
	t.Parallel()
	for want, say := range map[string]bool{"the agent says that it failed since": true, "not known to have ended": false} {
		s := newStage(t, &agent{works: func(_ context.Context, a *agent) sdk.StopReason {
			a.says(sdk.StartToolCall("t1", "rm -r build", sdk.WithStartStatus(sdk.ToolCallStatusInProgress)))
			a.asks()
			return sdk.StopReasonCancelled
		}}, unanswered)
		s.opens()
		prompted := make(chan error, 1)
		go func() { prompted <- s.Prompt(s.ctx, "Clean up.") }()
		<-s.place.asked
		s.Stop(s.ctx)
		if err := <-prompted; err != nil {
			t.Fatal(err)
		}
		if say {
			go s.agent.says(sdk.UpdateToolCall("t1", sdk.WithUpdateStatus(sdk.ToolCallStatusFailed)))
		}
		s.Rest(s.ctx)
		if got := s.Account(); !strings.Contains(got, "rm -r build ("+want+")") {
			t.Errorf("found %q, expected %q", got, want)
		}
		_ = s.Close()
	}
}

// TestFrontAgentEnds: an agent that ends in mid-turn.
func TestFrontAgentEnds(t *testing.T) {
	t.Parallel()
	s := newStage(t, &agent{works: func(_ context.Context, a *agent) sdk.StopReason {
		a.says(sdk.StartToolCall("t1", "make", sdk.WithStartStatus(sdk.ToolCallStatusInProgress)))
		a.end()
		return sdk.StopReasonEndTurn
	}}, unanswered)
	s.opens()
	err := s.Prompt(s.ctx, "Build it.")
	if e, is := errors.AsType[*cause.Error](err); !is || !strings.Contains(e.Message, "the agent has ended") || e.Hint == "" {
		t.Errorf("found %v", err)
	}
	s.closes("prompt Build it.", modeLine+`report It is given the request: Build it.
report It begins: make.
report It has ended unexpectedly. Begun, and not known to have ended: make.
end failed upstream_unavailable`)
}

// TestFrontServerAway: where Earshot cannot be told what the agent does, the agent does nothing more.
func TestFrontServerAway(t *testing.T) {
	t.Parallel()
	s := newStage(t, &agent{works: func(ctx context.Context, a *agent) sdk.StopReason {
		a.says(sdk.UpdateAgentMessageText("Hello"))
		<-a.cancels
		return sdk.StopReasonCancelled
	}}, unanswered)
	s.opens()
	s.place.mu.Lock()
	s.place.fails = &client.Error{Code: client.CodeUnreachable, Message: "the server is away", Retry: true}
	s.place.mu.Unlock()
	if err := s.Prompt(s.ctx, "Hello"); err == nil || !strings.Contains(err.Error(), "the server is away") {
		t.Errorf("found %v", err)
	}
	<-s.agent.cancels
	_ = s.Close()
}

// TestFrontMuch: an agent that says more than the SDK's queue holds is told in order, and whole.
func TestFrontMuch(t *testing.T) {
	t.Parallel()
	var want strings.Builder
	s := newStage(t, &agent{works: func(_ context.Context, a *agent) sdk.StopReason {
		for i := range 5000 {
			fmt.Fprintf(&want, "%d ", i)
			a.says(sdk.UpdateAgentMessageText(fmt.Sprintf("%d ", i)))
		}
		return sdk.StopReasonEndTurn
	}}, unanswered)
	s.opens()
	if err := s.Prompt(s.ctx, "Count."); err != nil {
		t.Fatal(err)
	}
	if err := s.Prompt(s.ctx, "Again."); err != nil { // the session goes on
		t.Fatal(err)
	}
	s.LastPrompt()
	<-s.Done()
	_ = s.Close()
	text := ""
	for line := range strings.Lines(s.place.all()) {
		if rest, is := strings.CutPrefix(line, "text "); is {
			text += strings.TrimSuffix(rest, "\n")
		}
	}
	if text != want.String() {
		t.Errorf("found %d bytes, expected %d", len(text), want.Len())
	}
}

// TestFrontBusy: one request at a time.
func TestFrontBusy(t *testing.T) {
	t.Parallel()
	works := make(chan struct{})
	s := newStage(t, &agent{works: func(_ context.Context, a *agent) sdk.StopReason {
		close(works)
		<-a.cancels
		return sdk.StopReasonCancelled
	}}, unanswered)
	s.opens()
	prompted := make(chan error, 1)
	go func() { prompted <- s.Prompt(s.ctx, "One.") }()
	<-works
	if err := s.Prompt(s.ctx, "Two."); !errors.Is(err, acp.ErrBusy) {
		t.Errorf("found %v", err)
	}
	s.Stop(s.ctx)
	if err := <-prompted; err != nil {
		t.Error(err)
	}
	s.closes("prompt One.\ncancel", modeLine+`report It is given the request: One.
end canceled `)
}

// TestRefusedAgents: an agent that cannot be worked with is an error that says what to do.
func TestRefusedAgents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		agent         *agent
		message, hint string
	}{
		"another version": {&agent{version: 2}, "speaks version 2 of ACP, expected version 1", "use a version"},
		"no login":        {&agent{refuses: sdk.NewAuthRequired(map[string]any{"details": "no key"})}, "wants you to log in first: Authentication required: no key", "Log in with a browser"},
		"no session":      {&agent{refuses: errors.New("no folder")}, "could not begin a session: Internal error: no folder", "see whether"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there, err := connect(t, tt.agent)
			if err == nil {
				f := acp.NewFront(there, &place{ended: make(chan struct{})}, acp.Settings{Agent: "claude"})
				err = f.Open(t.Context(), nil)
				_ = f.Close()
			}
			if e, is := errors.AsType[*cause.Error](err); !is || !strings.Contains(e.Message, tt.message) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("found %v, expected %q and the hint %q", err, tt.message, tt.hint)
			}
		})
	}
}

// TestPrograms: a program that is no agent is an error with its last words, and nothing of it is left.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"not there":    {[]string{"/nowhere/agent"}, "could not be started"},
		"ends at once": {[]string{"sh", "-c", "echo no key >&2; exit 3"}, "it has ended: exit status 3; it wrote last: no key"},
		"other words":  {[]string{"sh", "-c", "echo hello; read line; exit 0"}, "it has ended: exit status 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := acp.Start(t.Context(), acp.Command{Args: tt.args, Dir: t.TempDir(), Env: os.Environ()}, "test")
			if e, is := errors.AsType[*cause.Error](err); !is || !strings.Contains(e.Message, tt.want) || e.Hint == "" {
				t.Errorf("found %v, expected %q", err, tt.want)
			}
		})
	}
}

// TestPatience: a program that never answers is ended when the person gives up, with what it has started.
func TestPatience(t *testing.T) {
	t.Parallel()
	marker := t.TempDir() + "/started"
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			if raw, _ := os.ReadFile(marker); len(raw) > 0 {
				return
			}
		}
	}()
	_, err := acp.Start(ctx, acp.Command{Args: []string{"sh", "-c", "sleep 600 & echo $! > " + marker + "; wait"}, Dir: t.TempDir(), Env: os.Environ()}, "test")
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("found %v", err)
	}
	raw, _ := os.ReadFile(marker)
	for deadline := time.Now().Add(patience); lives(strings.TrimSpace(string(raw))); { // the signal takes a moment
		if time.Now().After(deadline) {
			t.Fatalf("process %s is left", raw)
		}
	}
}

// lives reports whether a process runs, on Linux. One that has ended may wait for its parent to notice.
func lives(pid string) bool {
	raw, err := os.ReadFile("/proc/" + pid + "/stat")
	_, rest, _ := strings.Cut(string(raw), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z")
}
