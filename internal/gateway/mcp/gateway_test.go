package mcp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/utp"
)

// earshot stands for a server. Its answers are functions of how often it was asked; what it was asked is noted in order.
type earshot struct {
	mu     sync.Mutex
	tools  []api.AgentTool
	noted  []string
	wait   func(n int, call string, wait time.Duration) (api.AgentCall, error)
	invoke func(n int, q api.AgentInvoke, wait time.Duration) (api.AgentCall, error)
	asked  int
	slow   time.Duration // how long it takes to note that a result was received
	report func(n int) error
	told   int
	here   atomic.Int32 // how often the gateway has said that it is there
}

func (e *earshot) notef(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.noted = append(e.noted, fmt.Sprintf(format, args...))
}

func (e *earshot) all() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.noted, "\n")
}

func (e *earshot) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked++
	return e.asked
}

func (e *earshot) Tools(context.Context) ([]api.AgentTool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.tools), nil
}

func (e *earshot) offer(tools ...api.AgentTool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tools = tools
}

func (e *earshot) Open(_ context.Context, q api.AgentOpen) (mcp.Session, error) {
	e.notef("open %s %s %.8s", q.Label, q.Holder, q.Key)
	return &session{e}, nil
}

type session struct{ *earshot }

// pass lets virtual time go by.
func pass(d time.Duration) { <-time.After(d) }

// during answers when the time has passed for which the request may wait, unless the host has gone.
func during(ctx context.Context, wait time.Duration, answer api.AgentCall, err error) (api.AgentCall, error) {
	if err != nil || answer.Ended() {
		return answer, err
	}
	select {
	case <-ctx.Done():
		return api.AgentCall{}, &client.Error{Code: client.CodeUnreachable, Message: "given up", Err: ctx.Err()}
	case <-time.After(wait):
		return answer, nil
	}
}

func (s *session) Invoke(ctx context.Context, q api.AgentInvoke, wait time.Duration) (api.AgentCall, error) {
	s.notef("invoke %s %s %s for %v", q.Tool, q.Args, q.HostCall, wait)
	c, err := s.invoke(s.count(), q, wait)
	return during(ctx, wait, c, err)
}

func (s *session) Question(ctx context.Context, q api.AgentQuestion, wait time.Duration) (api.AgentCall, error) {
	s.notef("ask %s %d for %v", q.Text, len(q.Choices), wait)
	return during(ctx, wait, ended("q_1", `{"answer":"the blue one"}`), nil)
}

func (s *session) Wait(ctx context.Context, call string, wait time.Duration) (api.AgentCall, error) {
	s.notef("wait %s for %v", call, wait)
	c, err := s.wait(s.count(), call, wait)
	return during(ctx, wait, c, err)
}

func (s *session) Received(_ context.Context, call string) error {
	pass(s.slow)
	s.notef("received %s", call)
	return nil
}

func (s *session) Report(_ context.Context, q api.AgentReport) error {
	if q.Lease > 0 {
		s.here.Add(1)
		return nil
	}
	s.notef("say %s", q.Doing)
	if s.report == nil {
		return nil
	}
	s.told++
	return s.report(s.told)
}

func (s *session) End(context.Context, api.AgentEnd) error {
	s.notef("end")
	return nil
}

func ended(id, result string) api.AgentCall {
	return api.AgentCall{ID: id, State: api.CallEnded, Status: "success", Result: jsontext.Value(result)}
}

var waiting = api.AgentCall{ID: "call_7", State: api.CallWaiting, Question: 7, Message: "Question 7 waits for a person's answer."}

func note(name string, class utp.Class, asks bool) api.AgentTool {
	return api.AgentTool{
		Name: name, ModelName: strings.ReplaceAll(name, ".", "_"), Description: "Keeps a note.", Class: class, Asks: asks,
		Parameters: jsontext.Value(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}
}

// host is an MCP host at a gateway, in virtual time. It is closed by the test.
type host struct {
	*sdk.ClientSession

	t       *testing.T
	mu      sync.Mutex
	heard   []string
	changed int
	gone    chan error
}

// join has a host connect that speaks the newest version.
func join(t *testing.T, e *earshot) *host {
	t.Helper()
	return joinAs(t, e, withoutSessions)
}

// joinAs has a host connect that speaks one version.
func joinAs(t *testing.T, e *earshot, version string) *host {
	t.Helper()
	h := &host{t: t, gone: make(chan error, 1)}
	g := mcp.New(mcp.Options{
		Dial: func(_ context.Context, name string) (mcp.Agent, error) {
			e.notef("dial for %s", name)
			return e, nil
		},
		Key: "host 1", Holder: "process 1", Label: "photos",
	})
	theirs, ours := sdk.NewInMemoryTransports()
	go func() { h.gone <- g.Run(t.Context(), theirs) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "a-host", Version: "1"}, h.options())
	s, err := c.Connect(t.Context(), ours, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("the host speaks %s, want %s", got, version)
	}
	h.ClientSession = s
	return h
}

// options have the host note what it is told.
func (h *host) options() *sdk.ClientOptions {
	return &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.heard = append(h.heard, fmt.Sprintf("%v %v %s", r.Params.ProgressToken, r.Params.Progress, r.Params.Message))
		},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.changed++
		},
	}
}

// leave has the host go, and waits for the gateway.
func (h *host) leave() {
	h.t.Helper()
	_ = h.Close() // that the pipe is closed, too, at times
	if err := <-h.gone; err != nil {
		h.t.Error(err)
	}
}

func (h *host) use(name string, args map[string]any, meta sdk.Meta) *sdk.CallToolResult {
	h.t.Helper()
	r, err := h.CallTool(h.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args, Meta: meta})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func textOf(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if text, is := c.(*sdk.TextContent); is {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

func member(r *sdk.CallToolResult, name string) any {
	m, _ := r.StructuredContent.(map[string]any)
	return m[name]
}

// TestStays: a gateway with a session says that it is there, and says so before its time is over.
func TestStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &earshot{tools: []api.AgentTool{note("note.read", utp.Read, false)}}
		e.invoke = func(int, api.AgentInvoke, time.Duration) (api.AgentCall, error) { return ended("tc_1", `"one"`), nil }
		h := join(t, e)
		pass(5*time.Minute + 10*time.Second) // no session begins at the moment in which it would say so
		if n := e.here.Load(); n != 0 {
			t.Errorf("without a session it says %d times that it is there", n)
		}
		h.use("note_read", nil, nil)
		pass(5*time.Minute + time.Second)
		h.leave()
		if n := e.here.Load(); n != 10 {
			t.Errorf("in five minutes it says %d times that it is there, want 10", n)
		}
	})
}

func TestTools(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			e := &earshot{tools: []api.AgentTool{note("note.read", utp.Read, false), note("note.send", utp.Irreversible, true)}}
			h := joinAs(t, e, version)
			defer h.leave()
			list, err := h.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				switch tool.Name {
				case "note_read":
					if !tool.Annotations.ReadOnlyHint || *tool.Annotations.DestructiveHint || strings.Contains(tool.Description, "asked") {
						t.Errorf("what only reads: %+v %s", tool.Annotations, tool.Description)
					}
				case "note_send":
					if tool.Annotations.ReadOnlyHint || !*tool.Annotations.DestructiveHint || !strings.HasSuffix(tool.Description, "A person is asked first.") {
						t.Errorf("what cannot be undone: %+v %s", tool.Annotations, tool.Description)
					}
				}
			}
			slices.Sort(names)
			if want := []string{"earshot_ask", "earshot_say", "earshot_wait", "note_read", "note_send"}; !slices.Equal(names, want) {
				t.Errorf("the host has %v, want %v", names, want)
			}
			if !strings.Contains(e.all(), "dial for a-host") {
				t.Errorf("who the host is was not said: %s", e.all())
			}
		})
	})
}

// TestToolsChange: a host that is idle hears of tools that have come and gone.
func TestToolsChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &earshot{tools: []api.AgentTool{note("note.read", utp.Read, false)}}
		h := join(t, e)
		defer h.leave()
		if _, err := h.ListTools(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		pass(time.Second)
		h.mu.Lock()
		h.changed = 0
		h.mu.Unlock()
		pass(5 * time.Minute)
		synctest.Wait()
		h.mu.Lock()
		if h.changed != 0 {
			t.Errorf("told %d times of changes that there were not", h.changed)
		}
		h.mu.Unlock()
		odd := note("note.odd", utp.Read, false)
		odd.Parameters = jsontext.Value(`{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A b"}}}`)
		e.offer(note("note.send", utp.Irreversible, true), odd)
		pass(2 * time.Minute)
		synctest.Wait()
		h.mu.Lock()
		if h.changed == 0 {
			t.Error("not told of the change")
		}
		h.mu.Unlock()
		list, err := h.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.Name == "note_read" || tool.Name == "note_odd" {
				t.Errorf("%s is still offered", tool.Name)
			}
		}
		if len(list.Tools) != 4 {
			t.Errorf("%d tools, want 4", len(list.Tools))
		}
	})
}

func TestCall(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		broken := api.AgentCall{ID: "call_1", State: api.CallEnded, Status: "failed", Code: "tool_failed", Message: "The tool failed."}
		broken.Result = jsontext.Value(`{"exit_code":1}`)
		refusal := &client.Error{Code: "invalid", Message: "args have no text", Hint: "give a text"}
		declined := api.AgentCall{ID: "call_1", State: api.CallEnded, Status: "failed", Code: "confirmation_rejected", Message: "The person said no."}
		for _, test := range []struct {
			name   string
			answer api.AgentCall
			err    error
			wrong  bool
			text   string
			code   any
		}{
			{"result", ended("call_1", `{"sent":true}`), nil, false, `{"sent":true}`, nil},
			{"list", ended("call_1", `[1,2]`), nil, false, `[1,2]`, nil},
			{"of an MCP server", ended("call_1", `{"content":[{"type":"text","text":"sent"}],"structuredContent":{"n":1}}`), nil, false, "sent", nil},
			{"like one of an MCP server", ended("call_1", `{"content":[{"kind":"text"}]}`), nil, false, `{"content":[{"kind":"text"}]}`, nil},
			{"nothing", ended("call_1", ``), nil, false, "Done.", nil},
			{"declined", declined, nil, true, "The person said no.", "confirmation_rejected"},
			{"failed", broken, nil, true, "The tool failed.\n{\"exit_code\":1}", "tool_failed"},
			{"refused", api.AgentCall{}, refusal, true, "Not done: args have no text. give a text", nil},
			{"stopped", api.AgentCall{}, &client.Error{Code: "conflict", Message: "stopped", Stopped: true}, true, "A person has stopped this session.", nil},
		} {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					e := &earshot{
						tools:  []api.AgentTool{note("note.send", utp.Irreversible, true)},
						invoke: func(int, api.AgentInvoke, time.Duration) (api.AgentCall, error) { return test.answer, test.err },
					}
					h := joinAs(t, e, version)
					r := h.use("note_send", map[string]any{"text": "hi"}, sdk.Meta{"claudecode/toolUseId": "toolu_1"})
					if r.IsError != test.wrong || !strings.Contains(textOf(r), test.text) || member(r, "code") != test.code {
						t.Errorf("error %v, %q, %v; want error %v, %q, code %v", r.IsError, textOf(r), r.StructuredContent, test.wrong, test.text, test.code)
					}
					h.leave()
					want := []string{"dial for a-host", "open photos process 1 mcp-", `invoke note.send {"text":"hi"} toolu_1 for 2s`, "end"}
					if test.answer.ID != "" {
						want = slices.Insert(want, 3, "received call_1")
					}
					for i, line := range strings.Split(e.all(), "\n") {
						if i >= len(want) || !strings.HasPrefix(line, want[i]) {
							t.Fatalf("Earshot was asked\n%s\nwant\n%s", e.all(), strings.Join(want, "\n"))
						}
					}
				})
			})
		}
	})
}

// TestStillOpen: before the host gives up it gets what the call waits for, and no error; then it waits on.
func TestStillOpen(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			deadline := began.Add(400 * time.Second)
			open := waiting
			open.AnswerBy = began.Add(10 * time.Minute)
			state := func() api.AgentCall {
				if time.Now().Before(deadline) {
					return open
				}
				return ended("call_7", `{"sent":true}`)
			}
			e := &earshot{
				tools:  []api.AgentTool{note("note.send", utp.Irreversible, true)},
				invoke: func(int, api.AgentInvoke, time.Duration) (api.AgentCall, error) { return state(), nil },
				wait:   func(int, string, time.Duration) (api.AgentCall, error) { return state(), nil },
			}
			h := joinAs(t, e, version)
			r := h.use("note_send", map[string]any{"text": "hi"}, nil)
			if took := time.Since(began); took != 240*time.Second {
				t.Errorf("answered after %v, want 240s", took)
			}
			if r.IsError || member(r, "call_id") != "call_7" || member(r, "question") != 7.0 || member(r, "answer_by") != "2000-01-01T00:10:00Z" ||
				!strings.Contains(textOf(r), `Not done yet. Question 7 waits for a person's answer. Call earshot_wait with {"call_id": "call_7"}`) {
				t.Errorf("error %v: %s %v", r.IsError, textOf(r), r.StructuredContent)
			}
			if strings.Contains(e.all(), "received") {
				t.Error("an answer that is not a result was taken as received")
			}
			r = h.use("earshot_wait", map[string]any{"call_id": "call_7"}, nil)
			if r.IsError || textOf(r) != `{"sent":true}` {
				t.Errorf("then error %v: %s", r.IsError, textOf(r))
			}
			h.leave()
			if strings.Count(e.all(), "invoke") != 1 || strings.Count(e.all(), "received call_7") != 1 {
				t.Errorf("Earshot was asked\n%s", e.all())
			}
		})
	})
}

// TestProgress: a host that has asked for it is told every 15 seconds; its token may be a number.
func TestProgress(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		for _, test := range []struct {
			name  string
			token any
			want  []string
		}{
			{"none", nil, nil},
			{"text", "p1", []string{"p1 1 Question 7 waits for a person's answer.", "p1 2 Question 7 waits for a person's answer."}},
			{"number", 5, []string{"5 1 Question 7 waits for a person's answer.", "5 2 Question 7 waits for a person's answer."}},
			{"zero", 0, []string{"0 1 Question 7 waits for a person's answer.", "0 2 Question 7 waits for a person's answer."}},
		} {
			t.Run(test.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					deadline := time.Now().Add(40 * time.Second)
					state := func() (api.AgentCall, error) {
						if time.Now().Before(deadline) {
							return waiting, nil
						}
						return ended("call_7", `{}`), nil
					}
					e := &earshot{
						tools:  []api.AgentTool{note("note.send", utp.Irreversible, true)},
						invoke: func(int, api.AgentInvoke, time.Duration) (api.AgentCall, error) { return state() },
						wait: func(_ int, _ string, wait time.Duration) (api.AgentCall, error) {
							pass(min(wait, time.Until(deadline)))
							return state()
						},
					}
					h := joinAs(t, e, version)
					var meta sdk.Meta
					if test.token != nil {
						meta = sdk.Meta{"progressToken": test.token}
					}
					h.use("note_send", map[string]any{"text": "hi"}, meta)
					h.leave()
					if !slices.Equal(h.heard, test.want) {
						t.Errorf("heard %q, want %q", h.heard, test.want)
					}
				})
			})
		}
	})
}

// TestServerAway: while Earshot cannot be reached it is tried again, with the same words, and never for longer than the host waits.
func TestServerAway(t *testing.T) {
	away := &client.Error{Code: client.CodeUnreachable, Message: "nobody answers", Hint: "start it"}
	for _, test := range []struct {
		name  string
		until int // the try that succeeds
		text  string
	}{
		{"comes back", 4, `{"sent":true}`},
		{"for good", 1 << 30, "Not done: nobody answers. start it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &earshot{
					tools: []api.AgentTool{note("note.send", utp.Irreversible, true)},
					invoke: func(n int, _ api.AgentInvoke, _ time.Duration) (api.AgentCall, error) {
						if n < test.until {
							return api.AgentCall{}, away
						}
						return ended("call_7", `{"sent":true}`), nil
					},
				}
				h := join(t, e)
				began := time.Now()
				if r := h.use("note_send", map[string]any{"text": "hi"}, nil); textOf(r) != test.text {
					t.Errorf("%s, want %s", textOf(r), test.text)
				}
				if took := time.Since(began); took > 242*time.Second {
					t.Errorf("it took %v, longer than a host may wait", took)
				}
				h.leave()
			})
		})
	}
}

// TestEndedSession: a session that has ended by itself is followed by another one.
func TestEndedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &earshot{
			tools: []api.AgentTool{note("note.send", utp.Irreversible, true)},
			invoke: func(n int, _ api.AgentInvoke, _ time.Duration) (api.AgentCall, error) {
				if n == 1 {
					return api.AgentCall{}, &client.Error{Code: "conflict", Message: "the session has ended", Ended: true}
				}
				return ended("call_7", `{}`), nil
			},
		}
		h := join(t, e)
		h.use("note_send", map[string]any{"text": "hi"}, nil)
		h.leave()
		var keys []string
		for line := range strings.SplitSeq(e.all(), "\n") {
			if strings.HasPrefix(line, "open") {
				keys = append(keys, line)
			}
		}
		if len(keys) != 2 || keys[0] == keys[1] {
			t.Errorf("opened %q, want two sessions", keys)
		}
	})
}

// TestHostGivesUp: a call that the host cancels is waited for no longer.
func TestHostGivesUp(t *testing.T) {
	eachEra(t, func(t *testing.T, version string) {
		synctest.Test(t, func(t *testing.T) {
			e := &earshot{
				tools:  []api.AgentTool{note("note.send", utp.Irreversible, true)},
				invoke: func(int, api.AgentInvoke, time.Duration) (api.AgentCall, error) { return waiting, nil },
				wait:   func(int, string, time.Duration) (api.AgentCall, error) { return waiting, nil },
			}
			h := joinAs(t, e, version)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if _, err := h.CallTool(ctx, &sdk.CallToolParams{Name: "note_send", Arguments: map[string]any{"text": "hi"}}); err == nil {
				t.Error("there is a result")
			}
			synctest.Wait()
			before := e.all()
			pass(10 * time.Minute)
			if e.all() != before {
				t.Errorf("after the host had given up:\n%s", strings.TrimPrefix(e.all(), before))
			}
			h.leave()
			if strings.Contains(e.all(), "received") {
				t.Error("a result counts as received that there was not")
			}
			if strings.HasSuffix(e.all(), "\nend") {
				t.Error("the session was ended while a call is open")
			}
		})
	})
}

func TestOwnTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &earshot{tools: []api.AgentTool{note("note.read", utp.Read, false), {Name: "earshot.wait", ModelName: "earshot_wait"}}}
		h := join(t, e)
		for _, test := range []struct {
			tool  string
			args  map[string]any
			wrong bool
			text  string
		}{
			{"earshot_say", map[string]any{"text": "Reading the notes."}, false, "Told."},
			{"earshot_ask", map[string]any{"question": "Which one?", "choices": []string{"red", "blue"}}, false, `{"answer":"the blue one"}`},
			{"earshot_ask", map[string]any{"question": ""}, true, "Not asked"},
			{"earshot_wait", map[string]any{"call_id": 7}, true, "do not match"},
		} {
			if r := h.use(test.tool, test.args, nil); r.IsError != test.wrong || !strings.Contains(textOf(r), test.text) {
				t.Errorf("%s %v: error %v, %q", test.tool, test.args, r.IsError, textOf(r))
			}
		}
		h.leave()
		for _, want := range []string{"say Reading the notes.", "ask Which one? 2 for 2s"} {
			if !strings.Contains(e.all(), want) {
				t.Errorf("Earshot was not asked %q:\n%s", want, e.all())
			}
		}
	})
}
