package tool_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

type work struct {
	N int `json:"n"`
}

// named is a tool of the double kernel's name around a function.
func named[A, R any](run func(context.Context, *tool.Call, A) (R, error)) tool.Tool {
	return tool.Tool{Run: tool.Must(tool.Func(utp.Definition{Tool: "work"}, run)).Run}
}

// TestFunc: arguments come decoded, what is returned is the result, and a result that says
// its own status keeps it.
func TestFunc(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		made   tool.Tool
		status utp.Status
		code   utp.Code
		result string
	}{
		{"value", named(func(_ context.Context, _ *tool.Call, a work) (work, error) { return work{a.N + 1}, nil }), utp.StatusSuccess, "", `{"n":2}`},
		{"list", named(func(context.Context, *tool.Call, work) ([]string, error) { return []string{"a"}, nil }), utp.StatusSuccess, "", `["a"]`},
		{
			"own status", named(func(context.Context, *tool.Call, work) (tool.Result, error) {
				return tool.Result{Value: 3, Status: utp.StatusPartial}, nil
			}), utp.StatusPartial, "", `3`,
		},
		{"error", named(func(context.Context, *tool.Call, work) (int, error) { return 0, tool.Error("full", "no room") }), utp.StatusFailed, "full", `0`},
		{"other arguments", named(func(context.Context, *tool.Call, struct{ M string }) (int, error) { return 1, nil }), utp.StatusFailed, utp.CodeBadRequest, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serving(t, tt.made, func(t *testing.T, k *kernel, _ func()) {
				k.command("tc_1", "run")
				f := k.finished()
				if f.Status != tt.status || (f.Error == nil) != (tt.code == "") || f.Error != nil && f.Error.Code != tt.code || string(f.Result.Inline) != tt.result {
					t.Errorf("finished %s with %s and %+v", f.Status, f.Result.Inline, f.Error)
				}
			})
		})
	}
}

// TestSecret: the handler gets the value behind the reference, and nothing prints it.
func TestSecret(t *testing.T) {
	type args struct {
		N   int         `json:"n"`
		Key tool.Secret `json:"key" env:"X"`
	}
	var got tool.Secret
	made := named(func(_ context.Context, _ *tool.Call, a args) (any, error) { got = a.Key; return a, nil })
	serving(t, made, func(t *testing.T, k *kernel, _ func()) {
		k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
			a := k.granted("tc_1")
			a.Args.Inline = jsontext.Value(`{"n":1,"key":{"$secret":"env:X","mac":"m"}}`)
			a.Secrets = map[string]string{"env:X": "hush"}
			return a, nil
		}
		k.command("tc_1", "run")
		if got.Value() != "hush" || strings.Contains(fmt.Sprintf("%v %+v %#v %s", got, got, got, got.LogValue()), "hush") {
			t.Errorf("the secret is %#v", got)
		}
		if f := k.finished(); f.Error == nil || f.Error.Code != utp.CodeResultNotSerializable || strings.Contains(f.Error.Message, "hush") {
			t.Errorf("a result with a secret ended as %+v", f.Error)
		}
	})
}

// TestResultsThatCannotBeKept: each is told to the author with its place, and the call
// gets an outcome.
func TestResultsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		value   any
		message string
	}{
		{"NUL", map[string]any{"rows": []string{"a", "b\x00c"}}, `the text at "/rows/1" holds a NUL character`},
		{"NUL in a name", map[string]int{"a\x00": 1}, "holds a NUL character"},
		{"NaN", map[string]float64{"x": math.NaN()}, "JSON has no such number"},
		{"half a surrogate pair", jsontext.Value(`{"x":"\ud800"}`), "surrogate"},
		{"no UTF-8", []string{"\xff"}, "valid UTF-8"},
		{"a name twice", jsontext.Value(`{"a":1,"a":2}`), "duplicate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serving(t, tool.Tool{Run: value(tool.Result{Value: tt.value}, nil)}, func(t *testing.T, k *kernel, _ func()) {
				k.command("tc_1", "run")
				f := k.finished()
				if f.Status != utp.StatusFailed || f.Error == nil || f.Error.Code != utp.CodeResultNotSerializable || !strings.Contains(f.Error.Message, tt.message) || f.Result.Inline != nil {
					t.Errorf("finished %s with %+v", f.Status, f.Error)
				}
			})
		})
	}
	t.Run("an escaped backslash is not a NUL", func(t *testing.T) {
		serving(t, tool.Tool{Run: value(tool.Result{Value: `\u0000`}, nil)}, func(t *testing.T, k *kernel, _ func()) {
			k.command("tc_1", "run")
			if f := k.finished(); f.Status != utp.StatusSuccess {
				t.Errorf("finished with %+v", f.Error)
			}
		})
	})
}

// TestInline: a command that carries arguments or a result is never run; the call ends
// with bad_request.
func TestInline(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"args", "arguments", "result"} {
		t.Run(name, func(t *testing.T) {
			ran := false
			run := func(context.Context, *tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil }
			serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
				k.hear(k.alive, tool.Message{
					Subject: "cg.v1r4.p.c.cmd.tool.files.run", Header: map[string][]string{utp.HeaderToolCallID: {"tc_1"}},
					Payload: []byte(`{"tool_name":"work","after_execution":"suspend","tool_call_card_id":"c1","` + name + `":{"n":2}}`),
				})
				synctest.Wait()
				f := k.finished()
				if ran || f.Status != utp.StatusFailed || f.Error.Code != utp.CodeBadRequest || !f.Error.IsUntouched() || !strings.Contains(f.Error.Message, name) {
					t.Errorf("ran: %v, finished %s with %+v", ran, f.Status, f.Error)
				}
			})
		})
	}
}

// FuzzCommand: whatever a command holds, the service stays up and starts at most one call
// for it, and what is named in it is the only thing that it asks for.
func FuzzCommand(f *testing.F) {
	f.Add("cg.v1r4.p.c.cmd.tool.files.run", "tc_1", []byte(`{"tool_name":"work","after_execution":"suspend","tool_call_card_id":"c1"}`))
	f.Add("cg.v1r4.p.c.cmd.tool.files.cancel", "tc_1", []byte(`{}`))
	f.Add("cg.v1r4.p.c.evt.tool.files.cancel", "tc_1", []byte(`{"reason":"x"}`))
	f.Add("cg.v1r4.p.c.cmd.tool.files.reconcile", "tc_1", []byte(`{}`))
	f.Add("", "", []byte(nil))
	f.Add(".", "\x00", []byte(`{"args":`))
	f.Fuzz(func(t *testing.T, subject, call string, payload []byte) {
		synctest.Test(t, func(t *testing.T) {
			k := newKernel(t)
			s, err := tool.New(tool.Options{Conn: k, Tools: []tool.Tool{{Definition: definition(), Run: value(tool.Result{Value: 1}, nil)}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- s.Run(ctx) }()
			synctest.Wait()
			k.hear(k.alive, tool.Message{Subject: subject, Header: map[string][]string{utp.HeaderToolCallID: {call}}, Payload: payload})
			synctest.Wait()
			if n := k.count(api.OpStart) + k.count(api.OpReconcile); n > 1 || call == "" && n > 0 {
				t.Errorf("%d requests", n)
			}
			k.command("tc_good", "run")
			if n := k.count(api.OpFinish); n == 0 {
				t.Error("the good one did not end")
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	})
}

// untilEnded works until its context ends, and says why it did.
func untilEnded(described chan<- error) func(context.Context, *tool.Call) (tool.Result, error) {
	return func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		<-ctx.Done()
		cause := context.Cause(ctx)
		described <- cause
		if errors.Is(cause, tool.ErrLost) && c.Ready() == nil {
			return tool.Result{}, errors.New("the effect was allowed")
		}
		return tool.Result{}, ctx.Err()
	}
}

// TestContextEnds: by a stop, the end of the service, the tool's time, and a lease that is
// lost; the tool can tell which, and so can anyone who reads the result.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	refuse := func(k *kernel, code utp.Code) {
		k.mu.Lock()
		k.answer[api.OpHeartbeat] = func(int, jsontext.Value) (any, error) { return nil, &api.Fault{Code: code} }
		k.mu.Unlock()
	}
	tests := []struct {
		name   string
		way    func(k *kernel, stop func())
		cause  error
		status utp.Status
		code   utp.Code
		within time.Duration
	}{
		{"stop", func(k *kernel, _ func()) { k.command("tc_1", utp.SuffixCancel) }, tool.ErrStopped, utp.StatusFailed, utp.CodeStopped, 0},
		{"end of the service", func(_ *kernel, stop func()) { stop() }, tool.ErrEnding, utp.StatusFailed, utp.CodeStopped, 0},
		{"deadline", func(*kernel, func()) { pass(time.Hour) }, tool.ErrTimeout, utp.StatusTimeout, utp.CodeToolTimeout, 10 * time.Minute},
		{"another has it", func(k *kernel, _ func()) { refuse(k, utp.CodeStale); pass(11 * time.Second) }, tool.ErrLost, utp.StatusFailed, utp.CodeStale, 10 * time.Second},
		{
			"another has it, of an effect", func(k *kernel, _ func()) { refuse(k, utp.CodeStale); pass(11 * time.Second) },
			tool.ErrLost, utp.StatusFailed, utp.CodeOutcomeUnknown, 10 * time.Second,
		},
		{"end of the service, of an effect", func(_ *kernel, stop func()) { stop() }, tool.ErrEnding, utp.StatusFailed, utp.CodeOutcomeUnknown, 0},
		{"deadline, of an effect", func(*kernel, func()) { pass(time.Hour) }, tool.ErrTimeout, utp.StatusFailed, utp.CodeOutcomeUnknown, 10 * time.Minute},
		{
			"the kernel is away for a lease", func(k *kernel, _ func()) {
				k.mu.Lock()
				k.answer[api.OpHeartbeat] = func(int, jsontext.Value) (any, error) { return nil, errCable }
				k.mu.Unlock()
				pass(time.Minute)
			}, tool.ErrLost, utp.StatusFailed, utp.CodeStale, 45 * time.Second,
		},
		{"the kernel is in trouble for a moment", func(k *kernel, stop func()) {
			refuse(k, utp.CodeStorageError)
			pass(25 * time.Second)
			k.mu.Lock()
			k.answer[api.OpHeartbeat] = func(int, jsontext.Value) (any, error) { return api.HeartbeatAnswer{LeaseMS: 30_000}, nil }
			k.mu.Unlock()
			pass(time.Minute)
			stop()
		}, tool.ErrEnding, utp.StatusFailed, utp.CodeStopped, 2 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			causes := make(chan error, 1)
			made := tool.Tool{Run: untilEnded(causes)}
			if tt.code != utp.CodeOutcomeUnknown {
				made.Definition.Class = utp.Read
			}
			made.Definition.Options = jsontext.Value(`{"timeout_seconds":600}`)
			serving(t, made, func(t *testing.T, k *kernel, stop func()) {
				began := time.Now()
				k.command("tc_1", "run")
				tt.way(k, stop)
				synctest.Wait()
				f, cause := k.finished(), <-causes
				if !errors.Is(cause, tt.cause) || f.Status != tt.status || f.Error.Code != tt.code {
					t.Errorf("because of %v, finished %s with %+v", cause, f.Status, f.Error)
				}
				if took := k.at[api.OpFinish][0].Sub(began); took > tt.within {
					t.Errorf("it took %v; want at most %v", took, tt.within)
				}
			})
		})
	}
}

// TestOutOfReach: what may be done only once, and was begun, is not cut short because the
// kernel is out of reach: nobody else may begin it. But nothing new is begun.
func TestOutOfReach(t *testing.T) {
	var ready error
	run := func(ctx context.Context, c *tool.Call) (tool.Result, error) {
		select {
		case <-time.After(5 * time.Minute):
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
		ready = c.Ready()
		return tool.Result{Value: "whole"}, nil
	}
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
			a := k.granted("tc_1")
			a.StartWithinMS = 3_600_000
			return a, nil
		}
		k.answer[api.OpHeartbeat] = func(int, jsontext.Value) (any, error) { return nil, errCable }
		k.command("tc_1", "run")
		pass(10 * time.Minute)
		if f := k.finished(); f.Status != utp.StatusSuccess || ready == nil {
			t.Errorf("finished %s with %+v; ready: %v", f.Status, f.Error, ready)
		}
	})
}

// TestZombie: a process whose machine slept for longer than the lease does nothing more,
// although no beat could tell it, and the clock that stands still in sleep has not moved.
func TestZombie(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
			a := k.granted("tc_1")
			a.StartWithinMS = 3_600_000
			return a, nil
		}
		var slept time.Duration
		var before, after error
		run := func(_ context.Context, c *tool.Call) (tool.Result, error) {
			before = c.Ready()
			slept = 31 * time.Second
			after = c.Ready()
			return tool.Result{}, after
		}
		s, err := tool.New(tool.Options{
			Conn: k, Tools: []tool.Tool{{Definition: definition(), Run: run}}, Boot: func() time.Duration { return slept },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		k.command("tc_1", "run")
		if lost, is := errors.AsType[*utp.ToolError](after); before != nil || !is || lost.Code != utp.CodeStale {
			t.Errorf("ready: %v, then %v", before, after)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestStats: what ran and how it ended, by tool, without content.
func TestStats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		run := func(_ context.Context, c *tool.Call) (tool.Result, error) {
			<-time.After(time.Second)
			if c.ID == "tc_bad" {
				return tool.Result{}, tool.Error("broken", "the password is x")
			}
			return tool.Result{}, nil
		}
		s, err := tool.New(tool.Options{Conn: k, Tools: []tool.Tool{{Definition: definition(), Run: run}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		k.command("tc_1", "run")
		k.command("tc_bad", "run")
		if got := s.Stats(); len(got) != 1 || got[0].Tool != "work" || got[0].Started != 2 || got[0].Running != 2 || got[0].Failed != 0 {
			t.Errorf("while they run: %+v", got)
		}
		pass(2 * time.Second)
		if got := s.Stats(); got[0].Running != 0 || got[0].Failed != 1 || got[0].LastError != "broken" || got[0].Busy != 2*time.Second {
			t.Errorf("after: %+v", got)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestServiceRefuses: what is wrong with the tools is told when the service is made.
func TestServiceRefuses(t *testing.T) {
	t.Parallel()
	run := value(tool.Result{}, nil)
	tests := []struct {
		name  string
		tools []tool.Tool
		want  string
	}{
		{"none", nil, "at least one tool"},
		{"no Run", []tool.Tool{{Definition: definition()}}, "work has no Run"},
		{"twice", []tool.Tool{{Definition: definition(), Run: run}, {Definition: definition(), Run: run}}, "work is listed twice"},
		{"two services", []tool.Tool{{Definition: definition(), Run: run}, {Definition: utp.Definition{Tool: "other.x"}, Run: run}}, "a tool of the service other"},
		{"bad name", []tool.Tool{{Definition: utp.Definition{Tool: "a b"}, Run: run}}, "tool_name"},
		{"bad schema", []tool.Tool{{Definition: utp.Definition{Tool: "a.b", Parameters: jsontext.Value(`{"type":"strin"}`)}, Run: run}}, "not JSON Schema"},
		{"schema from elsewhere", []tool.Tool{{Definition: utp.Definition{Tool: "a.b", Parameters: jsontext.Value(`{"$ref":"file:///etc/hostname"}`)}, Run: run}}, "may not refer to file:"},
		{"bad time", []tool.Tool{{Definition: utp.Definition{Tool: "a.b", Options: jsontext.Value(`{"timeout_seconds":"x"}`)}, Run: run}}, "numbers of seconds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tool.New(tool.Options{Conn: newKernel(t), Tools: tt.tools}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v; want ...%s...", err, tt.want)
			}
		})
	}
}

// TestReconciled: a tool that can be asked what became of a call says so in its definition
// and gets the call's arguments.
func TestReconciled(t *testing.T) {
	find := func(_ context.Context, _ *tool.Call, a work) (tool.Outcome, tool.Result, error) {
		return tool.Done, tool.Result{Value: a.N}, nil
	}
	made, err := tool.Reconciled(tool.Tool{Definition: utp.Definition{Options: jsontext.Value(`{"x":1}`)}, Run: value(tool.Result{}, nil)}, find)
	if err != nil || string(made.Definition.Options) != `{"reconciles":true,"x":1}` {
		t.Fatalf("%v: %s", err, made.Definition.Options)
	}
	serving(t, made, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", utp.SuffixReconcile)
		var q api.SettleRequest
		k.read(k.asked[api.OpSettle][0], &q)
		if q.Outcome != "done" || string(q.Result.Inline) != "1" {
			t.Errorf("settled as %+v", q)
		}
	})
}
