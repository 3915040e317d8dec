package worker

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// Transcript is a turn so far: the request to the agent, and the outcome of every call, with its arguments.
type Transcript struct {
	Turn

	Args    jsontext.Value
	Results []Result
}

// Steps returns the results grouped by step, each group in the order of its calls.
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

// PlanFunc makes an [Agent]'s Plan from a function that receives the whole transcript before each decision, like the
// loop of a language model. After a crash the function may decide differently for the same transcript: the transcript
// holds everything that was done by then.
func PlanFunc(plan func(ctx context.Context, t Transcript) (Decision, error)) func(context.Context, jsontext.Value) (Planner, error) {
	return func(ctx context.Context, args jsontext.Value) (Planner, error) {
		return &scribe{t: Transcript{Turn: TurnOf(ctx), Args: args}, plan: func(t Transcript) (Decision, error) { return plan(ctx, t) }}, nil
	}
}

// scribe keeps the transcript for a plan function.
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
	t.Results = slices.Clone(t.Results) // the function cannot change our list
	return s.plan(t)
}

// Turn is what a planner can learn about its turn.
type Turn struct {
	ID, Session string
	// ResultFields are the names of the fields that the answer must have.
	ResultFields []string
	// Boxes are what the caller refers the agent to. Depth counts the agents above this one.
	Boxes api.Boxes
	Depth int
}

// handKey is the context key of the claimed turn.
type handKey struct{}

// TurnOf returns the turn that a planner's context belongs to.
func TurnOf(ctx context.Context) Turn {
	if h, is := ctx.Value(handKey{}).(*claimedTurn); is {
		return h.turn
	}
	return Turn{}
}
