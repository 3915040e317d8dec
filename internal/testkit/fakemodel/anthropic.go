package fakemodel

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

type anthropicRequest struct {
	Model    string         `json:"model"`
	Stream   bool           `json:"stream"`
	System   jsontext.Value `json:"system"`
	Messages []struct {
		Role    string         `json:"role"`
		Content jsontext.Value `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		InputSchema jsontext.Value `json:"input_schema"`
	} `json:"tools"`
}

type anthropicBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	Data      string         `json:"data"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID string         `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
	IsError   bool           `json:"is_error"`
}

func decodeAnthropic(_ *http.Request, into *Request) error {
	var q anthropicRequest
	if err := decode(into.Body, &q); err != nil {
		return err
	}
	into.Model, into.Stream, into.System = q.Model, q.Stream, textOf(q.System)
	for _, tool := range q.Tools {
		into.Tools = append(into.Tools, Tool{Name: tool.Name, Description: tool.Description, Schema: tool.InputSchema})
	}
	for i, message := range q.Messages {
		if message.Content.Kind() == '"' {
			into.Messages = append(into.Messages, Message{Role: roleOf(message.Role), Text: textOf(message.Content)})
			continue
		}
		var blocks []anthropicBlock
		if err := decode(message.Content, &blocks); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		for _, block := range blocks {
			into.Messages = append(into.Messages, block.message(roleOf(message.Role)))
		}
	}
	return nil
}

func (b anthropicBlock) message(role string) Message {
	m := Message{Role: role, Text: b.Text}
	switch b.Type {
	case "thinking":
		m.Thoughts = []Thought{{Text: b.Thinking, Signature: b.Signature}}
	case "redacted_thinking":
		m.Thoughts = []Thought{{Redacted: b.Data}}
	case "tool_use":
		m.Calls = []ToolCall{{ID: b.ID, Tool: b.Name, Args: string(b.Input)}}
	case "tool_result":
		m.Results = []Result{{ID: b.ToolUseID, Text: textOf(b.Content), Error: b.IsError}}
	}
	return m
}

// roleOf is a role in our words.
func roleOf(role string) string {
	switch role {
	case "assistant", "model":
		return RoleModel
	case "system", "developer":
		return RoleSystem
	default:
		return RoleUser
	}
}

// anthropicContent are the blocks of an answer.
func anthropicContent(a answer) []object {
	content := []object{}
	if a.Think.Redacted != "" {
		content = append(content, object{"type": "redacted_thinking", "data": a.Think.Redacted})
	} else if a.Think != (Thought{}) {
		content = append(content, object{"type": "thinking", "thinking": a.Think.Text, "signature": a.Think.Signature})
	}
	if a.Say != "" {
		content = append(content, object{"type": "text", "text": a.Say})
	}
	for _, call := range a.calls {
		content = append(content, object{"type": "tool_use", "id": call.ID, "name": call.Tool, "input": jsontext.Value(call.Args)})
	}
	return content
}

func anthropicStop(a answer) string {
	switch {
	case a.Truncated:
		return "max_tokens"
	case len(a.calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func anthropicUsage(u Usage) object {
	return object{
		"input_tokens": u.Input, "output_tokens": u.Output,
		"cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
	}
}

func anthropicMessage(a answer) any {
	return object{
		"id": fmt.Sprintf("msg_%d", a.number), "type": "message", "role": "assistant", "model": a.request.Model,
		"content": anthropicContent(a), "stop_reason": anthropicStop(a), "stop_sequence": nil, "usage": anthropicUsage(a.tokens()),
	}
}

func anthropicEvents(a answer) []event {
	begun := a.tokens()
	begun.Output = 1 // what is known when it begins
	events := []event{{"message_start", object{"type": "message_start", "message": object{
		"id": fmt.Sprintf("msg_%d", a.number), "type": "message", "role": "assistant", "model": a.request.Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(begun),
	}}}, {"ping", object{"type": "ping"}}}
	calls := a.calls
	for i, block := range anthropicContent(a) {
		var deltas []object
		switch block["type"] {
		case "thinking":
			deltas = anthropicDeltas("thinking_delta", "thinking", a.Think.Text)
			deltas = append(deltas, object{"type": "signature_delta", "signature": a.Think.Signature})
			block["thinking"], block["signature"] = "", ""
		case "text":
			deltas = anthropicDeltas("text_delta", "text", a.Say)
			block["text"] = ""
		case "tool_use":
			deltas = anthropicDeltas("input_json_delta", "partial_json", calls[0].Args)
			block["input"], calls = object{}, calls[1:]
		}
		events = append(events, event{"content_block_start", object{"type": "content_block_start", "index": i, "content_block": block}})
		for _, delta := range deltas {
			events = append(events, event{"content_block_delta", object{"type": "content_block_delta", "index": i, "delta": delta}})
		}
		events = append(events, event{"content_block_stop", object{"type": "content_block_stop", "index": i}})
	}
	return append(events,
		event{"message_delta", object{
			"type": "message_delta", "delta": object{"stop_reason": anthropicStop(a), "stop_sequence": nil},
			"usage": object{"output_tokens": a.tokens().Output},
		}},
		event{"message_stop", object{"type": "message_stop"}})
}

func anthropicDeltas(kind, field, text string) []object {
	cut := chunks(text)
	deltas := make([]object, 0, len(cut))
	for _, piece := range cut {
		deltas = append(deltas, object{"type": kind, field: piece})
	}
	return deltas
}

func anthropicFailure(f Failure) any {
	kind := kindOf(f, map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
	}, "api_error")
	return object{"type": "error", "error": object{"type": kind, "message": f.Message}, "request_id": "req_1"}
}
