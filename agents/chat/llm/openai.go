package llm

import (
	"fmt"
	"maps"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

type openaiMessage struct {
	Role    string       `json:"role"`
	Content *string      `json:"content"`
	Call    string       `json:"tool_call_id,omitzero"`
	Calls   []openaiCall `json:"tool_calls,omitzero"`
	// Reasoning is the thinking of some servers, which want it back while the model goes on.
	Reasoning string `json:"reasoning_content,omitzero"`
}

type openaiFunction struct {
	Name        string         `json:"name,omitzero"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters,omitzero"`
	Arguments   string         `json:"arguments"`
}

type openaiTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description,omitzero"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

// openaiCall is a call in a message, and a piece of one in a stream.
type openaiCall struct {
	Index    *int           `json:"index,omitzero"`
	ID       string         `json:"id,omitzero"`
	Type     string         `json:"type,omitzero"`
	Function openaiFunction `json:"function"`
	// More are members of a server's own, such as the signature of a thought. They go back as they came.
	More map[string]jsontext.Value `json:",embed"`
}

func encodeOpenAI(q Request) ([]byte, error) {
	body := struct {
		Model         string           `json:"model"`
		MaxTokens     int              `json:"max_tokens,omitzero"`
		Stream        bool             `json:"stream"`
		StreamOptions map[string]bool  `json:"stream_options"`
		Messages      []jsontext.Value `json:"messages"`
		Tools         []openaiTool     `json:"tools,omitzero"`
	}{Model: q.Model, MaxTokens: q.MaxOutput, Stream: true, StreamOptions: map[string]bool{"include_usage": true}}
	for _, t := range q.Tools {
		out := openaiTool{Type: "function"}
		out.Function.Name, out.Function.Description, out.Function.Parameters = t.Name, t.Description, t.Parameters
		body.Tools = append(body.Tools, out)
	}
	messages := []any{}
	if q.System != "" {
		messages = append(messages, openaiMessage{Role: "system", Content: &q.System})
	}
	for _, m := range q.Messages {
		messages = append(messages, openaiMessagesOf(m)...)
	}
	for _, m := range messages {
		raw, is := m.(jsontext.Value)
		if !is {
			var err error
			if raw, err = marshal(m); err != nil {
				return nil, err
			}
		}
		body.Messages = append(body.Messages, raw)
	}
	return marshal(body)
}

func openaiMessagesOf(m Message) (out []any) {
	switch {
	case m.Answer != nil && m.Answer.Wire == OpenAI && len(m.Answer.Raw) > 0:
		return []any{m.Answer.Raw}
	case m.Answer != nil:
		return []any{assistant(m.Answer.Text, "", m.Answer.Calls)}
	case len(m.Results) > 0:
		for _, r := range m.Results {
			out = append(out, openaiMessage{Role: "tool", Call: r.Call, Content: &r.Text})
		}
		return out
	default:
		return []any{openaiMessage{Role: "user", Content: &m.Text}}
	}
}

// assistant makes the message of the model.
func assistant(text, reasoning string, calls []Call) openaiMessage {
	m := openaiMessage{Role: "assistant", Reasoning: reasoning}
	if text != "" || len(calls) == 0 {
		m.Content = &text
	}
	for _, c := range calls {
		m.Calls = append(m.Calls, openaiCall{ID: c.ID, Type: "function", Function: openaiFunction{Name: c.Name, Arguments: string(object(c.Args))}})
	}
	return m
}

type openaiChunk struct {
	Choices []struct {
		Index int `json:"index"`
		Delta struct {
			Content   string       `json:"content"`
			Refusal   string       `json:"refusal"`
			Reasoning string       `json:"reasoning_content"`
			Calls     []openaiCall `json:"tool_calls"`
		} `json:"delta"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input  int `json:"prompt_tokens"`
		Output int `json:"completion_tokens"`
	} `json:"usage"`
	Error *openaiError `json:"error"`
}

type openaiError struct {
	Message string `json:"message"`
}

// openaiPending is a call while it comes.
type openaiPending struct {
	index    int
	id, name string
	args     strings.Builder
	more     map[string]jsontext.Value
}

type openaiDecoder struct {
	text, reasoning, refusal strings.Builder
	calls                    []*openaiPending
	usage                    Usage
	finish                   string
	whole                    bool
}

func (d *openaiDecoder) Event(data []byte) (string, error) {
	if strings.TrimSpace(string(data)) == "[DONE]" {
		d.whole = true
		return "", nil
	}
	var c openaiChunk
	if err := read(data, &c); err != nil {
		return "", err
	}
	if c.Error != nil {
		return "", &ServerError{Status: statusOverloaded, Message: c.Error.Message}
	}
	if c.Usage != nil {
		d.usage = Usage{Input: c.Usage.Input, Output: c.Usage.Output}
	}
	var text strings.Builder
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // only one was asked for
		}
		delta := choice.Delta
		text.WriteString(delta.Content + delta.Refusal)
		d.text.WriteString(delta.Content)
		d.refusal.WriteString(delta.Refusal)
		d.reasoning.WriteString(delta.Reasoning)
		for _, piece := range delta.Calls {
			d.add(piece)
		}
		if choice.FinishReason != "" {
			d.finish = choice.FinishReason
		}
	}
	return text.String(), nil
}

// add adds a piece to its call. Servers disagree on what tells the calls apart: an index, an id, or only their order.
func (d *openaiDecoder) add(piece openaiCall) {
	var call *openaiPending
	for _, c := range d.calls {
		if piece.Index != nil && *piece.Index == c.index && (piece.ID == "" || piece.ID == c.id) || piece.Index == nil && piece.ID != "" && piece.ID == c.id {
			call = c
		}
	}
	if call == nil && piece.Index == nil && piece.ID == "" && piece.Function.Name == "" && len(d.calls) > 0 {
		call = d.calls[len(d.calls)-1]
	}
	if call == nil {
		call = &openaiPending{index: len(d.calls), id: piece.ID, more: map[string]jsontext.Value{}}
		if piece.Index != nil {
			call.index = *piece.Index
		}
		d.calls = append(d.calls, call)
	}
	call.name += piece.Function.Name
	call.args.WriteString(piece.Function.Arguments)
	maps.Copy(call.more, piece.More)
}

func (d *openaiDecoder) Answer() (Answer, error) {
	if !d.whole && d.finish == "" {
		return Answer{}, ErrIncomplete
	}
	a := Answer{Text: d.text.String() + d.refusal.String(), Usage: d.usage, Wire: OpenAI, Stop: Ended}
	switch {
	case d.finish == "length":
		a.Stop = Truncated
	case d.finish == "content_filter", d.refusal.Len() > 0:
		a.Stop = Refused
	}
	for i, c := range d.calls {
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d", i+1)
		}
		args := c.args.String()
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		a.Calls = append(a.Calls, Call{ID: c.id, Name: c.name, Args: args})
	}
	message := assistant(a.Text, d.reasoning.String(), a.Calls)
	for i, c := range d.calls {
		message.Calls[i].More = c.more
	}
	var err error
	a.Raw, err = marshal(message)
	return a, err
}
