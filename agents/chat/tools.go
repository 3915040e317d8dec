package chat

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

const (
	// askName is the model's function that asks the person.
	askName = "ask_person"
	// maxCalls is how many calls of one answer are made.
	maxCalls = 64
)

var askTool = llm.Tool{
	Name: askName,
	Description: "Asks the person something that only they can say, and returns their answer. " +
		"It is not for permission: Earshot itself asks for that. Ask one question at a time.",
	Parameters: jsontext.Value(`{"type":"object","additionalProperties":false,"required":["question"],"properties":{` +
		`"question":{"type":"string","description":"the question, in one or two sentences"},` +
		`"choices":{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":32,"description":"the possible answers, if there are only a few"},` +
		`"yes_no":{"type":"boolean","description":"true if the answer is yes or no"}}}`),
}

// question is the arguments of askTool.
type question struct {
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
	YesNo    bool     `json:"yes_no"`
}

// offered returns the tools that the model is told of: what an operator has reviewed, and the question to the person.
// Nobody has yet read the description of any other tool.
func offered(tools []worker.Tool) []llm.Tool {
	out := []llm.Tool{askTool}
	for _, t := range tools {
		if t.Reviewed {
			out = append(out, llm.Tool{Name: t.ModelName, Description: t.Description, Parameters: t.Parameters})
		}
	}
	return out
}

// toolNames maps the model's names back.
func toolNames(tools []worker.Tool) map[string]string {
	names := make(map[string]string, len(tools))
	for _, t := range tools {
		if t.Reviewed {
			names[t.ModelName] = t.Name
		}
	}
	return names
}

// decide makes the step that an answer asks for. Keys are ours: a name that a model gives a call means nothing here.
func decide(a llm.Answer, step int, names map[string]string) worker.Decision {
	var d worker.Decision
	for i, c := range a.Calls {
		if reasonNotMade(a, i) != "" {
			continue
		}
		if c.Name == askName {
			if q, err := parseQuestion(c.Args); err == nil {
				d.Question = q.ask(key(step, i))
				continue
			}
		}
		name := c.Name
		if known, is := names[name]; is {
			name = known
		} else if name == utp.SubmitResult {
			name = noTool
		}
		d.Calls = append(d.Calls, worker.Call{Key: key(step, i), Tool: name, Args: arguments(c.Args), Comment: comment(a, i)})
	}
	return d
}

// noTool is a name that no tool can have. It stands for one that means something else to Earshot.
const noTool = "(no tool)"

// comment is the model's text before its calls; it goes with the first.
func comment(a llm.Answer, i int) string {
	if i > 0 {
		return ""
	}
	return strings.TrimSpace(a.Text)
}

// key names a call within the turn.
func key(step, call int) string { return fmt.Sprintf("%d.%d", step, call+1) }

// arguments returns the arguments as JSON. Text that is not JSON becomes a string, which the kernel refuses with the
// reason.
func arguments(text string) jsontext.Value {
	if v := jsontext.Value(text); v.IsValid() {
		return v
	}
	raw, err := json.Marshal(strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return jsontext.Value(`""`)
	}
	return raw
}

// reasonNotMade returns why a call of an answer is not even requested; "" if it is.
func reasonNotMade(a llm.Answer, i int) string {
	if i >= maxCalls {
		return fmt.Sprintf("At most %d calls are made at once. Ask for the rest afterwards.", maxCalls)
	}
	if a.Calls[i].Name != askName {
		return ""
	}
	for _, earlier := range a.Calls[:i] {
		if earlier.Name == askName {
			return "Ask one question at a time."
		}
	}
	return ""
}

func parseQuestion(args string) (question, error) {
	var q question
	if err := json.Unmarshal([]byte(args), &q, json.RejectUnknownMembers(true)); err != nil {
		return q, fmt.Errorf("chat: %w", err)
	}
	if strings.TrimSpace(q.Question) == "" {
		return q, errors.New("chat: the question is empty")
	}
	return q, nil
}

func (q question) ask(key string) *worker.Question {
	out := &worker.Question{Key: key, Text: q.Question}
	for _, c := range q.Choices {
		out.Choices = append(out.Choices, worker.Choice{Value: c, Label: c})
	}
	if q.YesNo && len(q.Choices) == 0 {
		out.Kinds = []worker.Kind{worker.YesNo}
	}
	return out
}
