package delegation

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// Output is what a turn has left for the one that asked for it.
type Output struct {
	// Text is its answer, and Fields what it delivered, if it did.
	Text   string
	Fields jsontext.Value
	// Lost: it has left something that cannot be read any more.
	Lost bool
}

// accepted is the result of a call that waits for nobody.
type accepted struct {
	Status  string `json:"status"`
	Agent   string `json:"agent_id"`
	Turn    string `json:"agent_turn_id"`
	Context string `json:"context_box_id,omitzero"`
}

// joined is the result of a call that waits.
type joined struct {
	Status  utp.Status `json:"status"`
	Results []one      `json:"results"`
}

// one is how one turn has ended.
type one struct {
	Index   int            `json:"task_index"`
	Status  utp.Status     `json:"status"`
	Agent   string         `json:"agent_id"`
	Turn    string         `json:"agent_turn_id,omitzero"`
	Summary string         `json:"summary,omitzero"`
	Output  string         `json:"output,omitzero"`
	Fields  jsontext.Value `json:"fields,omitzero"`
	Error   *failure       `json:"error,omitzero"`
}

type failure struct {
	Code    utp.Code `json:"code,omitzero"`
	Message string   `json:"message,omitzero"`
}

// Result is the result of a call whose batch has ended, as the agent reads it; nil where a turn that nobody would have
// waited for has not begun. The results of several turns stand in the order of their tasks.
func Result(tool string, p Plan, c turn.Call, read func(turn.Child) (Output, error)) (jsontext.Value, error) {
	b := c.Batch
	if !b.Waits {
		child := b.Children[0]
		if child.Turn == "" {
			return nil, nil
		}
		return encode(accepted{Status: "accepted", Agent: child.Agent, Turn: child.Turn, Context: p.contextBox()})
	}
	all := joined{Status: c.Outcome.Status, Results: []one{}}
	for _, child := range b.Children {
		r := one{Index: child.Index, Status: child.Status, Agent: child.Agent, Turn: child.Turn}
		out, err := read(child)
		if err != nil {
			return nil, err
		}
		r.Output, r.Fields = out.Text, out.Fields
		if child.Status == utp.StatusSuccess || child.Code == "" {
			r.Summary = child.Message
		} else {
			r.Error = &failure{Code: child.Code, Message: child.Message}
		}
		if out.Lost && r.Error == nil {
			r.Error = &failure{Code: utp.CodeStorageError, Message: "what the agent has left cannot be read any more"}
		}
		all.Results = append(all.Results, r)
	}
	if tool == AskExpert { // one answer, not a list
		return encode(all.Results[0])
	}
	return encode(all)
}
