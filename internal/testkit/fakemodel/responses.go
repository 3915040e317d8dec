package fakemodel

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        jsontext.Value  `json:"input"`
	Tools        []responsesTool `json:"tools"`
}

type responsesTool struct {
	Type        string          `json:"type"` // function, custom, namespace, or one that OpenAI runs
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  jsontext.Value  `json:"parameters"`
	Tools       []responsesTool `json:"tools"` // of a namespace
}

type responsesItem struct {
	Type             string         `json:"type"`
	Role             string         `json:"role"`
	Content          jsontext.Value `json:"content"`
	CallID           string         `json:"call_id"`
	Namespace        string         `json:"namespace"`
	Name             string         `json:"name"`
	Arguments        string         `json:"arguments"`
	Output           jsontext.Value `json:"output"`
	Summary          jsontext.Value `json:"summary"`
	EncryptedContent string         `json:"encrypted_content"`
}

func decodeResponses(_ *http.Request, into *Request) error {
	var q responsesRequest
	if err := decode(into.Body, &q); err != nil {
		return err
	}
	into.Model, into.Stream, into.System = q.Model, q.Stream, q.Instructions
	for _, tool := range q.Tools {
		into.Tools = append(into.Tools, tool.offered("")...)
	}
	if q.Input.Kind() == '"' {
		into.Messages = []Message{{Role: RoleUser, Text: textOf(q.Input)}}
		return nil
	}
	var items []responsesItem
	if err := decode(q.Input, &items); err != nil {
		return err
	}
	for _, item := range items {
		into.Messages = append(into.Messages, item.message())
	}
	return nil
}

// offered are the tools that the model can call by name: of a namespace those in it.
func (t responsesTool) offered(namespace string) []Tool {
	if t.Type == "namespace" {
		tools := make([]Tool, 0, len(t.Tools))
		for _, tool := range t.Tools {
			tools = append(tools, tool.offered(t.Name)...)
		}
		return tools
	}
	if t.Name == "" {
		return nil // a tool that OpenAI runs
	}
	return []Tool{{Namespace: namespace, Name: t.Name, Description: t.Description, Schema: t.Parameters}}
}

func (i responsesItem) message() Message {
	switch i.Type {
	case "function_call":
		return Message{Role: RoleModel, Calls: []ToolCall{{ID: i.CallID, Namespace: i.Namespace, Tool: i.Name, Args: i.Arguments}}}
	case "function_call_output":
		return Message{Role: RoleUser, Results: []Result{{ID: i.CallID, Text: textOf(i.Output)}}}
	case "reasoning":
		return Message{Role: RoleModel, Thoughts: []Thought{{Text: textOf(i.Summary), Signature: i.EncryptedContent}}}
	default:
		return Message{Role: roleOf(i.Role), Text: textOf(i.Content)}
	}
}

// responsesOutput are the items of an answer. Their IDs tell the turn, so that no two of a conversation are the same.
func responsesOutput(a answer) []object {
	output := []object{}
	if a.Think != (Thought{}) {
		summary := []object{}
		if a.Think.Text != "" {
			summary = append(summary, object{"type": "summary_text", "text": a.Think.Text})
		}
		output = append(output, object{"type": "reasoning", "id": fmt.Sprintf("rs_%d", a.number), "summary": summary, "encrypted_content": a.Think.Signature})
	}
	if a.Say != "" {
		output = append(output, object{
			"type": "message", "id": fmt.Sprintf("msg_%d", a.number), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.Say, "annotations": []object{}}},
		})
	}
	for _, call := range a.calls {
		item := object{"type": "function_call", "id": "fc_" + call.ID, "call_id": call.ID, "name": call.Tool, "arguments": call.Args, "status": "completed"}
		if call.Namespace != "" {
			item["namespace"] = call.Namespace
		}
		output = append(output, item)
	}
	return output
}

func responsesUsage(u Usage) object {
	input := u.Input + u.CacheRead + u.CacheWrite
	return object{
		"input_tokens": input, "input_tokens_details": object{"cached_tokens": u.CacheRead},
		"output_tokens": u.Output, "output_tokens_details": object{"reasoning_tokens": u.Reasoning},
		"total_tokens": input + u.Output,
	}
}

func responsesWhole(a answer) any {
	response := responsesBegun(a)
	response["status"], response["output"], response["usage"] = "completed", responsesOutput(a), responsesUsage(a.tokens())
	if a.Truncated {
		response["status"], response["incomplete_details"] = "incomplete", object{"reason": "max_output_tokens"}
	}
	return response
}

func responsesBegun(a answer) object {
	return object{
		"id": fmt.Sprintf("resp_%d", a.number), "object": "response", "created_at": 1, "status": "in_progress", "model": a.request.Model,
		"output": []object{}, "error": nil, "incomplete_details": nil,
	}
}

// responsesStream numbers its events.
type responsesStream struct{ events []event }

func (s *responsesStream) send(kind string, data object) {
	data["type"], data["sequence_number"] = kind, len(s.events)
	s.events = append(s.events, event{kind, data})
}

func responsesEvents(a answer) []event {
	var s responsesStream
	s.send("response.created", object{"response": responsesBegun(a)})
	s.send("response.in_progress", object{"response": responsesBegun(a)})
	calls := a.calls
	for i, item := range responsesOutput(a) {
		switch item["type"] {
		case "reasoning":
			s.added(i, item, object{"summary": []object{}})
			s.summary(i, item["id"], a.Think.Text)
		case "message":
			s.added(i, item, object{"status": "in_progress", "content": []object{}})
			s.text(i, item["id"], a.Say)
		case "function_call":
			s.added(i, item, object{"status": "in_progress", "arguments": ""})
			at := object{"item_id": item["id"], "output_index": i}
			for _, piece := range chunks(calls[0].Args) {
				s.send("response.function_call_arguments.delta", with(at, object{"delta": piece}))
			}
			s.send("response.function_call_arguments.done", with(at, object{"arguments": calls[0].Args}))
			calls = calls[1:]
		}
		s.send("response.output_item.done", object{"output_index": i, "item": item})
	}
	end := "response.completed"
	if a.Truncated {
		end = "response.incomplete"
	}
	s.send(end, object{"response": responsesWhole(a)})
	return s.events
}

// added announces an item, of which some is not there yet.
func (s *responsesStream) added(index int, item, yet object) {
	s.send("response.output_item.added", object{"output_index": index, "item": with(item, yet)})
}

func (s *responsesStream) text(index int, id any, text string) {
	at := object{"item_id": id, "output_index": index, "content_index": 0}
	part := object{"type": "output_text", "text": "", "annotations": []object{}}
	s.send("response.content_part.added", with(at, object{"part": part}))
	for _, piece := range chunks(text) {
		s.send("response.output_text.delta", with(at, object{"delta": piece}))
	}
	s.send("response.output_text.done", with(at, object{"text": text}))
	s.send("response.content_part.done", with(at, object{"part": with(part, object{"text": text})}))
}

func (s *responsesStream) summary(index int, id any, text string) {
	if text == "" {
		return
	}
	at := object{"item_id": id, "output_index": index, "summary_index": 0}
	s.send("response.reasoning_summary_part.added", with(at, object{"part": object{"type": "summary_text", "text": ""}}))
	for _, piece := range chunks(text) {
		s.send("response.reasoning_summary_text.delta", with(at, object{"delta": piece}))
	}
	s.send("response.reasoning_summary_text.done", with(at, object{"text": text}))
	s.send("response.reasoning_summary_part.done", with(at, object{"part": object{"type": "summary_text", "text": text}}))
}

// with is a copy with other fields.
func with(a, b object) object {
	c := maps.Clone(a)
	maps.Copy(c, b)
	return c
}
