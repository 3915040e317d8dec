package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/worker"
)

// joinWorkers is how many turns are in hand at once, here and of the calls beside it.
const joinWorkers = 64

// joins measures calls that others do, each by so many turns that do nothing, from the request to the joined result; and
// beside it, in turns, calls of a tool that does nothing.
func (f *field) joins(ctx context.Context, children int) error {
	for _, who := range f.only {
		if who != onSQLite && who != onPostgres {
			continue
		}
		var calls, joined []round
		for n := range f.rounds {
			for _, each := range []int{0, children} {
				f.progress("round %d of %d: %s, %d children", n+1, f.rounds, who, each)
				r, err := f.measure(ctx, who, load{Workers: joinWorkers, Join: each, Warm: f.warm, For: f.last, Postmaster: f.postmaster}, n)
				if err != nil {
					return fmt.Errorf("%s: %w", who, err)
				}
				if each == 0 {
					calls = append(calls, r)
				} else {
					joined = append(joined, r)
				}
			}
		}
		call, join := middle(calls), middle(joined)
		fmt.Printf("%-10s %d children each: %.1f joined/s, p50 %s p99 %s; %.0f turns/s beside %.0f calls/s of the same run, %.2f x\n", who, children,
			join.Rate, short(join.P50), short(join.P99), join.Rate*float64(children), call.Rate, join.Rate*float64(children)/call.Rate)
		fmt.Printf("           a call: %s\n           a turn: %s\n", ofJoin(call, 0), ofJoin(join, children))
	}
	return nil
}

// ofJoin says what a round has cost for each turn, or each call if it had no turns.
func ofJoin(r round, children int) string {
	n := float64(max(children, 1))
	each := func(d time.Duration) string { return short(time.Duration(float64(d) / n)) }
	return fmt.Sprintf("processor time %s + %s of the server; %.2f commits, %.2f flushes, %.1f rows, %.0f bytes of log; asked for each call: %s",
		each(r.Own), each(r.Server), r.Counted.Commits/n, r.Counted.Syncs/n, r.Counted.Rows/n, r.Counted.Bytes/n, r.Asked)
}

// middle is the round of the median rate.
func middle(all []round) round {
	slices.SortFunc(all, func(a, b round) int { return int(a.Rate - b.Rate) })
	return all[len(all)/2]
}

// joinPlan is a planner that has others do nothing, again and again; and theirs, which is told so.
func joinPlan(m *meter, children int) func(context.Context, jsontext.Value) (worker.Planner, error) {
	return func(_ context.Context, args jsontext.Value) (worker.Planner, error) {
		var asked struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(args, &asked); err != nil {
			return nil, errors.New("arguments that are no object")
		}
		if asked.Text != "" {
			return idler{}, nil
		}
		return &joiner{planner: planner{meter: m}, children: children}, nil
	}
}

// idler is a planner that has nothing to do.
type idler struct{}

// Observe implements worker.Planner.
func (idler) Observe(worker.Result) error { return nil }

// Next implements worker.Planner.
func (idler) Next() (worker.Decision, error) {
	return worker.Decision{Answer: &worker.Answer{Summary: "Done."}}, nil
}

// joiner is a planner whose calls others do.
type joiner struct {
	planner

	children int
}

// Next implements worker.Planner.
func (j *joiner) Next() (worker.Decision, error) {
	d, err := j.planner.Next()
	if err != nil || len(d.Calls) == 0 {
		return d, err
	}
	type one struct {
		Strategy    string `json:"target_strategy"`
		Target      string `json:"target_ref"`
		Instruction string `json:"instruction"`
	}
	d.Calls[0].Tool, d.Calls[0].Args = "fork_join", map[string]any{"tasks": slices.Repeat([]one{{"new", agent, "do nothing"}}, j.children)}
	return d, nil
}
