package worker

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Transcript is a turn so far: what was asked of the agent, and all that became of its
// calls, with their arguments.
type Transcript struct {
	Turn

	Args    jsontext.Value
	Results []Result
}

// Steps are the results step by step, each in the order of its calls.
func (t Transcript) Steps() [][]Result {
	var out [][]Result
	for i, r := range t.Results {
		if i == 0 || r.Step != t.Results[i-1].Step {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out
}

// Find returns the latest result of a call with a key.
func (t Transcript) Find(key string) (Result, bool) {
	for _, r := range slices.Backward(t.Results) {
		if r.Key == key {
			return r, true
		}
	}
	return Result{}, false
}

// PlanFunc makes an [Agent]'s Plan of a function that is given the whole transcript before
// each move: the loop of a language model. It may say something else when it is asked
// again, after a crash, about the same transcript: what has been done by then stands in it.
func PlanFunc(plan func(ctx context.Context, t Transcript) (Decision, error)) func(context.Context, jsontext.Value) (Planner, error) {
	return func(ctx context.Context, args jsontext.Value) (Planner, error) {
		return &scribe{t: Transcript{Turn: TurnOf(ctx), Args: args}, plan: func(t Transcript) (Decision, error) { return plan(ctx, t) }}, nil
	}
}

// scribe keeps a transcript for a function.
type scribe struct {
	t    Transcript
	plan func(Transcript) (Decision, error)
}

func (s *scribe) Observe(r Result) error {
	s.t.Results = append(s.t.Results, r)
	return nil
}

func (s *scribe) Next() (Decision, error) {
	t := s.t
	t.Results = slices.Clone(t.Results) // what the function does to its list stays its own
	return s.plan(t)
}

// Turn is what a planner may want to know of its turn.
type Turn struct {
	ID, Session string
	// ResultFields are the names that the answer must have a value for.
	ResultFields []string
}

// handKey finds the turn in hand in a planner's context.
type handKey struct{}

// TurnOf is the turn that a planner's context belongs to.
func TurnOf(ctx context.Context) Turn {
	if h, is := ctx.Value(handKey{}).(*claimedTurn); is {
		return h.turn
	}
	return Turn{}
}
