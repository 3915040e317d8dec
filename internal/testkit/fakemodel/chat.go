package fakemodel

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

type chatRequest struct {
	Model         string `json:"model"`
	Stream        bool   `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Messages []struct {
		Role             string         `json:"role"`
		Content          jsontext.Value `json:"content"`
		ReasoningContent string         `json:"reasoning_content"`
		ToolCallID       string         `json:"tool_call_id"`
		ToolCalls        []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  jsontext.Value `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

func decodeChat(_ *http.Request, into *Request) error {
	var q chatRequest
	if err := decode(into.Body, &q); err != nil {
		return err
	}
	into.Model, into.Stream = q.Model, q.Stream
	for _, tool := range q.Tools {
		into.Tools = append(into.Tools, Tool{Name: tool.Function.Name, Description: tool.Function.Description, Schema: tool.Function.Parameters})
	}
	for _, message := range q.Messages {
		m := Message{Role: roleOf(message.Role), Text: textOf(message.Content)}
		if message.ReasoningContent != "" {
			m.Thoughts = []Thought{{Text: message.ReasoningContent}}
		}
		for _, call := range message.ToolCalls {
			m.Calls = append(m.Calls, ToolCall{ID: call.ID, Tool: call.Function.Name, Args: call.Function.Arguments})
		}
		if message.Role == "tool" {
			m.Results, m.Text = []Result{{ID: message.ToolCallID, Text: m.Text}}, ""
		}
		into.Messages = append(into.Messages, m)
	}
	return nil
}

func chatFinish(a answer) string {
	switch {
	case a.Truncated:
		return "length"
	case len(a.calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func chatUsage(u Usage) object {
	input := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"prompt_tokens": input, "completion_tokens": u.Output, "total_tokens": input + u.Output,
		"prompt_tokens_details":     object{"cached_tokens": u.CacheRead},
		"completion_tokens_details": object{"reasoning_tokens": u.Reasoning},
	}
}

func chatCompletion(a answer) any {
	message := object{"role": "assistant", "content": nil}
	if a.Say != "" {
		message["content"] = a.Say
	}
	if a.Think.Text != "" {
		message["reasoning_content"] = a.Think.Text
	}
	calls := make([]object, 0, len(a.calls))
	for _, call := range a.calls {
		calls = append(calls, object{"id": call.ID, "type": "function", "function": object{"name": call.Tool, "arguments": call.Args}})
	}
	if len(calls) > 0 {
		message["tool_calls"] = calls
	}
	return object{
		"id": fmt.Sprintf("chatcmpl_%d", a.number), "object": "chat.completion", "created": 1, "model": a.request.Model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": chatFinish(a)}}, "usage": chatUsage(a.tokens()),
	}
}

func chatEvents(a answer) []event {
	chunk := func(choices ...object) object {
		return object{
			"id": fmt.Sprintf("chatcmpl_%d", a.number), "object": "chat.completion.chunk", "created": 1, "model": a.request.Model,
			"choices": append([]object{}, choices...),
		}
	}
	var events []event
	delta := func(delta object, finish any) {
		events = append(events, event{data: chunk(object{"index": 0, "delta": delta, "finish_reason": finish})})
	}
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, piece := range chunks(a.Think.Text) {
		delta(object{"reasoning_content": piece}, nil)
	}
	for _, piece := range chunks(a.Say) {
		delta(object{"content": piece}, nil)
	}
	for i, call := range a.calls {
		delta(object{"tool_calls": []object{{"index": i, "id": call.ID, "type": "function", "function": object{"name": call.Tool, "arguments": ""}}}}, nil)
		for _, piece := range chunks(call.Args) {
			delta(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}}, nil)
		}
	}
	delta(object{}, chatFinish(a))
	var q chatRequest
	if err := decode(a.request.Body, &q); err == nil && q.StreamOptions.IncludeUsage {
		last := chunk()
		last["usage"] = chatUsage(a.tokens())
		events = append(events, event{data: last})
	}
	return append(events, event{data: "[DONE]"})
}

// openaiFailure is of both APIs of OpenAI.
func openaiFailure(f Failure) any {
	kind := kindOf(f, map[int]string{401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}, "invalid_request_error")
	return object{"error": object{"message": f.Message, "type": kind, "param": nil, "code": nil}}
}
