package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// task is what a turn has to do: everything about it follows from these two numbers.
type task struct {
	Seed  uint64 `json:"seed"`
	Steps int    `json:"steps"`
}

// steps are the calls of a task.
func (t task) steps() [][]worker.Call {
	random := rand.New(rand.NewPCG(t.Seed, 1))
	all := make([][]worker.Call, t.Steps)
	n := 0
	for i := range all {
		for range 1 + random.IntN(4) {
			n++
			name := "look"
			switch roll := random.IntN(20); {
			case roll < 2:
				name = "burn"
			case roll < 8:
				name = "set"
			}
			all[i] = append(all[i], worker.Call{Key: fmt.Sprintf("k%d", n), Tool: target + "." + name, Args: deed{N: n}})
		}
	}
	return all
}

// calls counts them.
func (t task) calls() int {
	n := 0
	for _, step := range t.steps() {
		n += len(step)
	}
	return n
}

// planner plans a task. It complains in its answer of anything that it should not have seen.
type planner struct {
	steps    [][]worker.Call
	step     int
	waits    map[string]int // the number of each call of this step whose result is to come
	seen     int
	troubles []string
}

func planned(_ context.Context, args jsontext.Value) (worker.Planner, error) {
	var t task
	if err := json.Unmarshal(args, &t); err != nil {
		return nil, err
	}
	return &planner{steps: t.steps()}, nil
}

// Observe implements worker.Planner.
func (b *planner) Observe(r worker.Result) error {
	if len(b.waits) == 0 && b.step < len(b.steps) { // a planner that starts again is given the results only
		b.begin()
	}
	n, waited := b.waits[r.Key]
	delete(b.waits, r.Key)
	b.seen++
	var got deed
	switch {
	case !waited:
		b.complainf("%s was applied twice, or in a wrong step", r.Key)
	case r.Status == utp.StatusSuccess:
		if err := json.Unmarshal(r.Value, &got); err != nil || got.N != n {
			b.complainf("%s has the result %s", r.Key, r.Value)
		}
	case r.Tool == target+".burn": // declined, stale, or of unknown fate: the verdict looks at those
	case r.Code == utp.CodeConsentStale, r.Code == utp.CodeToolTimeout: // nobody could start it in time
	case r.Tool == target+".set" && r.Code == utp.CodeOutcomeUnknown: // or nobody again, after one that was killed over it
	default:
		b.complainf("%s %s: %s", r.Key, r.Code, r.Message)
	}
	return nil
}

func (b *planner) begin() {
	b.waits = map[string]int{}
	for _, c := range b.steps[b.step] {
		b.waits[c.Key] = c.Args.(deed).N
	}
	b.step++
}

func (b *planner) complainf(format string, args ...any) {
	b.troubles = append(b.troubles, fmt.Sprintf(format, args...))
}

// Next implements worker.Planner.
func (b *planner) Next() (worker.Decision, error) {
	for key := range b.waits {
		b.complainf("%s was never applied", key)
		delete(b.waits, key)
	}
	switch {
	case len(b.troubles) > 0:
		return worker.Decision{Answer: &worker.Answer{Status: utp.StatusFailed, Code: "chaos_lost", Summary: "Trouble: " + b.troubles[0]}}, nil
	case b.step < len(b.steps):
		calls := b.steps[b.step]
		b.begin()
		return worker.Decision{Calls: calls}, nil
	}
	return worker.Decision{Answer: &worker.Answer{Summary: fmt.Sprintf("Seen %d.", b.seen)}}, nil
}
