package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/gateway/mcp"
	"github.com/earshot-dev/earshot/utp"
)

const address = "http://127.0.0.1:7411/"

// opener is a host that can open addresses. It notes what it is asked to open, and when that ends.
type opener struct {
	answer func(ctx context.Context) (*sdk.ElicitResult, error)

	mu    sync.Mutex
	noted []string
	asked []*sdk.ElicitParams
}

func (o *opener) notef(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.noted = append(o.noted, fmt.Sprintf(format, args...))
}

func (o *opener) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.noted, "\n")
}

// says has the host answer at once.
func says(action string) func(context.Context) (*sdk.ElicitResult, error) {
	return func(context.Context) (*sdk.ElicitResult, error) { return &sdk.ElicitResult{Action: action}, nil }
}

// silent has nobody answer, until the gateway takes back what it has asked.
func silent(ctx context.Context) (*sdk.ElicitResult, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// joins has the host connect to a gateway that knows the address, unless where is nil.
func (o *opener) joins(t *testing.T, e *earshot, version string, can *sdk.ElicitationCapabilities, where func() string) *host {
	t.Helper()
	h := &host{t: t, gone: make(chan error, 1)}
	g := mcp.New(mcp.Options{Dial: func(context.Context, string) (mcp.Agent, error) { return e, nil }, Key: "host 1", Holder: "process 1", Where: where})
	theirs, ours := sdk.NewInMemoryTransports()
	go func() { h.gone <- g.Run(t.Context(), theirs) }()
	options := h.options()
	options.Capabilities = &sdk.ClientCapabilities{Elicitation: can}
	options.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		o.mu.Lock()
		o.asked = append(o.asked, r.Params)
		o.mu.Unlock()
		o.notef("open %s", r.Params.URL)
		result, err := o.answer(ctx)
		if err != nil {
			o.notef("ended after %v", time.Since(midnight))
		}
		return result, err
	}
	options.ElicitationCompleteHandler = func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
		o.notef("complete %s after %v", r.Params.ElicitationID, time.Since(midnight))
	}
	s, err := sdk.NewClient(&sdk.Implementation{Name: "a-host", Version: "1"}, options).Connect(t.Context(), ours, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	h.ClientSession = s
	return h
}

// midnight is when virtual time begins.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// answeredAfter is an Earshot whose question 7 a person accepts after a time.
func answeredAfter(d time.Duration) *earshot {
	state := func() (api.AgentCall, error) {
		if time.Since(midnight) < d {
			return waiting, nil
		}
		return ended("call_7", `{"sent":true}`), nil
	}
	return &earshot{
		tools:  []api.AgentTool{note("note.send", utp.Irreversible, true)},
		invoke: func(int, api.AgentInvoke, time.Duration) (api.AgentCall, error) { return state() },
		wait: func(_ int, _ string, wait time.Duration) (api.AgentCall, error) {
			if left := time.Until(midnight.Add(d)); left < wait {
				pass(left)
			}
			return state()
		},
	}
}

var opens = &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}

func known() string { return address }

// TestPointer: a host that can open addresses is asked once for each question to show where it is answered. Whatever it
// answers, the call waits for the person, and is answered at the host's wall; the end of the question ends it.
func TestPointer(t *testing.T) {
	const completed = "\ncomplete call_7 question 7 after 5m0s"
	for _, test := range []struct {
		name   string
		answer func(context.Context) (*sdk.ElicitResult, error)
		want   string
	}{
		{"accepts", says("accept"), "open " + address + completed},
		{"declines", says("decline"), "open " + address},
		{"dismisses", says("cancel"), "open " + address},
		{"fails", func(context.Context) (*sdk.ElicitResult, error) { return nil, context.Canceled }, "open " + address + "\nended after 2s"},
		{"silent", silent, "open " + address + "\nended after 5m0s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &opener{answer: test.answer}
				e := answeredAfter(5 * time.Minute)
				h := o.joins(t, e, withSessions, opens, known)
				r := h.use("note_send", map[string]any{"text": "hi"}, nil)
				if took := time.Since(midnight); took != 240*time.Second || !strings.Contains(textOf(r), "Not done yet.") {
					t.Errorf("after %v: %s; want that it is not done after 240s", took, textOf(r))
				}
				r = h.use("earshot_wait", map[string]any{"call_id": "call_7"}, nil)
				if took := time.Since(midnight); took != 5*time.Minute || textOf(r) != `{"sent":true}` {
					t.Errorf("after %v: %s; want the result after the person's yes", took, textOf(r))
				}
				synctest.Wait()
				if o.all() != test.want {
					t.Errorf("the host noted\n%s\nwant\n%s", o.all(), test.want)
				}
				h.leave()
				for line := range strings.SplitSeq(e.all(), "\n") {
					verb, _, _ := strings.Cut(line, " ")
					if verb != "open" && verb != "invoke" && verb != "wait" && verb != "received" && verb != "end" {
						t.Errorf("Earshot was told %q of what the host has answered", line)
					}
				}
			})
		})
	}
}

// TestPointerWords: what the host shows says that its button answers nothing, and has no field.
func TestPointerWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &opener{answer: says("accept")}
		h := o.joins(t, answeredAfter(time.Minute), withSessions, opens, known)
		h.use("note_send", map[string]any{"text": "hi"}, nil)
		h.leave()
		if len(o.asked) != 1 {
			t.Fatalf("asked %d times, want once", len(o.asked))
		}
		q := o.asked[0]
		if q.Mode != "url" || q.URL != address || q.RequestedSchema != nil {
			t.Errorf("asked by %+v", q)
		}
		for _, want := range []string{"Question 7", "earshot reply 7", "Accepting here accepts nothing"} {
			if !strings.Contains(q.Message, want) {
				t.Errorf("%q does not say %q", q.Message, want)
			}
		}
	})
}

// TestPointerGivenUp: when the host gives up its call, or goes, it shows the address no longer.
func TestPointerGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &opener{answer: silent}
		h := o.joins(t, answeredAfter(time.Hour), withSessions, opens, known)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := h.CallTool(ctx, &sdk.CallToolParams{Name: "note_send", Arguments: map[string]any{"text": "hi"}}); err == nil {
			t.Error("there is a result")
		}
		synctest.Wait()
		if want := "open " + address + "\nended after 30s"; o.all() != want {
			t.Errorf("the host noted\n%s\nwant\n%s", o.all(), want)
		}
		h.use("note_send", map[string]any{"text": "hi"}, nil)
		if strings.Count(o.all(), "open") != 1 {
			t.Errorf("the same question was shown again:\n%s", o.all())
		}
		h.leave()
	})
}

// TestPointerNot: hosts that cannot open an address, or cannot be asked without an end of their request, are not asked.
func TestPointerNot(t *testing.T) {
	form := &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
	for _, test := range []struct {
		name, version string
		can           *sdk.ElicitationCapabilities
		where         func() string
	}{
		{"only forms", withSessions, form, known},
		{"undeclared", withSessions, &sdk.ElicitationCapabilities{}, known},
		{"no address known", withSessions, opens, func() string { return "" }},
		{"turned off", withSessions, opens, nil},
		{"version without requests of the server", withoutSessions, opens, known},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &opener{answer: says("accept")}
				h := o.joins(t, answeredAfter(time.Minute), test.version, test.can, test.where)
				if r := h.use("note_send", map[string]any{"text": "hi"}, nil); textOf(r) != `{"sent":true}` {
					t.Errorf("the call: %s", textOf(r))
				}
				h.leave()
				if o.all() != "" {
					t.Errorf("the host was asked:\n%s", o.all())
				}
			})
		})
	}
}
