package permission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
	"github.com/earshot-dev/earshot/internal/gateway/permission"
	"github.com/earshot-dev/earshot/utp"
)

// server stands for Earshot: it notes what it is asked, in order, and answers by a function.
type server struct {
	mu     sync.Mutex
	noted  []string
	keys   []string // of the sessions that were opened, each once
	ended  map[int]error
	away   int // how many requests are lost before one arrives
	answer func(n int, hostCall string) (api.AgentCall, error)
	asked  int
	calls  map[string]string // the host's own id of each call
	slow   time.Duration     // how long each request waits
}

func (s *server) note(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away > 0 {
		s.away--
		return &client.Error{Code: client.CodeUnreachable, Retry: true}
	}
	s.noted = append(s.noted, fmt.Sprintf(format, args...))
	return nil
}

func (s *server) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.noted, "\n")
}

func (*server) Tools(context.Context) ([]api.AgentTool, error) {
	return []api.AgentTool{{Name: "files.delete", ModelName: "files_delete"}}, nil
}

func (s *server) Open(_ context.Context, q api.AgentOpen) (permission.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.keys, q.Key) {
		s.keys = append(s.keys, q.Key)
	}
	return &session{server: s, number: slices.Index(s.keys, q.Key)}, nil
}

// session is one of the server's.
type session struct {
	*server

	number int
}

func (s *session) RequestPermission(_ context.Context, q api.AgentPermission, _ time.Duration) (api.AgentCall, error) {
	if err := s.ended[s.number]; err != nil {
		return api.AgentCall{}, err
	}
	if err := s.note("%d asks %s %s %s", s.number, q.Tool, q.Input, q.HostCall); err != nil {
		return api.AgentCall{}, err
	}
	return s.next(q.HostCall)
}

func (s *session) Wait(ctx context.Context, call string, _ time.Duration) (api.AgentCall, error) {
	timer := time.NewTimer(s.slow)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return api.AgentCall{}, ctx.Err()
	case <-timer.C:
	}
	if err := s.note("%d waits %s", s.number, call); err != nil {
		return api.AgentCall{}, err
	}
	return s.next(s.calls[call])
}

func (s *server) next(hostCall string) (api.AgentCall, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	c, err := s.answer(s.asked, hostCall)
	if s.calls == nil {
		s.calls = map[string]string{}
	}
	s.calls[c.ID] = hostCall
	return c, err
}

func (s *session) Received(_ context.Context, call string) error {
	return s.note("%d has %s", s.number, call)
}

func (s *session) Report(_ context.Context, q api.AgentReport) error {
	if err := s.ended[s.number]; err != nil {
		return err
	}
	return s.note("%d hears: %s", s.number, q.Observed)
}

func (s *session) End(context.Context, api.AgentEnd) error { return s.note("%d ends", s.number) }

var (
	waiting = api.AgentCall{ID: "c1", State: api.CallWaiting, Question: 1}
	yes     = api.AgentCall{ID: "c1", State: api.CallEnded, Status: utp.StatusSuccess}
	no      = api.AgentCall{ID: "c1", State: api.CallEnded, Status: utp.StatusCanceled, Code: utp.CodeConsentDeclined, Message: "A person said no. Do not do it."}
	left    = api.AgentCall{ID: "c1", State: api.CallEnded, Status: utp.StatusPartial, Message: "left to the agent's own rules"}
	dropped = api.AgentCall{ID: "c1", State: api.CallEnded, Status: utp.StatusCanceled, Code: utp.CodeConsentWithdrawn, Message: "It was withdrawn."}
	unused  = api.AgentCall{ID: "c0", State: api.CallEnded, Status: utp.StatusCanceled, Code: utp.CodeConsentStale}
)

func lost() error { return &client.Error{Code: client.CodeUnreachable, Retry: true} }

// answers come one after the other; the last one stays.
func answers(list ...any) func(int, string) (api.AgentCall, error) {
	return func(n int, _ string) (api.AgentCall, error) {
		switch a := list[min(n, len(list))-1].(type) {
		case error:
			return api.AgentCall{}, a
		case api.AgentCall:
			return a, nil
		default:
			return api.AgentCall{}, errors.New("the test's own mistake")
		}
	}
}

func (s *server) asker(t *testing.T, host string) permission.Asker {
	t.Helper()
	h, known := hook.Named(host)
	if !known {
		t.Fatal(host)
	}
	return permission.Asker{
		Host: h, Key: "p1", Folder: "/home/me/photos", Answer: time.Hour, Once: "once-1", Gateway: []string{"earshot_say"},
		Dial: func(context.Context, bool) (permission.Agent, error) { return s, nil },
	}
}

func use(tool string) hook.Event {
	return hook.Event{Kind: hook.Use, Session: "s1", Folder: "/home/me/photos", Tool: tool, Input: jsontext.Value(`{"command":"ls"}`), Call: "toolu_1"}
}

// TestAsk: only a yes of a person, of which the server knows that this process has it, comes out as one.
func TestAsk(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		answers []any
		want    hook.Verdict
		reason  string
		noted   string
	}{
		{"a yes", []any{waiting, yes}, hook.Allow, "A person said yes", "0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1\n0 has c1"},
		{"a no", []any{waiting, no}, hook.Deny, "A person said no", "0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1"},
		{"a rule that allows", []any{left}, hook.NoDecision, "", "0 asks Bash {\"command\":\"ls\"} toolu_1"},
		{
			"the server is started again",
			[]any{waiting, lost(), lost(), yes},
			hook.Allow, "A person said yes",
			"0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1\n0 waits c1\n0 waits c1\n0 has c1",
		},
		{
			"it is away when it is asked",
			[]any{lost(), waiting, yes},
			hook.Allow, "A person said yes",
			"0 asks Bash {\"command\":\"ls\"} toolu_1\n0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1\n0 has c1",
		},
		{
			"a yes that was not used",
			[]any{unused, waiting, yes},
			hook.Allow, "A person said yes",
			"0 asks Bash {\"command\":\"ls\"} toolu_1\n0 has c0\n0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1\n0 has c1",
		},
		{
			"the question went with a lost connection",
			[]any{waiting, lost(), dropped, waiting, yes},
			hook.Allow, "A person said yes",
			"0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1\n0 waits c1\n0 has c1\n0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1\n0 has c1",
		},
		{
			"the question went with an earlier hook",
			[]any{dropped, waiting, yes},
			hook.Allow, "A person said yes",
			"0 asks Bash {\"command\":\"ls\"} toolu_1\n0 has c1\n0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1\n0 has c1",
		},
		{"the question is withdrawn", []any{waiting, dropped}, hook.Deny, "withdrawn", "0 asks Bash {\"command\":\"ls\"} toolu_1\n0 waits c1"},
		{"it refuses", []any{&client.Error{Code: "forbidden", Message: "only an agent acts as one"}}, hook.Deny, "could not ask anybody", "0 asks Bash {\"command\":\"ls\"} toolu_1"},
		{"the session was stopped", []any{&client.Error{Code: "stopped", Stopped: true, Ended: true}}, hook.Deny, "stopped this session", "0 asks Bash {\"command\":\"ls\"} toolu_1"},
		{"success with a code", []any{api.AgentCall{ID: "c1", State: api.CallEnded, Status: utp.StatusSuccess, Code: "odd", Message: "It is odd."}}, hook.Deny, "odd", "0 asks Bash {\"command\":\"ls\"} toolu_1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &server{answer: answers(tt.answers...)}
				got := s.asker(t, "claude").Ask(t.Context(), use("Bash"))
				if got.Verdict != tt.want || !strings.Contains(got.Reason, tt.reason) {
					t.Errorf("found %+v, expected %v because %q", got, tt.want, tt.reason)
				}
				if s.all() != tt.noted {
					t.Errorf("it was asked\n%s\nexpected\n%s", s.all(), tt.noted)
				}
			})
		})
	}
}

// TestYesThatCannotBeNoted: a yes of which the server does not know that it has arrived is not one.
func TestYesThatCannotBeNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s := &server{}
		s.answer = func(int, string) (api.AgentCall, error) {
			s.away = 1 << 30 // from now on
			return yes, nil
		}
		if got := s.asker(t, "claude").Ask(ctx, use("Bash")); got.Verdict != hook.Deny {
			t.Errorf("found %+v", got)
		}
	})
}

// TestNobodyAnswers: the end of the time is a no that says so, also where the server was lost meanwhile.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]any{"asked": waiting, "lost": lost()} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := &server{answer: answers(waiting, last), slow: time.Second}
			if got := s.asker(t, "claude").Ask(ctx, use("Bash")); got.Verdict != hook.Deny || got.Reason != permission.NoAnswer {
				t.Errorf("%s: found %+v", name, got)
			}
		})
	}
}

// TestRepeat: the same use has the same id, so that the server lets it join; where the host names none, each process has its own.
func TestRepeat(t *testing.T) {
	t.Parallel()
	s := &server{answer: answers(yes)}
	ids := func(host string, e hook.Event) (hostCall string) {
		t.Helper()
		s.noted = nil
		s.asker(t, host).Ask(t.Context(), e)
		return strings.Fields(s.noted[0])[4]
	}
	if first, again := ids("claude", use("Bash")), ids("claude", use("Bash")); first != "toolu_1" || again != first {
		t.Errorf("found %s and %s", first, again)
	}
	nameless := use("run_shell_command")
	nameless.Call = ""
	if got := ids("gemini", nameless); got != "once-1" {
		t.Errorf("found %s, expected the process's own", got)
	}
	if len(s.keys) != 2 {
		t.Errorf("found %d sessions, expected one for each host", len(s.keys))
	}
}

// TestEndedSession: where the session has ended by itself, the next one is used, and the same one from then on. One that a person has
// stopped stays stopped.
func TestEndedSession(t *testing.T) {
	t.Parallel()
	s := &server{answer: answers(yes), ended: map[int]error{0: &client.Error{Code: "turn_ended", Ended: true}, 1: &client.Error{Code: "turn_ended", Ended: true}}}
	for range 2 {
		if got := s.asker(t, "claude").Ask(t.Context(), use("Bash")); got.Verdict != hook.Allow {
			t.Errorf("found %+v", got)
		}
	}
	if len(s.keys) != 3 || !strings.HasPrefix(s.all(), "2 asks") {
		t.Errorf("%d sessions were opened, and it was asked\n%s", len(s.keys), s.all())
	}
}

// TestNotAsked: what only reads is not asked for, nor are Earshot's own tools, which pass through the gate. A tool of another server
// that is called earshot is.
func TestNotAsked(t *testing.T) {
	t.Parallel()
	for tool, asked := range map[string]bool{
		"Read": false, "mcp__earshot__files_delete": false, "mcp__earshot__earshot_say": false,
		"Bash": true, "mcp__earshot__shell": true, "mcp__earshot__": true, "mcp__files__files_delete": true,
	} {
		s := &server{answer: answers(no)}
		got := s.asker(t, "claude").Ask(t.Context(), use(tool))
		if want := map[bool]hook.Verdict{true: hook.Deny, false: hook.NoDecision}[asked]; got.Verdict != want || (s.all() != "") != asked {
			t.Errorf("%s: found %+v; it was asked %q", tool, got, s.all())
		}
	}
}

// TestServerAway: a tool is not used where there is no Earshot, and what only tells does not hold the host up.
func TestServerAway(t *testing.T) {
	t.Parallel()
	a := (&server{}).asker(t, "claude")
	var started []bool
	a.Dial = func(_ context.Context, start bool) (permission.Agent, error) {
		started = append(started, start)
		return nil, errors.New("Earshot does not run")
	}
	if got := a.Ask(t.Context(), use("Bash")); got.Verdict != hook.Deny || !strings.Contains(got.Reason, "Earshot does not run") {
		t.Errorf("found %+v", got)
	}
	if err := a.Report(t.Context(), hook.Event{Kind: hook.Rested, Session: "s1"}); err == nil {
		t.Error("nothing was told, and there is no error")
	}
	if !slices.Equal(started, []bool{true, false}) {
		t.Errorf("Earshot is started where it does not run: %v; expected that for a question alone", started)
	}
}

// TestTell: turn end, waiting and mode changes are told in the order in which they come, each once; the end of the host's session ends
// that at Earshot.
func TestTell(t *testing.T) {
	t.Parallel()
	s := &server{answer: answers(waiting, yes)}
	a := s.asker(t, "claude")
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	a.Modes = permission.ModeFiles{Folder: t.TempDir(), Host: "claude", Now: func() time.Time { return now }}
	tell := func(kind hook.Kind, mode, message string) {
		t.Helper()
		if err := a.Report(t.Context(), hook.Event{Kind: kind, Session: "s1", Mode: mode, Message: message}); err != nil {
			t.Fatal(err)
		}
	}
	tell(hook.Prompted, "default", "")
	tell(hook.Waiting, "default", "Claude is waiting for your input")
	tell(hook.Waiting, "", "")
	tell(hook.Prompted, "acceptEdits", "")
	tell(hook.Rested, "acceptEdits", "")
	e := use("Bash")
	e.Mode = "acceptEdits"
	a.Ask(t.Context(), e)
	e.Mode = "bypassPermissions"
	a.Ask(t.Context(), e)
	tell(hook.Rested, "default", "")
	tell(hook.Prompted, "newest", "")
	tell(hook.Closed, "newest", "")
	want := `0 hears: It waits for you: Claude is waiting for your input
0 hears: It waits for you.
0 hears: Its own mode: it changes files without asking. What it asks Earshot for is asked all the same.
0 hears: It has finished its turn.
0 asks Bash {"command":"ls"} toolu_1
0 waits c1
0 has c1
0 hears: Its own mode: it asks for nothing. What it asks Earshot for is asked all the same.
0 asks Bash {"command":"ls"} toolu_1
0 has c1
0 hears: Its own mode: it asks before it uses tools. What it asks Earshot for is asked all the same.
0 hears: It has finished its turn.
0 hears: Its own mode: newest. What it asks Earshot for is asked all the same.
0 ends`
	if got := s.all(); got != want {
		t.Errorf("it was told\n%s\nexpected\n%s", got, want)
	}
}

// TestModeFiles: a mode is remembered for each session, until it says that it is over, or for a week.
func TestModeFiles(t *testing.T) {
	t.Parallel()
	now := time.Now()
	f := permission.ModeFiles{Folder: t.TempDir() + "/modes", Host: "claude", Now: func() time.Time { return now }}
	for i, step := range []struct {
		session, mode string
		changed       bool
	}{{"s1", "default", false}, {"s1", "plan", true}, {"s1", "plan", false}, {"s2", "plan", true}, {"s1", "default", true}, {"s1", "default", false}} {
		if got := f.Changed(step.session, step.mode); got != step.changed {
			t.Errorf("step %d: found %v", i, got)
		}
	}
	f.Forget("s2")
	if !f.Changed("s2", "plan") {
		t.Error("what was forgotten is remembered")
	}
	now = now.Add(8 * 24 * time.Hour)
	f.Changed("s3", "plan")
	if !f.Changed("s2", "plan") {
		t.Error("a mode of last week is remembered")
	}
}
