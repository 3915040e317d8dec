package worker

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// Child is a turn that a planner starts. Agent is its own agent, or another that an operator has allowed. The same child
// with the same Correlation is started once, however often a planner that is replayed asks for it.
type Child struct {
	Agent       string
	Args        jsontext.Value
	Correlation string
	Request     string // in the words that the person hears
	Deadline    int    // seconds; 0 is that of the planner's own turn
	Boxes       api.Boxes
}

// Enqueue starts a turn within the turn of a planner, whose context it takes, and does not wait for it. The turn belongs
// to the same person, who hears it as a session of its own and is asked again for everything.
func Enqueue(ctx context.Context, c Child) (api.EnqueueAnswer, error) {
	var a api.EnqueueAnswer
	h, is := ctx.Value(handKey{}).(*claimedTurn)
	if !is {
		return a, errors.New("worker: a turn is started in the context of a planner")
	}
	at := h.at
	err := h.ask(ctx, api.OpSpawn, api.SpawnRequest{
		Worker: &at, Agent: c.Agent, Args: c.Args, Correlation: c.Correlation, Request: c.Request, Deadline: c.Deadline, Boxes: c.Boxes,
	}, &a)
	return a, err
}
