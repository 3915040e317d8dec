package chat

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// stepData is what the agent saves with a step. A step either carries out an answer of the model, or asks the person
// about a limit.
type stepData struct {
	Answer *llm.Answer `json:"answer,omitzero"`
	Limit  limitKind   `json:"limit,omitzero"`
	// LeftOut is how many answers, from the beginning, were followed by results that the model no longer saw when it
	// gave this one.
	LeftOut int `json:"left_out,omitzero"`
	// Window is how many tokens the model can read, where its server has said that it is less than configured.
	Window int `json:"window,omitzero"`
}

func (d stepData) encode() (jsontext.Value, error) {
	raw, err := json.Marshal(d, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, fmt.Errorf("chat: %w", err)
	}
	return raw, nil
}

// exchange is an answer of the model, and what became of its calls.
type exchange struct {
	answer  llm.Answer
	results []worker.Result
}

// history is the turn so far.
type history struct {
	exchanges []exchange
	used      used
	leftOut   int
	window    int
	// declined is the limit at which the person did not want to go on; "" if there is none.
	declined limitKind
	silent   bool // nobody answered that question
	// invalid is how many of the latest answers asked only for calls that could not be made.
	invalid int
}

var errForeign = errors.New("chat: the turn has a step without the model's answer; another program has begun it")

// fold reads the transcript.
func fold(t worker.Transcript) (history, error) {
	h := history{used: used{allowed: map[limitKind]int{}}}
	for _, results := range t.Steps() {
		var d stepData
		if err := json.Unmarshal(results[0].Data, &d); len(results[0].Data) == 0 || err != nil {
			return h, errForeign
		}
		if d.Answer == nil {
			h.limit(d.Limit, results[0])
			continue
		}
		h.used.steps++
		h.used.input += d.Answer.Usage.Input
		h.used.output += d.Answer.Usage.Output
		h.leftOut, h.window = d.LeftOut, d.Window
		h.exchanges = append(h.exchanges, exchange{answer: *d.Answer, results: results})
		h.invalid++
		for _, r := range results {
			if r.Code != utp.CodeBadRequest && r.Code != utp.CodeUnknownTool {
				h.invalid = 0
			}
		}
	}
	return h, nil
}

// limit notes the person's answer at a limit. Only a reply to that very question counts.
func (h *history) limit(kind limitKind, r worker.Result) {
	reply, answered := r.Answered()
	if answered && !reply.Default && string(reply.Answer) == "true" {
		h.used.allowed[kind]++
		return
	}
	h.declined, h.silent = kind, !answered
}

// cut reports whether a result of the latest answer is longer than this.
func (h *history) cut(longest int) bool {
	if len(h.exchanges) == 0 {
		return false
	}
	return slices.ContainsFunc(h.exchanges[len(h.exchanges)-1].results, func(r worker.Result) bool { return len(r.Value) > longest })
}
