package worker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// TestImpossibleMoves: each fails its turn and says why.
func TestImpossibleMoves(t *testing.T) {
	call := func(key string) worker.Call { return worker.Call{Key: key, Tool: "look"} }
	many := make([]worker.Call, 257)
	for i := range many {
		many[i] = call(fmt.Sprint(i))
	}
	answer, handoff, asks := &worker.Answer{Summary: "So."}, &worker.Handoff{Reason: "Help."}, &worker.Question{Key: "a", Text: "Which?"}
	for name, tt := range map[string]struct {
		move worker.Decision
		says string
	}{
		"nothing":               {worker.Decision{}, "empty"},
		"an answer and a call":  {worker.Decision{Answer: answer, Calls: []worker.Call{call("a")}}, "ends the turn and goes on"},
		"two ends":              {worker.Decision{Answer: answer, Handoff: handoff}, "ends it twice"},
		"a question at the end": {worker.Decision{Handoff: handoff, Question: asks}, "ends the turn and goes on"},
		"too many":              {worker.Decision{Calls: many}, "257 calls; at most 256"},
		"no key":                {worker.Decision{Calls: []worker.Call{call("a"), call("")}}, "call 2 of the planner's step, of look, has a key of 0 bytes"},
		"a long key":            {worker.Decision{Calls: []worker.Call{call(strings.Repeat("k", 129))}}, "129 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			working(t, nil, plannerOf(tt.move, nil), func(t *testing.T, k *kernel) {
				pass(time.Second)
				d := k.delivered()
				if d.Status != utp.StatusFailed || d.Code != utp.CodeBadRequest || !strings.Contains(d.Summary, tt.says) || k.count(api.OpCall) != 0 {
					t.Errorf("delivered %s %s %q; want %q", d.Status, d.Code, d.Summary, tt.says)
				}
			})
		})
	}
}

// TestMostCalls: 256 calls of a step are one request, and their results come in order.
func TestMostCalls(t *testing.T) {
	var seen []worker.Result
	working(t, nil, func(jsontext.Value) (worker.Planner, error) {
		return watching{&seen, 256}, nil
	}, func(t *testing.T, k *kernel) {
		pass(time.Minute)
		if k.delivered().Status != utp.StatusSuccess || k.count(api.OpCall) != 1 || len(seen) != 256 {
			t.Fatalf("%d requests, %d results", k.count(api.OpCall), len(seen))
		}
		for i, r := range seen {
			if r.Key != fmt.Sprint(i) {
				t.Fatalf("result %d is that of %s", i, r.Key)
			}
		}
	})
}

// watching makes so many calls in one step.
type watching struct {
	seen *[]worker.Result
	n    int
}

func (w watching) Observe(r worker.Result) error {
	*w.seen = append(*w.seen, r)
	return nil
}

func (w watching) Next() (worker.Decision, error) {
	if len(*w.seen) == w.n {
		return answer("Done."), nil
	}
	var calls []worker.Call
	for i := range w.n {
		calls = append(calls, worker.Call{Key: fmt.Sprint(i), Tool: "look"})
	}
	return worker.Decision{Calls: calls}, nil
}

// TestPanics: wherever a planner panics, its turn fails and the worker goes on.
func TestPanics(t *testing.T) {
	for name, plan := range map[string]func(jsontext.Value) (worker.Planner, error){
		"making it": func(jsontext.Value) (worker.Planner, error) { panic("no plan") },
		"moving": func(jsontext.Value) (worker.Planner, error) {
			return next(func() (worker.Decision, error) { panic(errors.New("no move")) }), nil
		},
		"observing":  func(jsontext.Value) (worker.Planner, error) { return blind{}, nil },
		"no planner": func(jsontext.Value) (worker.Planner, error) { return nil, nil }, //nolint:nilnil // That is the mistake.
	} {
		t.Run(name, func(t *testing.T) {
			working(t, nil, plan, func(t *testing.T, k *kernel) {
				pass(10 * time.Second)
				if d := k.delivered(); d.Status != utp.StatusFailed || d.Code != utp.CodeInternalError && d.Code != utp.CodeBadRequest {
					t.Errorf("delivered %+v", d)
				}
				if n := k.count(api.OpClaim); n < 5 {
					t.Errorf("looked for %d other turns", n)
				}
			})
		})
	}
}

// blind panics at the sight of a result.
type blind struct{}

func (blind) Observe(worker.Result) error { panic("no eyes") }
func (blind) Next() (worker.Decision, error) {
	return worker.Decision{Calls: []worker.Call{{Key: "a", Tool: "look"}}}, nil
}
