package worker

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
)

// Planner decides. It is used by one goroutine, and has no effects of its own.
type Planner interface {
	// Observe takes the result of one call, in the order in which they were applied.
	Observe(r Result) error
	// Next says what to do now. An error fails the turn with its words.
	Next() (Move, error)
}

// Agent makes planners.
type Agent struct {
	// Name is the agent's name, one token of a subject.
	Name string
	// Plan makes the planner of one turn from the turn's arguments. An error fails
	// the turn as bad_request.
	Plan func(ctx context.Context, args jsontext.Value) (Planner, error)
}

// Move is either the calls of the next step or the answer.
type Move struct {
	Calls  []Call
	Answer *Answer
}

// Call is a call that a planner wants.
type Call struct {
	// Key is the planner's name for it, unique within the turn.
	Key  string
	Tool string
	Args any // encoded as JSON
	// Says are the agent's own words about it; they are quoted as such.
	Says string
	// From and To are the part of the whole work, in percent, that it stands for.
	From, To float64
}

// Answer ends the turn.
type Answer struct {
	// Status defaults to success.
	Status utp.Status
	Code   utp.Code
	// Summary is one sentence; Output is the whole answer, in plain text.
	Summary, Output string
}

// Result is what became of a call.
type Result struct {
	Key, Call, Tool string
	Status          utp.Status
	Code            utp.Code
	Message         string
	Value           jsontext.Value
}
