package fakemodel

import (
	"net/http"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

type geminiRequest struct {
	SystemInstruction geminiContent   `json:"systemInstruction"`
	Contents          []geminiContent `json:"contents"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name                 string         `json:"name"`
			Description          string         `json:"description"`
			Parameters           jsontext.Value `json:"parameters"`
			ParametersJSONSchema jsontext.Value `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text             string `json:"text"`
	Thought          bool   `json:"thought"`
	ThoughtSignature string `json:"thoughtSignature"`
	FunctionCall     *struct {
		ID   string         `json:"id"`
		Name string         `json:"name"`
		Args jsontext.Value `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string         `json:"id"`
		Name     string         `json:"name"`
		Response jsontext.Value `json:"response"`
	} `json:"functionResponse"`
}

func decodeGemini(r *http.Request, into *Request) error {
	var q geminiRequest
	if err := decode(into.Body, &q); err != nil {
		return err
	}
	model, method, _ := strings.Cut(path.Base(r.URL.Path), ":")
	into.Model, into.Stream = model, method == "streamGenerateContent"
	for _, part := range q.SystemInstruction.Parts {
		into.System += part.Text
	}
	for _, group := range q.Tools {
		for _, tool := range group.FunctionDeclarations {
			schema := tool.ParametersJSONSchema
			if schema == nil {
				schema = tool.Parameters
			}
			into.Tools = append(into.Tools, Tool{Name: tool.Name, Description: tool.Description, Schema: schema})
		}
	}
	for _, content := range q.Contents {
		for _, part := range content.Parts {
			into.Messages = append(into.Messages, part.message(roleOf(content.Role)))
		}
	}
	return nil
}

func (p geminiPart) message(role string) Message {
	m := Message{Role: role, Text: p.Text}
	switch {
	case p.Thought:
		m.Text, m.Thoughts = "", []Thought{{Text: p.Text, Signature: p.ThoughtSignature}}
	case p.ThoughtSignature != "":
		m.Thoughts = []Thought{{Signature: p.ThoughtSignature}}
	}
	if call := p.FunctionCall; call != nil {
		m.Calls = []ToolCall{{ID: call.ID, Tool: call.Name, Args: string(call.Args)}}
	}
	if result := p.FunctionResponse; result != nil {
		m.Results = []Result{{ID: result.ID, Tool: result.Name, Text: geminiResult(result.Response)}}
	}
	return m
}

// geminiResult is what a tool said, which clients put under output or error.
func geminiResult(response jsontext.Value) string {
	var said struct {
		Output jsontext.Value `json:"output"`
		Error  jsontext.Value `json:"error"`
	}
	if err := decode(response, &said); err != nil {
		return string(response)
	}
	switch {
	case said.Output.Kind() == '"':
		return textOf(said.Output)
	case said.Error.Kind() == '"':
		return textOf(said.Error)
	default:
		return string(response)
	}
}

// geminiParts are those of an answer. A text may come in pieces, a call comes whole, and the signature of the thinking
// stands at the first part that is not thinking.
func geminiParts(a answer, cut func(string) []string) []object {
	var parts []object
	for _, piece := range cut(a.Think.Text) {
		parts = append(parts, object{"text": piece, "thought": true})
	}
	first := len(parts)
	for _, piece := range cut(a.Say) {
		parts = append(parts, object{"text": piece})
	}
	for _, call := range a.calls {
		parts = append(parts, object{"functionCall": object{"name": call.Tool, "args": jsontext.Value(call.Args)}})
	}
	if a.Think.Signature != "" {
		if first == len(parts) {
			parts = append(parts, object{"text": ""})
		}
		parts[first]["thoughtSignature"] = a.Think.Signature
	}
	if parts == nil {
		parts = []object{{"text": ""}}
	}
	return parts
}

func geminiResponse(a answer, parts []object, last bool) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	response := object{"candidates": []object{candidate}, "modelVersion": a.request.Model, "responseId": "response_1"}
	if !last {
		return response
	}
	candidate["finishReason"] = "STOP"
	if a.Truncated {
		candidate["finishReason"] = "MAX_TOKENS"
	}
	u := a.tokens()
	input := u.Input + u.CacheRead + u.CacheWrite
	response["usageMetadata"] = object{
		"promptTokenCount": input, "cachedContentTokenCount": u.CacheRead, "totalTokenCount": input + u.Output,
		"candidatesTokenCount": u.Output - u.Reasoning, "thoughtsTokenCount": u.Reasoning,
	}
	return response
}

func geminiWhole(a answer) any {
	parts := geminiParts(a, func(text string) []string {
		if text == "" {
			return nil
		}
		return []string{text}
	})
	return geminiResponse(a, parts, true)
}

func geminiEvents(a answer) []event {
	parts := geminiParts(a, chunks)
	events := make([]event, 0, len(parts))
	for i, part := range parts {
		events = append(events, event{data: geminiResponse(a, []object{part}, i == len(parts)-1)})
	}
	return events
}

func geminiFailure(f Failure) any {
	kind := kindOf(f, map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE",
	}, "INTERNAL")
	return object{"error": object{"code": f.Status, "message": f.Message, "status": kind}}
}
