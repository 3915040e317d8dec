package tool_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/utp"
)

// kernel plays the kernel for one service. What a test does not say, it grants.
type kernel struct {
	t *testing.T

	mu     sync.Mutex
	asked  map[string][]jsontext.Value // by operation
	at     map[string][]time.Time
	answer map[string]func(n int, request jsontext.Value) (any, error)
	hear   func(context.Context, tool.Message)
	alive  context.Context //nolint:containedctx // The service's.
}

var errCable = errors.New("the cable is out")

func newKernel(t *testing.T) *kernel {
	t.Helper()
	k := &kernel{t: t, asked: map[string][]jsontext.Value{}, at: map[string][]time.Time{}}
	k.answer = map[string]func(int, jsontext.Value) (any, error){
		api.OpStart: func(_ int, request jsontext.Value) (any, error) {
			var q api.StartRequest
			k.read(request, &q)
			return k.granted(q.Call), nil
		},
		api.OpHeartbeat: func(int, jsontext.Value) (any, error) { return api.HeartbeatAnswer{LeaseMS: 30_000}, nil },
		api.OpReconcile: func(_ int, request jsontext.Value) (any, error) {
			var q api.OwnerRequest
			k.read(request, &q)
			return api.ReconcileAnswer{Call: q.Call, Tool: "work", Args: api.Body{Inline: jsontext.Value(`{"n":1}`)}}, nil
		},
	}
	return k
}

func (k *kernel) granted(call string) api.StartAnswer {
	return api.StartAnswer{
		Call: call, Turn: "turn_1", Tool: "work", Args: api.Body{Inline: jsontext.Value(`{"n":1}`)}, Fence: 1,
		StartWithinMS: 60_000, LeaseMS: 30_000, Secrets: map[string]string{"env:X": "s"},
	}
}

func (k *kernel) read(raw jsontext.Value, into any) {
	if err := json.Unmarshal(raw, into); err != nil {
		k.t.Error(err)
	}
}

func (k *kernel) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	if len(request) > utp.MessageLimit {
		k.t.Errorf("%s: %d bytes", op, len(request))
	}
	k.mu.Lock()
	n := len(k.asked[op])
	k.asked[op], k.at[op] = append(k.asked[op], request), append(k.at[op], time.Now())
	answer := k.answer[op]
	k.mu.Unlock()
	if answer == nil {
		return api.EncodeAnswer(struct{}{}, nil), nil
	}
	value, err := answer(n, request)
	var refused *api.Fault
	if err != nil && !errors.As(err, &refused) {
		timer := time.NewTimer(30 * time.Second) // nothing comes back
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-timer.C:
			return nil, err
		}
	}
	return api.EncodeAnswer(value, err), nil
}

func (k *kernel) Commands(ctx context.Context, handle func(context.Context, tool.Message)) (func(), error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hear, k.alive = handle, ctx
	return func() {}, nil
}

// command rings for a call.
func (k *kernel) command(call, suffix string) {
	category := "cmd"
	if suffix == utp.SuffixCancel {
		category = "evt"
	}
	k.hear(k.alive, tool.Message{
		Subject: "cg.v1r4.p.c." + category + ".tool.files." + suffix, Header: map[string][]string{utp.HeaderToolCallID: {call}}, Payload: []byte(`{}`),
	})
	synctest.Wait()
}

func (k *kernel) count(op string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.asked[op])
}

// finished is the one result that was recorded.
func (k *kernel) finished() api.FinishRequest {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	var q api.FinishRequest
	if len(k.asked[api.OpFinish]) == 0 {
		k.t.Fatal("nothing was finished")
	}
	k.read(k.asked[api.OpFinish][len(k.asked[api.OpFinish])-1], &q)
	return q
}

func definition() utp.Definition {
	return utp.Definition{
		Tool: "work", Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.run", AfterExecution: utp.Suspend,
		Class: utp.Irreversible, Risk: utp.RiskHigh, Parameters: jsontext.Value(`{"type":"object"}`),
	}
}

// serving runs a service with one tool in a bubble; stop tells it to end.
func serving(t *testing.T, made tool.Tool, play func(t *testing.T, k *kernel, stop func())) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		options, class := made.Definition.Options, made.Definition.Class
		made.Definition = definition()
		made.Definition.Options = options
		if class != "" {
			made.Definition.Class = class
		}
		s, err := tool.New(tool.Options{Conn: k, Tools: []tool.Tool{made}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		synctest.Wait()
		play(t, k, stop)
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func value(r tool.Result, err error) func(context.Context, *tool.Call) (tool.Result, error) {
	return func(context.Context, *tool.Call) (tool.Result, error) { return r, err }
}

func TestRegisters(t *testing.T) {
	serving(t, tool.Tool{Run: value(tool.Result{}, nil)}, func(t *testing.T, k *kernel, _ func()) {
		var q api.RegisterRequest
		k.read(k.asked[api.OpRegister][0], &q)
		if q.Definition.Tool != "work" || k.count(api.OpRegister) != 1 {
			t.Errorf("registered %d times, %+v", k.count(api.OpRegister), q)
		}
	})
}

// TestRunRefused: a service whose tool is refused does not serve.
func TestRunRefused(t *testing.T) {
	t.Parallel()
	k := newKernel(t)
	k.answer[api.OpRegister] = func(int, jsontext.Value) (any, error) { return nil, &api.Fault{Code: utp.CodeConflict} }
	s, err := tool.New(tool.Options{Conn: k, Tools: []tool.Tool{{Definition: definition(), Run: value(tool.Result{}, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil || k.hear != nil {
		t.Errorf("it serves all the same: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := tool.Tool{Definition: definition(), Run: value(tool.Result{}, nil)}
	for name, o := range map[string]tool.Options{
		"no conn":       {Tools: []tool.Tool{good}},
		"no tools":      {Conn: newKernel(t)},
		"no run":        {Conn: newKernel(t), Tools: []tool.Tool{{Definition: definition()}}},
		"no randomness": {Conn: newKernel(t), Tools: []tool.Tool{good}, Rand: strings.NewReader("short")},
	} {
		if _, err := tool.New(o); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestGranted: the tool works on what the grant handed out, and its word is recorded
// under its owner and fence.
func TestGranted(t *testing.T) {
	var got tool.Call
	run := func(_ context.Context, c *tool.Call) (tool.Result, error) {
		got = tool.Call{ID: c.ID, Turn: c.Turn, Tool: c.Tool, Args: c.Args, Secrets: c.Secrets}
		return tool.Result{Value: map[string]int{"did": 1}}, c.Ready()
	}
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", "run")
		if got.ID != "tc_1" || got.Turn != "turn_1" || string(got.Args) != `{"n":1}` || got.Secrets["env:X"] != "s" {
			t.Errorf("the call is %+v", &got)
		}
		f := k.finished()
		var start api.StartRequest
		k.read(k.asked[api.OpStart][0], &start)
		if f.Call != "tc_1" || f.Fence != 1 || f.Owner != start.Owner || !strings.HasPrefix(f.Owner, "own_") || len(f.Owner) < 20 {
			t.Errorf("finished as %+v", f)
		}
		if f.Status != utp.StatusSuccess || string(f.Result.Inline) != `{"did":1}` || f.Error != nil {
			t.Errorf("finished with %+v", f)
		}
		if start.Subject == "" || len(start.Header) == 0 || string(start.Command) != `{}` {
			t.Errorf("the start does not say what was received: %+v", start)
		}
	})
}

// TestNotGranted: without a grant nothing runs, and nothing is said.
func TestNotGranted(t *testing.T) {
	for _, code := range []utp.Code{
		utp.CodeBusy, utp.CodeDone, utp.CodeStale, utp.CodeStopped, utp.CodeUnknownCall, utp.CodeAuthFailed, utp.CodeTurnEnded, utp.CodeConsentStale, utp.CodeDeniedByPolicy,
	} {
		t.Run(string(code), func(t *testing.T) {
			ran := false
			run := func(context.Context, *tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil }
			serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
				k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) { return nil, &api.Fault{Code: code} }
				k.command("tc_1", "run")
				pass(time.Minute)
				if ran || k.count(api.OpFinish)+k.count(api.OpHeartbeat) != 0 || k.count(api.OpStart) != 1 {
					t.Errorf("ran: %v, asked %d times", ran, k.count(api.OpStart))
				}
			})
		})
	}
}

// TestStartAnswerLost: it is asked for again as the same owner, and runs once.
func TestStartAnswerLost(t *testing.T) {
	ran := 0
	run := func(context.Context, *tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil }
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.answer[api.OpStart] = func(n int, _ jsontext.Value) (any, error) {
			if n < 2 {
				return nil, errCable
			}
			return k.granted("tc_1"), nil
		}
		k.command("tc_1", "run")
		k.command("tc_1", "run") // rung again meanwhile
		pass(2 * time.Minute)
		if ran != 1 || k.count(api.OpStart) != 3 {
			t.Errorf("ran %d times after %d starts", ran, k.count(api.OpStart))
		}
		var first, last api.StartRequest
		k.read(k.asked[api.OpStart][0], &first)
		k.read(k.asked[api.OpStart][2], &last)
		if first.Owner != last.Owner {
			t.Error("it asked as another owner")
		}
	})
}

// TestGrantedAgain: a ledger that was put back grants a start to its owner once more, after
// the end; it is not done once more. Under another fence it is another start.
func TestGrantedAgain(t *testing.T) {
	ran := 0
	run := func(context.Context, *tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil }
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", "run")
		pass(time.Minute)
		k.command("tc_1", "run")
		pass(time.Minute)
		if ran != 1 || k.count(api.OpStart) != 2 || k.count(api.OpFinish) != 1 {
			t.Errorf("ran %d times after %d grants, and finished %d times", ran, k.count(api.OpStart), k.count(api.OpFinish))
		}
		k.answer[api.OpStart] = func(int, jsontext.Value) (any, error) {
			a := k.granted("tc_1")
			a.Fence++
			return a, nil
		}
		k.command("tc_1", "run")
		pass(time.Minute)
		if ran != 2 {
			t.Errorf("ran %d times; want 2, once for each fence", ran)
		}
	})
}

// TestBells: a bell rings whatever is in it; one without a call rings for nobody.
func TestBells(t *testing.T) {
	ran := 0
	run := func(context.Context, *tool.Call) (tool.Result, error) { ran++; return tool.Result{}, nil }
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.hear(k.alive, tool.Message{Subject: "cg.v1r4.p.c.cmd.tool.files.run", Payload: []byte(`{}`)})
		k.hear(k.alive, tool.Message{})
		synctest.Wait()
		if k.count(api.OpStart) != 0 {
			t.Error("a start was asked for nobody")
		}
		for i := range 20 {
			k.hear(k.alive, tool.Message{
				Subject: "x.run", Header: map[string][]string{utp.HeaderToolCallID: {"tc_" + string(rune('a'+i))}}, Payload: []byte("garbage"),
			})
			synctest.Wait()
		}
		if ran != 20 {
			t.Errorf("ran %d times; want 20", ran)
		}
	})
}

// TestOutcomes: what a tool comes back with, whatever it is, is told.
func TestOutcomes(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	tests := []struct {
		name    string
		run     func(context.Context, *tool.Call) (tool.Result, error)
		status  utp.Status
		code    utp.Code
		message string
	}{
		{"nothing", value(tool.Result{}, nil), utp.StatusSuccess, "", ""},
		{"partial", value(tool.Result{Status: utp.StatusPartial, Value: 1}, nil), utp.StatusPartial, "", ""},
		{"its own error", value(tool.Result{}, &utp.ToolError{Code: "disk_on_fire", Message: "hot"}), utp.StatusFailed, "disk_on_fire", "hot"},
		{"its own error, wrapped", value(tool.Result{}, errors.Join(&utp.ToolError{Code: "x", Message: "m"})), utp.StatusFailed, "x", "m"},
		{"any error", value(tool.Result{}, errors.New("broken")), utp.StatusFailed, utp.CodeInternalError, "broken"},
		{"partial with an error", value(tool.Result{Status: utp.StatusPartial}, errors.New("half")), utp.StatusPartial, utp.CodeInternalError, "half"},
		{"a panic", func(context.Context, *tool.Call) (tool.Result, error) { panic("at the disco") }, utp.StatusFailed, utp.CodeOutcomeUnknown, "the tool broke down: at the disco"},
		{"a value that is not JSON", value(tool.Result{Value: make(chan int)}, nil), utp.StatusFailed, utp.CodeResultNotSerializable, ""},
		{"a value and an error", value(tool.Result{Value: math.NaN()}, errors.New("broken")), utp.StatusFailed, utp.CodeInternalError, "broken"},
		{"a long error", value(tool.Result{}, errors.New(long)), utp.StatusFailed, utp.CodeInternalError, ""},
		{"an error that is not text", value(tool.Result{}, &utp.ToolError{Code: "\xff", Message: "\xfe", Detail: jsontext.Value("{")}), utp.StatusFailed, "\uFFFD", "\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serving(t, tool.Tool{Run: tt.run}, func(t *testing.T, k *kernel, _ func()) {
				k.command("tc_1", "run")
				f := k.finished()
				if f.Status != tt.status || (f.Error == nil) != (tt.code == "") {
					t.Fatalf("finished %s with %+v; want %s, %s", f.Status, f.Error, tt.status, tt.code)
				}
				if f.Error != nil && (f.Error.Code != tt.code || (tt.message != "" && f.Error.Message != tt.message)) {
					t.Errorf("the error is %+v; want %s %q", f.Error, tt.code, tt.message)
				}
				k.command("tc_2", "run") // the service lives on
				if k.count(api.OpFinish) != 2 {
					t.Error("the service does not work any more")
				}
			})
		})
	}
}

// TestPanicOfARead: it may be called again, whatever it had done.
func TestPanicOfARead(t *testing.T) {
	made := tool.Tool{Run: func(context.Context, *tool.Call) (tool.Result, error) { panic("at the disco") }}
	made.Definition.Class = utp.Read
	serving(t, made, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", "run")
		if f := k.finished(); f.Status != utp.StatusFailed || f.Error.Code != utp.CodeInternalError {
			t.Errorf("finished %s with %+v; want failed, internal_error", f.Status, f.Error)
		}
	})
}

// TestLargeResult: it goes in pieces; one over the limit is told of, not lost.
func TestLargeResult(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	serving(t, tool.Tool{Run: value(tool.Result{Value: big}, nil)}, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", "run")
		if f := k.finished(); f.Result.SHA256 == "" || f.Result.Size != 1<<20+2 || k.count(api.OpPut) != 5 {
			t.Errorf("finished with %+v after %d pieces", f.Result, k.count(api.OpPut))
		}
		k.answer[api.OpPut] = func(int, jsontext.Value) (any, error) { return nil, &api.Fault{Code: utp.CodeTooLarge} }
		k.command("tc_2", "run")
		if f := k.finished(); f.Status != utp.StatusFailed || f.Error.Code != utp.CodeTooLarge || f.Result.SHA256 != "" {
			t.Errorf("finished with %+v %+v", f.Error, f.Result)
		}
	})
}

// TestFinishUntilHeard: the result is told until somebody has heard it.
func TestFinishUntilHeard(t *testing.T) {
	serving(t, tool.Tool{Run: value(tool.Result{}, nil)}, func(t *testing.T, k *kernel, _ func()) {
		k.answer[api.OpFinish] = func(n int, _ jsontext.Value) (any, error) {
			switch {
			case n < 3:
				return nil, errCable
			case n < 6:
				return nil, &api.Fault{Code: utp.CodeUpstreamUnavailable, Retry: true}
			}
			return struct{}{}, nil
		}
		k.command("tc_1", "run")
		pass(5 * time.Minute)
		if k.count(api.OpFinish) != 7 {
			t.Errorf("told %d times; want seven", k.count(api.OpFinish))
		}
	})
}

// TestBeats: at a third of the lease while the tool works, not after it, and one that
// is lost does not cost the next.
func TestBeats(t *testing.T) {
	run := func(ctx context.Context, _ *tool.Call) (tool.Result, error) {
		select {
		case <-time.After(95 * time.Second):
		case <-ctx.Done():
		}
		return tool.Result{}, nil
	}
	for _, lost := range []bool{false, true} {
		t.Run(map[bool]string{true: "lost", false: "heard"}[lost], func(t *testing.T) {
			serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
				if lost {
					k.answer[api.OpHeartbeat] = func(n int, _ jsontext.Value) (any, error) {
						if n%3 == 0 {
							return nil, errCable
						}
						return api.HeartbeatAnswer{LeaseMS: 30_000}, nil
					}
				}
				began := time.Now()
				k.command("tc_1", "run")
				pass(3 * time.Minute)
				if n := k.count(api.OpHeartbeat); n < 9 || n > 10 {
					t.Errorf("%d beats in 95 s; want one every 10 s", n)
				}
				for i, at := range k.at[api.OpHeartbeat] {
					if i > 0 && at.Sub(k.at[api.OpHeartbeat][i-1]) > 20*time.Second {
						t.Errorf("beat %d came %v after the one before", i, at.Sub(k.at[api.OpHeartbeat][i-1]))
					}
					if at.Sub(began) > 95*time.Second {
						t.Error("a beat after the end")
					}
				}
				k.finished()
			})
		})
	}
}

// TestProgress: it travels with beats of its own, not more than five a second, the
// latest word each time; what is not a number is nothing.
func TestProgress(t *testing.T) {
	run := func(_ context.Context, c *tool.Call) (tool.Result, error) {
		c.Progress(math.NaN())
		for i := range 1000 {
			c.Progress(float64(i) / 1000)
			<-time.After(10 * time.Millisecond)
		}
		c.Progress(math.Inf(1))
		<-time.After(time.Second)
		c.Progress(-3)
		<-time.After(time.Second)
		return tool.Result{}, nil
	}
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", "run")
		pass(time.Minute)
		if n := k.count(api.OpHeartbeat); n < 45 || n > 60 {
			t.Errorf("%d beats in 12 s; want about five a second", n)
		}
		last, described := -1.0, []float64{}
		for _, raw := range k.asked[api.OpHeartbeat] {
			var q api.HeartbeatRequest
			k.read(raw, &q)
			if q.Fraction == nil {
				continue
			}
			described = append(described, *q.Fraction)
			if *q.Fraction < last && *q.Fraction != 0 {
				t.Errorf("%v was told after %v", *q.Fraction, last)
			}
			last = *q.Fraction
		}
		if n := len(described); n < 45 || described[n-2] != 1 || described[n-1] != 0 {
			t.Errorf("told: %v", described)
		}
	})
}

// worksUntilTold works until it is stopped and then says what it did.
func worksUntilTold(ctx context.Context, _ *tool.Call) (tool.Result, error) {
	<-ctx.Done()
	return tool.Result{Status: utp.StatusPartial, Value: "half of it"}, nil
}

// TestStopped: a running call is stopped by a notice, by the answer to a beat, or with
// its service, and each time says what it did.
func TestStopped(t *testing.T) {
	ways := map[string]func(k *kernel, stop func()){
		"notice": func(k *kernel, _ func()) { k.command("tc_1", utp.SuffixCancel) },
		"beat": func(k *kernel, _ func()) {
			k.mu.Lock()
			k.answer[api.OpHeartbeat] = func(int, jsontext.Value) (any, error) { return api.HeartbeatAnswer{Stop: true}, nil }
			k.mu.Unlock()
			pass(11 * time.Second)
		},
		"service": func(_ *kernel, stop func()) { stop() },
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			serving(t, tool.Tool{Run: worksUntilTold}, func(t *testing.T, k *kernel, stop func()) {
				k.command("tc_1", "run")
				k.command("tc_2", utp.SuffixCancel) // of a call that nobody has
				if k.count(api.OpFinish) != 0 {
					t.Fatal("it ended before it was told")
				}
				way(k, stop)
				synctest.Wait()
				if f := k.finished(); f.Status != utp.StatusPartial || string(f.Result.Inline) != `"half of it"` {
					t.Errorf("finished with %+v", f)
				}
			})
		})
	}
}

// TestStoppedWhileTheKernelIsAway: the person has stopped it, and what was done is told
// as soon as somebody hears it.
func TestStoppedWhileTheKernelIsAway(t *testing.T) {
	serving(t, tool.Tool{Run: worksUntilTold}, func(t *testing.T, k *kernel, _ func()) {
		back := time.Now().Add(3 * time.Minute)
		k.command("tc_1", "run")
		k.mu.Lock()
		k.answer[api.OpFinish] = func(int, jsontext.Value) (any, error) {
			if time.Now().Before(back) {
				return nil, errCable
			}
			return struct{}{}, nil
		}
		k.mu.Unlock()
		k.command("tc_1", utp.SuffixCancel)
		pass(4 * time.Minute)
		if n := len(k.at[api.OpFinish]); k.at[api.OpFinish][n-1].Before(back) {
			t.Error("it gave up before the kernel was back")
		}
	})
}

// TestEndsInTime: a service that is told to end has five seconds for its last words.
func TestEndsInTime(t *testing.T) {
	serving(t, tool.Tool{Run: worksUntilTold}, func(t *testing.T, k *kernel, stop func()) {
		k.mu.Lock()
		k.answer[api.OpFinish] = func(int, jsontext.Value) (any, error) { return nil, errCable }
		k.mu.Unlock()
		k.command("tc_1", "run")
		began := time.Now()
		stop()
		t.Cleanup(func() {
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("it took %v to end", took)
			}
		})
	})
}

// TestParallel: at most four at once; a call in hand, or one that waits, is not begun
// twice; a slot that is free again takes the one that has waited longest, unrung.
func TestParallel(t *testing.T) {
	var mu sync.Mutex
	now, most, all := 0, 0, 0
	run := func(context.Context, *tool.Call) (tool.Result, error) {
		mu.Lock()
		now++
		all++
		most = max(most, now)
		mu.Unlock()
		<-time.After(10 * time.Second)
		mu.Lock()
		now--
		mu.Unlock()
		return tool.Result{}, nil
	}
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		ring := func() {
			for _, call := range []string{"a", "b", "c", "d", "e", "f"} {
				k.command(call, "run")
				k.command(call, "run")
			}
		}
		ring()
		if all != 4 || k.count(api.OpStart) != 4 {
			t.Errorf("%d calls were begun with %d starts; want four", all, k.count(api.OpStart))
		}
		pass(11 * time.Second)
		if n := k.count(api.OpStart); n != 6 {
			t.Errorf("%d starts after the first four; want the two that waited, too", n)
		}
		pass(11 * time.Second)
		if all != 6 || most != 4 {
			t.Errorf("%d ran, %d at once", all, most)
		}
	})
}

// TestReconcile: what the tool can tell of a call that lapsed.
func TestReconcile(t *testing.T) {
	says := func(f tool.Outcome, r tool.Result, err error) func(context.Context, *tool.Call) (tool.Outcome, tool.Result, error) {
		return func(context.Context, *tool.Call) (tool.Outcome, tool.Result, error) { return f, r, err }
	}
	tests := []struct {
		name      string
		reconcile func(context.Context, *tool.Call) (tool.Outcome, tool.Result, error)
		fate      string
		status    utp.Status
		result    string
		code      utp.Code
	}{
		{"it cannot tell", nil, "unknown", "", "", ""},
		{"unknown", says(tool.Unknown, tool.Result{Value: 1}, nil), "unknown", "", "", ""},
		{"not begun", says(tool.NotBegun, tool.Result{}, nil), "not_begun", "", "", ""},
		{"done", says(tool.Done, tool.Result{Value: 7}, nil), "done", utp.StatusSuccess, "7", ""},
		{"done in part", says(tool.Done, tool.Result{Value: 7, Status: utp.StatusPartial}, nil), "done", utp.StatusPartial, "7", ""},
		{"done, no value", says(tool.Done, tool.Result{}, nil), "done", utp.StatusSuccess, "", ""},
		{"done, no JSON", says(tool.Done, tool.Result{Value: make(chan int)}, nil), "done", utp.StatusFailed, "", utp.CodeResultNotSerializable},
		{"an error", says(tool.Done, tool.Result{Value: 7}, errors.New("no")), "unknown", "", "", utp.CodeInternalError},
		{"a panic", func(context.Context, *tool.Call) (tool.Outcome, tool.Result, error) { panic("no") }, "unknown", "", "", utp.CodeInternalError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serving(t, tool.Tool{Run: value(tool.Result{}, nil), Reconcile: tt.reconcile}, func(t *testing.T, k *kernel, _ func()) {
				k.command("tc_1", utp.SuffixReconcile)
				var q api.SettleRequest
				k.read(k.asked[api.OpSettle][0], &q)
				if q.Call != "tc_1" || q.Outcome != tt.fate || q.Status != tt.status || string(q.Result.Inline) != tt.result {
					t.Errorf("settled as %+v", q)
				}
				if (q.Error == nil) != (tt.code == "") || (q.Error != nil && q.Error.Code != tt.code) {
					t.Errorf("settled with the error %+v; want %s", q.Error, tt.code)
				}
				if k.count(api.OpStart)+k.count(api.OpFinish) != 0 {
					t.Error("it was run")
				}
			})
		})
	}
}

// TestReconcileWhileRunning: a call that is in hand here is not reconciled: its owner
// is alive.
func TestReconcileWhileRunning(t *testing.T) {
	serving(t, tool.Tool{Run: worksUntilTold}, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", "run")
		k.command("tc_1", utp.SuffixReconcile)
		if k.count(api.OpReconcile)+k.count(api.OpSettle) != 0 {
			t.Error("a call in hand was reconciled")
		}
	})
}

// TestReady: an effect begins before the consent's last moment or not at all.
func TestReady(t *testing.T) {
	var errs []error
	run := func(_ context.Context, c *tool.Call) (tool.Result, error) {
		for _, wait := range []time.Duration{0, time.Minute - 1, 1} {
			<-time.After(wait)
			errs = append(errs, c.Ready())
		}
		return tool.Result{}, errs[2]
	}
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.command("tc_1", "run")
		pass(2 * time.Minute)
		var late *utp.ToolError
		if errs[0] != nil || errs[1] != nil || !errors.As(errs[2], &late) || late.Code != utp.CodeConsentStale {
			t.Errorf("ready: %v", errs)
		}
		if f := k.finished(); f.Status != utp.StatusFailed || f.Error.Code != utp.CodeConsentStale {
			t.Errorf("finished with %+v", f.Error)
		}
	})
	if (&tool.Call{}).Ready() != nil {
		t.Error("a call without a last moment is never too late")
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var args struct {
		N int `json:"n"`
	}
	for raw, ok := range map[string]bool{`{"n":1}`: true, `{}`: true, `{"n":1,"m":2}`: false, `{"N":1}`: false, `{"n":"1"}`: false, `{"n":1,"n":1}`: false, ``: false} {
		err := (&tool.Call{Args: jsontext.Value(raw)}).Decode(&args)
		var bad *utp.ToolError
		if (err == nil) != ok || (!ok && (!errors.As(err, &bad) || bad.Code != utp.CodeBadRequest)) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

// TestNoBeatAfterTheEnd: a beat that fell due while another was waited for is not sent when the
// work ends meanwhile, not even now and then.
func TestNoBeatAfterTheEnd(t *testing.T) {
	const calls = 20
	run := func(_ context.Context, c *tool.Call) (tool.Result, error) {
		<-time.After(9 * time.Second)
		c.Progress(0.5)
		<-time.After(3 * time.Second)
		return tool.Result{}, nil
	}
	serving(t, tool.Tool{Run: run}, func(t *testing.T, k *kernel, _ func()) {
		k.answer[api.OpHeartbeat] = func(int, jsontext.Value) (any, error) { return nil, errCable }
		for n := range calls {
			k.command("tc_"+strconv.Itoa(n), "run")
			pass(time.Minute)
		}
		if beats, ends := k.count(api.OpHeartbeat), k.count(api.OpFinish); beats != calls || ends != calls {
			t.Errorf("%d beats and %d ends of %d calls; want one of each", beats, ends, calls)
		}
	})
}
