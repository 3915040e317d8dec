package worker_test

import (
	"context"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// kernel plays the kernel with one turn. Each step's calls end after a while, with
// their own number as the result.
type kernel struct {
	t *testing.T

	mu     sync.Mutex
	turn   api.ClaimAnswer // what there is to claim; nothing when its Turn is empty
	epoch  int
	step   int
	ready  time.Time // when the calls of the step have ended
	needs  time.Duration
	done   []api.CallResult
	asked  map[string][]jsontext.Value
	at     map[string][]time.Time
	answer map[string]func(n int, request jsontext.Value) error // an error instead of the usual answer
	ring   func(turn string)
	ended  []api.DeliverRequest
	once   bool // the turn is handed out to the first who claims it
	apart  bool // the results do not come with the look that finds them
}

var errCable = errors.New("the cable is out")

func newKernel(t *testing.T) *kernel {
	t.Helper()
	return &kernel{
		t: t, turn: api.ClaimAnswer{Turn: "turn_1", Session: "sess_1", Args: jsontext.Value(`{"go":1}`), LeaseMS: 30_000},
		needs: 500 * time.Millisecond, asked: map[string][]jsontext.Value{}, at: map[string][]time.Time{},
		answer: map[string]func(int, jsontext.Value) error{},
	}
}

func (k *kernel) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(request) > utp.MessageLimit {
		return nil, &api.Fault{Code: utp.CodeTooLarge, Message: fmt.Sprintf("%d bytes", len(request))}
	}
	n := len(k.asked[op])
	k.asked[op], k.at[op] = append(k.asked[op], request), append(k.at[op], time.Now())
	if answer := k.answer[op]; answer != nil {
		if err := answer(n, request); err != nil {
			if refused, is := errors.AsType[*api.Fault](err); is {
				return api.EncodeAnswer(nil, refused), nil
			}
			return nil, err
		}
	}
	value, err := k.handle(op, request)
	return api.EncodeAnswer(value, err), ctx.Err()
}

func (k *kernel) handle(op string, request jsontext.Value) (any, error) {
	switch op {
	case api.OpClaim:
		if k.turn.Turn == "" || len(k.ended) > 0 {
			return api.ClaimAnswer{}, nil
		}
		k.epoch++
		a := k.turn
		if k.once {
			k.turn.Turn = ""
		}
		a.Epoch, a.Step, a.Suspended = k.epoch, k.step, time.Now().Before(k.ready)
		return a, nil
	case api.OpCall:
		var q api.CallRequest
		k.read(request, &q)
		if len(q.Calls) == 0 {
			return nil, &api.Fault{Code: utp.CodeBadRequest, Message: "a step needs at least one call"}
		}
		if q.Step == k.step {
			return struct{}{}, nil
		}
		k.step, k.ready = q.Step, time.Now().Add(k.needs)
		for _, c := range q.Calls {
			k.done = append(k.done, api.CallResult{
				Key: c.Key, Call: fmt.Sprintf("tc_%d", len(k.done)+1), Tool: c.Tool, Status: utp.StatusSuccess,
				Result: api.Body{Inline: jsontext.Value(fmt.Sprint(len(k.done) + 1))},
			})
		}
		return struct{}{}, nil
	case api.OpResume:
		if time.Now().Before(k.ready) {
			return api.ResumeAnswer{Step: k.step, Waiting: 1}, nil
		}
		k.epoch++
		if k.apart {
			return api.ResumeAnswer{Step: k.step, Epoch: k.epoch}, nil
		}
		return api.ResumeAnswer{Step: k.step, Epoch: k.epoch, TranscriptAnswer: k.page(request)}, nil
	case api.OpTranscript:
		return k.page(request), nil
	case api.OpDeliver:
		var q api.DeliverRequest
		k.read(request, &q)
		k.ended = append(k.ended, q)
	}
	return struct{}{}, nil
}

func (k *kernel) page(request jsontext.Value) api.TranscriptAnswer {
	var q api.TranscriptRequest
	k.read(request, &q)
	page := api.TranscriptAnswer{Results: k.done[min(q.After, len(k.done)):]}
	if len(page.Results) > 2 { // small pages
		page.Results, page.More = page.Results[:2], true
	}
	return page
}

func (k *kernel) read(raw jsontext.Value, into any) {
	if err := json.Unmarshal(raw, into); err != nil {
		k.t.Error(err)
	}
}

func (k *kernel) Wakeups(_ context.Context, notify func(string)) (func(), error) {
	k.ring = notify
	return func() {}, nil
}

func (k *kernel) count(op string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.asked[op])
}

// delivered returns the one request that ended the turn.
func (k *kernel) delivered() api.DeliverRequest {
	k.t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.ended) != 1 {
		k.t.Fatalf("the turn was ended %d times", len(k.ended))
	}
	return k.ended[0]
}

// steps plans a fixed number of steps with two calls each.
type steps struct {
	n    int
	seen []worker.Result
	fail error
}

func (s *steps) Observe(r worker.Result) error {
	s.seen = append(s.seen, r)
	return s.fail
}

func (s *steps) Next() (worker.Decision, error) {
	if i := len(s.seen) / 2; i < s.n {
		return worker.Decision{Calls: []worker.Call{
			{Key: fmt.Sprintf("a%d", i), Tool: "look", Args: map[string]int{"i": i}, Comment: "because", From: 1, To: 2},
			{Key: fmt.Sprintf("b%d", i), Tool: "look", Args: []int{i}},
		}}, nil
	}
	return worker.Decision{Answer: &worker.Answer{Summary: "All seen.", Output: "I have seen it all."}}, nil
}

// next is a planner of one kind of move.
type next func() (worker.Decision, error)

func (next) Observe(worker.Result) error      { return nil }
func (f next) Next() (worker.Decision, error) { return f() }

func working(t *testing.T, k func(*kernel), plan func(args jsontext.Value) (worker.Planner, error), play func(t *testing.T, k *kernel)) {
	t.Helper()
	workingAt(t, worker.Options{}, k, plan, play)
}

func workingAt(t *testing.T, o worker.Options, k func(*kernel), plan func(args jsontext.Value) (worker.Planner, error), play func(t *testing.T, k *kernel)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kernel := newKernel(t)
		if k != nil {
			k(kernel)
		}
		o.Conn, o.Agent = kernel, worker.Agent{
			Name: "tidy", Plan: func(_ context.Context, args jsontext.Value) (worker.Planner, error) { return plan(args) },
		}
		w, err := worker.New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		synctest.Wait()
		play(t, kernel)
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

// deafOnce is a way to the kernel on which the answer to the first claim is lost.
type deafOnce struct {
	*kernel

	lost bool
}

func (d *deafOnce) Request(ctx context.Context, op string, request []byte) ([]byte, error) {
	answer, err := d.kernel.Request(ctx, op, request)
	if op == api.OpClaim && !d.lost {
		d.lost = true
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return answer, err
}

// TestClaimUnanswered: a claim whose answer is lost is made again, also where the worker's own
// context has a deadline, which a request would take for its own.
func TestClaimUnanswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		w, err := worker.New(worker.Options{Conn: &deafOnce{kernel: k}, Agent: worker.Agent{
			Name: "tidy", Plan: func(context.Context, jsontext.Value) (worker.Planner, error) { return &steps{}, nil },
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		pass(30 * time.Second)
		if n := k.count(api.OpDeliver); n != 1 {
			t.Errorf("after half a minute the turn has been delivered %d times", n)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	plan := func(context.Context, jsontext.Value) (worker.Planner, error) { return &steps{}, nil }
	for name, o := range map[string]worker.Options{
		"no conn":       {Agent: worker.Agent{Name: "a", Plan: plan}},
		"no name":       {Conn: newKernel(t), Agent: worker.Agent{Plan: plan}},
		"no plan":       {Conn: newKernel(t), Agent: worker.Agent{Name: "a"}},
		"no randomness": {Conn: newKernel(t), Agent: worker.Agent{Name: "a", Plan: plan}, Rand: strings.NewReader("short")},
	} {
		if _, err := worker.New(o); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// TestWholeTurn: steps one after the other, each result seen once and in order, one
// answer.
func TestWholeTurn(t *testing.T) {
	p := &steps{n: 3}
	var given jsontext.Value
	plan := func(args jsontext.Value) (worker.Planner, error) { given = args; return p, nil }
	working(t, nil, plan, func(t *testing.T, k *kernel) {
		pass(10 * time.Second)
		d := k.delivered()
		if d.Status != utp.StatusSuccess || d.Summary != "All seen." || d.Output != "I have seen it all." || d.Turn != "turn_1" {
			t.Errorf("delivered %+v", d)
		}
		if string(given) != `{"go":1}` {
			t.Errorf("planned from %s", given)
		}
		if len(p.seen) != 6 {
			t.Fatalf("%d results seen; want six", len(p.seen))
		}
		for i, r := range p.seen {
			if string(r.Value) != fmt.Sprint(i+1) || r.Call != fmt.Sprintf("tc_%d", i+1) || r.Status != utp.StatusSuccess || r.Tool != "look" {
				t.Errorf("result %d is %+v", i, r)
			}
		}
		var first api.CallRequest
		k.read(k.asked[api.OpCall][0], &first)
		c := first.Calls[0]
		if first.Step != 1 || c.Key != "a0" || string(c.Args.Inline) != `{"i":0}` || c.Comment != "because" || c.From != 1 || c.To != 2 {
			t.Errorf("asked for %+v", first)
		}
		if d.Epoch != 4 || d.Worker != first.Worker || !strings.HasPrefix(d.Worker, "wrk_") {
			t.Errorf("delivered as %+v; want under the last epoch", d.WorkerRequest)
		}
	})
}

// TestBellAndPoll: a wakeup takes effect at once; without one the worker polls every second.
func TestBellAndPoll(t *testing.T) {
	k := func(k *kernel) { k.turn.Turn = "" }
	working(t, k, func(jsontext.Value) (worker.Planner, error) { return &steps{}, nil }, func(t *testing.T, k *kernel) {
		pass(10*time.Second + time.Millisecond)
		if n := k.count(api.OpClaim); n != 11 {
			t.Errorf("looked %d times in 10 s; want every second", n)
		}
		k.mu.Lock()
		k.turn.Turn = "turn_2"
		k.mu.Unlock()
		k.ring("")
		k.ring("")
		synctest.Wait()
		if k.delivered().Turn != "turn_2" {
			t.Error("the ring was not heard")
		}
	})
}

// TestResultsComeWithTheLook: what was found to have ended needs no second question, unless
// the kernel leaves it at that.
func TestResultsComeWithTheLook(t *testing.T) {
	for apart, want := range map[bool]int{false: 0, true: 3} { // one for each step; a turn that begins has none
		t.Run(fmt.Sprintf("apart %t", apart), func(t *testing.T) {
			plan := func(jsontext.Value) (worker.Planner, error) { return &steps{n: 3}, nil }
			working(t, func(k *kernel) { k.apart = apart }, plan, func(t *testing.T, k *kernel) {
				pass(time.Minute)
				k.delivered()
				if n := k.count(api.OpTranscript); n != want {
					t.Errorf("asked %d times for results, want %d", n, want)
				}
			})
		})
	}
}

// TestBellOfATurn: a wakeup wakes the slot that holds its turn or, if none does, those that could claim it; others
// would poll in vain.
func TestBellOfATurn(t *testing.T) {
	k := func(k *kernel) { k.needs, k.once = time.Hour, true } // turn_1 is in hand; there is no other
	plan := func(jsontext.Value) (worker.Planner, error) { return &steps{n: 1}, nil }
	workingAt(t, worker.Options{Turns: 2, Poll: time.Hour}, k, plan, func(t *testing.T, k *kernel) {
		for _, c := range []struct {
			turn          string
			resume, claim int
		}{{"turn_1", 1, 0}, {"turn_9", 0, 1}, {"", 1, 1}} {
			resume, claim := k.count(api.OpResume), k.count(api.OpClaim)
			k.ring(c.turn)
			synctest.Wait()
			if r, q := k.count(api.OpResume)-resume, k.count(api.OpClaim)-claim; r != c.resume || q != c.claim {
				t.Errorf("woken for %q: %d looks and %d claims, want %d and %d", c.turn, r, q, c.resume, c.claim)
			}
		}
	})
}

// TestIdle: while it finds nothing a worker polls less and less often, down to once per Idle; a wakeup still takes
// effect at once, and resets the pace.
func TestIdle(t *testing.T) {
	k := func(k *kernel) { k.turn.Turn = "" }
	plan := func(jsontext.Value) (worker.Planner, error) { return &steps{}, nil }
	workingAt(t, worker.Options{Idle: 15 * time.Second}, k, plan, func(t *testing.T, k *kernel) {
		looks := func(d time.Duration) int {
			before := k.count(api.OpClaim)
			pass(d)
			return k.count(api.OpClaim) - before
		}
		if n := looks(15*time.Second + time.Millisecond); n != 4 { // after 1, 2, 4 and 8 s
			t.Errorf("looked %d times in the first 15 s; want 4", n)
		}
		if n := looks(5 * time.Minute); n != 20 {
			t.Errorf("looked %d times in 5 minutes; want once in 15 s", n)
		}
		k.ring("")
		if n := looks(time.Millisecond); n != 1 {
			t.Errorf("looked %d times after a ring; want at once", n)
		}
		if n := looks(time.Second); n != 1 {
			t.Errorf("looked %d times in the second after; want once", n)
		}
	})
}

// TestLostAnswers: every operation is repeated until there is an answer.
func TestLostAnswers(t *testing.T) {
	for _, op := range []string{api.OpClaim, api.OpCall, api.OpResume, api.OpTranscript, api.OpDeliver} {
		t.Run(op, func(t *testing.T) {
			p := &steps{n: 2}
			k := func(k *kernel) {
				k.answer[op] = func(n int, _ jsontext.Value) error {
					if n%3 != 2 {
						return errCable
					}
					return nil
				}
			}
			plan := func(jsontext.Value) (worker.Planner, error) { p = &steps{n: 2}; return p, nil }
			working(t, k, plan, func(t *testing.T, k *kernel) {
				pass(time.Minute)
				if k.delivered().Status != utp.StatusSuccess || len(p.seen) != 4 || k.step != 2 {
					t.Errorf("%d results after %d steps", len(p.seen), k.step)
				}
			})
		})
	}
}

// TestGoesOn: a worker that claims a turn in the middle is fed what is recorded, waits
// for what is open, and does not ask for it again.
func TestGoesOn(t *testing.T) {
	p := &steps{n: 2}
	k := func(k *kernel) {
		k.step, k.ready = 1, time.Now().Add(20*time.Second)
		for i := range 2 {
			k.done = append(k.done, api.CallResult{Key: fmt.Sprint(i), Call: "tc", Status: utp.StatusSuccess, Result: api.Body{Inline: jsontext.Value("0")}})
		}
	}
	working(t, k, func(jsontext.Value) (worker.Planner, error) { return p, nil }, func(t *testing.T, k *kernel) {
		pass(10 * time.Second)
		if k.count(api.OpCall)+k.count(api.OpTranscript) != 0 {
			t.Error("it did not wait")
		}
		pass(20 * time.Second)
		k.delivered()
		if k.count(api.OpCall) != 1 || len(p.seen) != 4 || k.step != 2 {
			t.Errorf("%d steps were asked for, %d results seen", k.count(api.OpCall), len(p.seen))
		}
	})
}

// TestLetGoInVain: a turn that the kernel does not take back, because it came into these hands
// a second time meanwhile, is waited for as before, and not asked about without a pause.
func TestLetGoInVain(t *testing.T) {
	workingAt(t, worker.Options{Retain: 10 * time.Second}, func(k *kernel) {
		k.needs = 2 * time.Minute
		k.answer[api.OpRelease] = func(n int, _ jsontext.Value) error {
			if n > 100 { // time stands still while it asks
				return &api.Fault{Code: utp.CodeTurnEnded, Message: "it asks without a pause"}
			}
			return &api.Fault{Code: utp.CodeStale, Message: "the turn is leased under another epoch"}
		}
	}, func(jsontext.Value) (worker.Planner, error) { return &steps{n: 1}, nil }, func(t *testing.T, k *kernel) {
		pass(time.Minute)
		if n := k.count(api.OpRelease); n == 0 || n > 6 {
			t.Errorf("let go of %d times in a minute; want once in 10 s", n)
		}
		if n := k.count(api.OpResume); n > 70 {
			t.Errorf("asked %d times in a minute", n)
		}
		pass(2 * time.Minute)
		if d := k.delivered(); d.Status != utp.StatusSuccess {
			t.Errorf("delivered %+v", d)
		}
	})
}

// TestKeepsItsTurn: while it waits for a person the lease is renewed at a third of it.
func TestKeepsItsTurn(t *testing.T) {
	k := func(k *kernel) { k.needs = 10 * time.Minute }
	working(t, k, func(jsontext.Value) (worker.Planner, error) { return &steps{n: 1}, nil }, func(t *testing.T, k *kernel) {
		pass(11 * time.Minute)
		k.delivered()
		at := k.at[api.OpRenew]
		if len(at) < 55 || len(at) > 62 {
			t.Errorf("renewed %d times in 10 min; want every 10 s", len(at))
		}
		for i := range at {
			if i > 0 && at[i].Sub(at[i-1]) > 15*time.Second {
				t.Errorf("renewal %d came %v after the one before", i, at[i].Sub(at[i-1]))
			}
		}
	})
}

// TestLosesItsTurn: a worker that has lost its turn leaves it, and claims another. A refused renewal only says that the
// turn has moved on; the next poll shows how.
func TestLosesItsTurn(t *testing.T) {
	for _, op := range []string{api.OpCall, api.OpResume, api.OpTranscript, api.OpDeliver, api.OpRenew} {
		t.Run(op, func(t *testing.T) {
			k := func(k *kernel) {
				k.needs, k.epoch = 30*time.Second, 1 // another worker had it: there may be results
				k.answer[op] = func(n int, _ jsontext.Value) error {
					if n == 0 {
						return &api.Fault{Code: utp.CodeStale}
					}
					return nil
				}
			}
			plans := 0
			plan := func(jsontext.Value) (worker.Planner, error) { plans++; return &steps{n: 1}, nil }
			working(t, k, plan, func(t *testing.T, k *kernel) {
				pass(2 * time.Minute)
				k.delivered()
				want := 2
				if op == api.OpRenew {
					want = 1
				}
				if plans != want || k.count(api.OpClaim) < want {
					t.Errorf("planned %d times; want %d", plans, want)
				}
			})
		})
	}
}

// TestTurnEnded: a stop is not a failure; the worker goes on to the next turn.
func TestTurnEnded(t *testing.T) {
	for _, code := range []utp.Code{utp.CodeTurnEnded, utp.CodeStopped} {
		for _, op := range []string{api.OpCall, api.OpResume, api.OpDeliver} {
			t.Run(string(code)+" "+op, func(t *testing.T) {
				k := func(k *kernel) {
					k.answer[op] = func(int, jsontext.Value) error { k.turn.Turn = ""; return &api.Fault{Code: code} }
				}
				working(t, k, func(jsontext.Value) (worker.Planner, error) { return &steps{n: 1}, nil }, func(t *testing.T, k *kernel) {
					pass(time.Minute)
					if k.count(op) != 1 || len(k.ended) != 0 {
						t.Errorf("asked %d times for %s, ended %d times", k.count(op), op, len(k.ended))
					}
					if n := k.count(api.OpClaim); n < 30 {
						t.Errorf("looked %d times for another turn", n)
					}
				})
			})
		}
	}
}

// TestFailures: whatever is wrong with a planner, its turn ends, once, and says why.
func TestFailures(t *testing.T) {
	broken := errors.New("out of ideas")
	tests := []struct {
		name string
		plan func(jsontext.Value) (worker.Planner, error)
		code utp.Code
		says string
	}{
		{"no plan", func(jsontext.Value) (worker.Planner, error) { return nil, broken }, utp.CodeBadRequest, "out of ideas"},
		{"no move", plannerOf(worker.Decision{}, broken), utp.CodeInternalError, "out of ideas"},
		{"an empty move", plannerOf(worker.Decision{}, nil), utp.CodeBadRequest, "empty"},
		{"no sense of its results", func(jsontext.Value) (worker.Planner, error) { return &steps{n: 1, fail: broken}, nil }, utp.CodeInternalError, "out of ideas"},
		{"arguments that are not JSON", plannerOf(worker.Decision{Calls: []worker.Call{{Key: "k", Tool: "t", Args: math.NaN()}}}, nil), utp.CodeBadRequest, "not JSON"},
		{"words that are not text", plannerOf(worker.Decision{Calls: []worker.Call{{Key: "k", Tool: "t", Comment: "\xff"}}}, nil), utp.CodeBadRequest, "not JSON"},
		{"words without end", plannerOf(worker.Decision{Calls: []worker.Call{{Key: "k", Tool: "t", Comment: strings.Repeat("x", 1<<20)}}}, nil), utp.CodeBadRequest, "bytes"},
		{"an answer without end", plannerOf(answer(strings.Repeat("x", 1<<20)), nil), utp.CodeInternalError, "refused"},
		{"an answer that is not text", plannerOf(answer("\xff"), nil), utp.CodeInternalError, "refused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			working(t, nil, tt.plan, func(t *testing.T, k *kernel) {
				pass(time.Minute)
				d := k.delivered()
				if d.Status != utp.StatusFailed || d.Code != tt.code || !strings.Contains(d.Summary, tt.says) {
					t.Errorf("delivered %s %s %.200q; want failed %s, with %q", d.Status, d.Code, d.Summary, tt.code, tt.says)
				}
			})
		})
	}
}

func plannerOf(m worker.Decision, err error) func(jsontext.Value) (worker.Planner, error) {
	return func(jsontext.Value) (worker.Planner, error) {
		return next(func() (worker.Decision, error) { return m, err }), nil
	}
}

func answer(text string) worker.Decision {
	return worker.Decision{Answer: &worker.Answer{Summary: "So.", Output: text}}
}

// TestAnswers: the status is the planner's, or success by default; the kernel refuses an invalid one, and the turn
// fails.
func TestAnswers(t *testing.T) {
	for status, want := range map[utp.Status]utp.Status{
		"": utp.StatusSuccess, utp.StatusPartial: utp.StatusPartial, utp.StatusCanceled: utp.StatusCanceled, "odd": utp.StatusFailed,
	} {
		t.Run(string(status), func(t *testing.T) {
			k := func(k *kernel) {
				k.answer[api.OpDeliver] = func(_ int, request jsontext.Value) error {
					var q api.DeliverRequest
					k.read(request, &q)
					if !q.Status.Valid() {
						return &api.Fault{Code: utp.CodeBadRequest}
					}
					return nil
				}
			}
			m := worker.Decision{Answer: &worker.Answer{Status: status, Code: "c", Summary: "So."}}
			working(t, k, plannerOf(m, nil), func(t *testing.T, k *kernel) {
				pass(time.Second)
				if d := k.delivered(); d.Status != want {
					t.Errorf("delivered %+v; want %s", d, want)
				}
			})
		})
	}
}

// TestArgsAreJSON: arguments reach the kernel as the JSON that they are, whatever type holds it, and never as base64.
func TestArgsAreJSON(t *testing.T) {
	type own []byte
	const want = `{"path":"/a"}`
	var calls []worker.Call
	for i, args := range []any{
		[]byte(want), jsontext.Value(want), jsonv1.RawMessage(want), own(want),
		map[string]string{"path": "/a"},
		struct {
			Path string `json:"path"`
		}{"/a"},
	} {
		calls = append(calls, worker.Call{Key: fmt.Sprint(i), Tool: "t", Args: args})
	}
	working(t, nil, plannerOf(worker.Decision{Calls: calls}, nil), func(t *testing.T, k *kernel) {
		pass(time.Second)
		var asked api.CallRequest
		k.read(k.asked[api.OpCall][0], &asked)
		for i, c := range asked.Calls {
			if string(c.Args.Inline) != want {
				t.Errorf("the arguments in %T came as %s", calls[i].Args, c.Args.Inline)
			}
		}
		if len(asked.Calls) != len(calls) {
			t.Errorf("asked for %d calls, want %d", len(asked.Calls), len(calls))
		}
	})
}

// TestManyLargeCalls: a step's arguments travel in one message or beside it.
func TestManyLargeCalls(t *testing.T) {
	var calls []worker.Call
	for i := range 10 {
		calls = append(calls, worker.Call{Key: fmt.Sprint(i), Tool: "t", Args: strings.Repeat("x", 100<<10)})
	}
	asked := false
	plan := func(jsontext.Value) (worker.Planner, error) {
		return next(func() (worker.Decision, error) {
			if asked {
				return answer("Done."), nil
			}
			asked = true
			return worker.Decision{Calls: calls}, nil
		}), nil
	}
	working(t, nil, plan, func(t *testing.T, k *kernel) {
		pass(10 * time.Second)
		if k.delivered().Status != utp.StatusSuccess || k.count(api.OpPut) != 8 {
			t.Errorf("%d blobs; want eight, and two inline", k.count(api.OpPut))
		}
	})
}

// TestStopsAtOnce: a worker that is stopped leaves its turn as it is.
func TestStopsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		k.needs = time.Hour
		w, err := worker.New(worker.Options{Conn: k, Agent: worker.Agent{Name: "a", Plan: func(context.Context, jsontext.Value) (worker.Planner, error) {
			return &steps{n: 1}, nil
		}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		pass(time.Minute)
		began := time.Now()
		stop()
		if err := <-done; err != nil || time.Since(began) > time.Second || len(k.ended) != 0 {
			t.Errorf("%v after %v, ended %d times", err, time.Since(began), len(k.ended))
		}
	})
}

// meets is a planner that answers once another one is at work as well.
type meets struct{ arrived, both chan struct{} }

func (meets) Observe(worker.Result) error { return nil }

func (m meets) Next() (worker.Decision, error) {
	select {
	case m.arrived <- struct{}{}: // the other one takes it
	case <-m.arrived:
	}
	return worker.Decision{Answer: &worker.Answer{Summary: "met"}}, nil
}

// TestTurnsAtOnce: two turns are in hand at once, each under a name of its own, so that the
// kernel can tell who holds which.
func TestTurnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKernel(t)
		m := meets{arrived: make(chan struct{})}
		w, err := worker.New(worker.Options{Conn: k, Turns: 2, Agent: worker.Agent{
			Name: "a", Plan: func(context.Context, jsontext.Value) (worker.Planner, error) { return m, nil },
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		synctest.Wait()
		names := map[string]bool{}
		for _, raw := range k.asked[api.OpDeliver] {
			var q api.DeliverRequest
			if err := json.Unmarshal(raw, &q); err != nil {
				t.Fatal(err)
			}
			names[q.Worker] = true
		}
		if len(names) != 2 {
			t.Errorf("delivered by %v; want two names", names)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// ringing is a planner that answers at once, while wakeups come.
type ringing struct {
	steps

	ring func()
}

func (r *ringing) Next() (worker.Decision, error) {
	r.ring()
	synctest.Wait() // for anyone who receives it
	return r.steps.Next()
}

// TestAnswersAtOnce: a turn whose planner has already answered is never checked.
func TestAnswersAtOnce(t *testing.T) {
	const many = 30
	var wakeup func(turn string)
	plan := func(jsontext.Value) (worker.Planner, error) {
		return &ringing{steps: steps{n: many}, ring: func() { wakeup("turn_1") }}, nil
	}
	working(t, func(k *kernel) { k.needs, k.turn.Turn = 0, "" }, plan, func(t *testing.T, k *kernel) {
		k.mu.Lock()
		wakeup, k.turn.Turn = k.ring, "turn_1"
		k.mu.Unlock()
		pass(time.Minute)
		k.delivered()
		if n := k.count(api.OpResume); n != many {
			t.Errorf("%d looks at a turn of %d steps; want one for each", n, many)
		}
	})
}
