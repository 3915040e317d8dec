package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/tool"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// Result is what a server has answered, in the protocol's own form: texts, pictures and sounds (base64), resources and links to
// them in Content, and the value of a tool that has one in Structured.
type Result struct {
	Content    jsontext.Value `json:"content"`
	Structured jsontext.Value `json:"structuredContent,omitzero"` //nolint:tagliatelle // the protocol's own name
	// Unasked are questions of the server's in the middle of the call that nobody could be asked: it was told that nobody has
	// answered.
	Unasked []string `json:"unasked,omitzero"`
}

// result makes a result of an answer.
func (f *flight) result(got *mcp.CallToolResult, r *redactor) (tool.Result, error) {
	raw, err := json.Marshal(got)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the server's answer cannot be read: %w", err)
	}
	var out Result
	if err := json.Unmarshal(readable(r.Text(raw)), &out); err != nil {
		return tool.Result{}, &utp.ToolError{
			Code: utp.CodeResultNotSerializable, Source: utp.SourceTool, Message: "the server has done the call, and its answer cannot be kept: " + err.Error(),
		}
	}
	f.mu.Lock()
	out.Unasked = f.unasked
	f.mu.Unlock()
	if !got.IsError {
		return tool.Result{Value: out}, nil
	}
	var texts []string
	for _, part := range got.Content {
		if text, is := part.(*mcp.TextContent); is {
			texts = append(texts, string(r.Text([]byte(text.Text))))
		}
	}
	message := strings.TrimSpace(strings.Join(texts, "\n"))
	if message == "" {
		message = "the server says that it failed, and not why"
	}
	return tool.Result{Value: out, Status: utp.StatusFailed}, &utp.ToolError{Code: utp.CodeInternalError, Source: utp.SourceTool, Message: f.withDeclined(message)}
}

// withDeclined adds to a message what the server had wanted to ask.
func (f *flight) withDeclined(message string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.unasked) == 0 {
		return message
	}
	return message + " (The server had a question that nobody could be asked: " + settings.Clip(strings.Join(f.unasked, "; "), 1<<10) + ")"
}

// readable replaces what no store keeps: NUL characters. The usual text has none.
func readable(raw []byte) []byte {
	if tool.Keepable(raw) == nil {
		return raw
	}
	var out bytes.Buffer
	from, to := jsontext.NewDecoder(bytes.NewReader(raw)), jsontext.NewEncoder(&out)
	for {
		token, err := from.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes()
		}
		if err == nil && token.Kind() == jsontext.KindString {
			token = jsontext.String(tool.Readable(token.String()))
		}
		if err == nil {
			err = to.WriteToken(token)
		}
		if err != nil {
			return raw // what is wrong is said by who reads it
		}
	}
}
