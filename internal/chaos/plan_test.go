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

const (
	forkJoin = "fork_join"
	forkStep = 1 // the step in which parts are handed out
	partSize = 2 // steps
)

// parts are the tasks that others do for this one: every fourth has some, so that all together stay below what a person may
// have open. They have none themselves.
func (t task) parts() (all []task) {
	if t.Steps != turnSize || t.Seed%4 != 0 {
		return nil
	}
	for i := range uint64(2) {
		all = append(all, task{Seed: t.Seed<<8 | i, Steps: partSize})
	}
	return all
}

// fork is the call that hands them out.
func (t task) fork(parts []task) worker.Call {
	type one struct {
		Strategy    string `json:"target_strategy"`
		Target      string `json:"target_ref"`
		Instruction string `json:"instruction"`
	}
	var tasks []one
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			panic(err) // it is two numbers
		}
		tasks = append(tasks, one{"new", agent, string(text)})
	}
	return worker.Call{Key: forkJoin, Tool: forkJoin, Args: map[string]any{"tasks": tasks}}
}

// seen is what a turn that does it says in the end.
func (t task) seen() string { return fmt.Sprintf("Seen %d.", t.calls()) }

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
			all[i] = append(all[i], worker.Call{Key: fmt.Sprintf("k%d", n), Tool: target + "." + name, Args: effect{N: n}})
		}
	}
	if parts := t.parts(); len(parts) > 0 {
		all[forkStep] = append(all[forkStep], t.fork(parts))
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
	task     task
	steps    [][]worker.Call
	step     int
	waits    map[string]int // the number of each call of this step whose result is to come
	seen     int
	troubles []string
}

func planned(_ context.Context, args jsontext.Value) (worker.Planner, error) {
	var wanted struct {
		task

		Text string `json:"text"` // of a part
	}
	err := json.Unmarshal(args, &wanted)
	if err == nil && wanted.Text != "" {
		err = json.Unmarshal([]byte(wanted.Text), &wanted.task)
	}
	if err != nil {
		return nil, err
	}
	return &planner{task: wanted.task, steps: wanted.steps()}, nil
}

// Observe implements worker.Planner.
func (b *planner) Observe(r worker.Result) error {
	if len(b.waits) == 0 && b.step < len(b.steps) { // a planner that starts again is given the results only
		b.begin()
	}
	n, waited := b.waits[r.Key]
	delete(b.waits, r.Key)
	b.seen++
	var got effect
	switch {
	case !waited:
		b.complainf("%s was applied twice, or in a wrong step", r.Key)
	case r.Tool == forkJoin:
		b.joins(r)
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

// joins: each part was done, once and in its place, unless the person has said no.
func (b *planner) joins(r worker.Result) {
	if r.Status == utp.StatusCanceled {
		return
	}
	var got struct {
		Results []struct {
			Index   int        `json:"task_index"`
			Status  utp.Status `json:"status"`
			Summary string     `json:"summary"`
		} `json:"results"`
	}
	parts := b.task.parts()
	if err := json.Unmarshal(r.Value, &got); err != nil || len(got.Results) != len(parts) {
		b.complainf("%d parts have the result %s %s", len(parts), r.Status, r.Value)
		return
	}
	for i, one := range got.Results {
		if one.Index != i || one.Status != utp.StatusSuccess || one.Summary != parts[i].seen() {
			b.complainf("part %d is %+v; want %s", i, one, parts[i].seen())
		}
	}
}

func (b *planner) begin() {
	b.waits = map[string]int{}
	for _, c := range b.steps[b.step] {
		done, _ := c.Args.(effect)
		b.waits[c.Key] = done.N
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
