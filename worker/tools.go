package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Tool is a tool that an agent may request.
type Tool struct {
	Name string
	// ModelName is a name that the APIs of language models accept: 1 to 64 of A-Z a-z 0-9 _ -, unique among the tools.
	ModelName   string
	Description string
	// Parameters is the JSON Schema of the arguments.
	Parameters jsontext.Value
	Class      utp.Class
	// Asks reports that a person is asked before it starts.
	Asks bool
	// Reviewed reports that an operator has reviewed it. Until then its description is only its author's word.
	Reviewed bool
}

// Tools returns the tools that the agent may request under the current policy, by name. The context is a planner's. No
// tool gets one of the reserved model names, which are for the planner's own functions.
func Tools(ctx context.Context, reserved ...string) ([]Tool, error) {
	h, is := ctx.Value(handKey{}).(*claimedTurn)
	if !is {
		return nil, errors.New("worker: the tools are listed in the context of a planner")
	}
	var out []Tool
	names := append([]string(nil), reserved...)
	for q := (api.OfferedRequest{}); ; {
		var page api.OfferedAnswer
		if err := h.ask(ctx, api.OpOffered, q, &page); err != nil {
			return nil, fmt.Errorf("worker: the tools cannot be listed: %w", err)
		}
		for _, t := range page.Tools {
			names = append(names, t.Tool)
			out = append(out, Tool{
				Name: t.Tool, Description: t.Description, Parameters: t.Parameters, Class: t.Class, Asks: t.Asks, Reviewed: t.Reviewed,
			})
		}
		if q.After = page.Next; q.After == "" {
			break
		}
	}
	models := api.ModelNames(names)
	for i := range out {
		out[i].ModelName = models[out[i].Name]
	}
	return out, nil
}
