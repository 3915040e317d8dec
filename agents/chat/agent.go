package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/worker"
)

// Name is the agent's name.
const Name = "chat"

// Args are the arguments of a turn.
type Args struct {
	// Text is what the person asks for.
	Text string `json:"text"`
	// Folders are the folders that the tools for files may use, as far as the agent knows. They give no permission.
	Folders []string `json:"folders,omitzero"`
}

// ParseArgs reads the arguments of a turn.
func ParseArgs(raw jsontext.Value) (Args, error) {
	var a Args
	if err := json.Unmarshal(raw, &a, json.RejectUnknownMembers(true)); err != nil {
		return a, fmt.Errorf("chat: the turn's arguments: %w", err)
	}
	if strings.TrimSpace(a.Text) == "" {
		return a, errors.New("chat: the turn's arguments have no text; it says what the person asks for")
	}
	return a, nil
}

// Model answers requests. [llm.Client] is one.
type Model interface {
	Ask(ctx context.Context, q llm.Request, l llm.Listener) (llm.Answer, error)
}

// Options configure the agent.
type Options struct {
	Model Model
	// Name is the model's name for its server.
	Name string
	// Folders are used for turns that name none themselves.
	Folders []string
	Limits  Limits
	// Window is how many tokens the model can read. Default: 128,000.
	Window int
	// MaxOutput limits the tokens of one answer of the model, see [llm.Request].
	MaxOutput int
	// Tools lists the tools. Default: those that policy leaves to the agent, see [worker.Tools].
	Tools func(ctx context.Context) ([]worker.Tool, error)
}

const defaultWindow = 128_000

// Agent returns the agent for a worker.
func Agent(o Options) worker.Agent {
	o.Limits = o.Limits.orDefault()
	o.Window = cmp.Or(o.Window, defaultWindow)
	if o.Tools == nil {
		o.Tools = func(ctx context.Context) ([]worker.Tool, error) { return worker.Tools(ctx, askName) }
	}
	plan := worker.PlanFunc(func(ctx context.Context, t worker.Transcript) (worker.Decision, error) {
		p := planner{o: o, out: &output{to: worker.Output(ctx)}}
		return p.plan(ctx, t)
	})
	return worker.Agent{Name: Name, Plan: func(ctx context.Context, raw jsontext.Value) (worker.Planner, error) {
		if _, err := ParseArgs(raw); err != nil {
			return nil, err
		}
		return plan(ctx, raw)
	}}
}
