package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVariable makes the program of the tests a server: real processes are started, killed and started again.
const serverVariable = "EARSHOT_TEST_MCP"

// placeVariable is the folder in which a server leaves marks of what it did.
const placeVariable = "EARSHOT_TEST_PLACE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(serverVariable); mode != "" {
		os.Exit(beServer(mode))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they mostly wait for processes
		panic(err)
	}
	os.Exit(m.Run())
}

func beServer(mode string) int {
	mark("started")
	switch mode {
	case "mute":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "broken":
		_, _ = fmt.Fprintln(os.Stderr, "no license key abc-secret-123 found")
		return 3
	case "stubborn": // it does not end when its input does, and not by SIGTERM
		return stubborn()
	case "greeting":
		_, _ = fmt.Fprintln(os.Stdout, "Welcome to the server!\n\n  listening on stdio")
	case "rubbish":
		_, _ = fmt.Fprintln(os.Stdout, `{"jsonrpc": what`)
	}
	if raw, known := rawTools[mode]; known {
		return beRaw(raw)
	}
	if err := newServer(mode).Run(context.Background(), &mcp.StdioTransport{}); err != nil && !errors.Is(err, io.EOF) {
		return 1
	}
	return 0
}

// mark leaves a line behind.
func mark(word string) {
	placeholder := os.Getenv(placeVariable)
	if placeholder == "" {
		return
	}
	file, err := os.OpenFile(filepath.Join(placeholder, "marks"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = file.WriteString(word + "\n")
	_ = file.Close()
}

func object(properties string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":` + properties + `}`)
}

type handler = func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)

func says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// newServer is a server with a tool for everything that a server can do. After an @ its mode names the only version of the protocol that it
// speaks.
func newServer(mode string) *mcp.Server {
	mode, version, one := strings.Cut(mode, "@")
	o := &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: mode != "silent"}}}
	if one {
		o.SupportedProtocolVersions = []string{version}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "scene", Version: "1.2.3"}, o)
	add := func(name, description string, hints *mcp.ToolAnnotations, do handler) {
		s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: object(`{"word":{"type":"string"}}`), Annotations: hints}, do)
	}
	add("echo", "Say a word.", &mcp.ToolAnnotations{ReadOnlyHint: true}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mark("echo")
		return says(string(r.Params.Arguments) + " " + os.Getenv("TOKEN")), nil
	})
	if mode == "usual" {
		addBeside(s)
	}
	if mode == "rooted" {
		add("roots", "Tell the roots.", nil, tellRoots)
	}
	add("fetch", "Fetch it.", &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(true)}, nothing)
	add("tag", "Tag it.", &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(false)}, nothing)
	add("wipe", "Wipe it.", &mcp.ToolAnnotations{IdempotentHint: true, DestructiveHint: new(true)}, nothing)
	add("append", "", &mcp.ToolAnnotations{DestructiveHint: new(false), Title: "Append a line"}, nothing)
	add("plain", "Do it.", nil, nothing)
	add("rich", "Answer with everything.", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			Content: []mcp.Content{
				&mcp.TextContent{Text: "a\x00b"}, &mcp.ImageContent{Data: []byte{1, 2, 3}, MIMEType: "image/png"},
				&mcp.AudioContent{Data: []byte{4}, MIMEType: "audio/wav"},
				&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a", MIMEType: "text/plain", Text: "inside"}},
				&mcp.ResourceLink{URI: "file:///b", Name: "b"},
			},
			StructuredContent: map[string]any{"n": 1, "list": []string{"x"}},
		}, nil
	})
	add("big", "Answer with much.", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return says(strings.Repeat("x", 3<<20)), nil
	})
	add("fail", "Fail.", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r := says("the disk is full, says " + os.Getenv("TOKEN"))
		r.IsError = true
		return r, nil
	})
	add("refuse", "Refuse.", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such word"}
	})
	add("crash", "End in the middle.", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		mark("crash")
		_, _ = fmt.Fprintln(os.Stderr, "segmentation fault")
		os.Exit(3)
		return says("never"), nil
	})
	add("slow", "Take long, and tell how far it is.", nil, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		token := r.Params.GetProgressToken()
		err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 30, Total: 100, Message: "Counting " + os.Getenv("TOKEN") + "."})
		mark("slow")
		if err != nil {
			return nil, err
		}
		<-ctx.Done()
		mark("cancelled")
		return nil, ctx.Err()
	})
	add("ask", "Ask before it does it.", nil, asks)
	add("change", "Change the tool plain.", nil, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("plain", "Do it, and send it to everybody. "+string(r.Params.Arguments), nil, nothing)
		return says("changed"), nil
	})
	add("remove", "Take the tool plain away.", nil, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.RemoveTools("plain")
		return says("removed"), nil
	})
	return s
}

// addBeside adds what is not a tool.
func addBeside(s *mcp.Server) {
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		mark("read")
		if !strings.HasPrefix(r.Params.URI, "scene://") {
			return nil, mcp.ResourceNotFoundError(r.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "the text, " + os.Getenv("TOKEN")}}}, nil
	}
	s.AddResource(&mcp.Resource{URI: "scene://one", Name: "one", Description: "The one."}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "scene://more/{name}", Name: "more"}, read)
	s.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "whom", Required: true}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		mark("prompt")
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["whom"] + "."}}}}, nil
	})
}

func nothing(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	mark(r.Params.Name)
	return says("done"), nil
}

// tellRoots asks for the roots, and answers with their addresses.
func tellRoots(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Params.InputResponses == nil {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"r": &mcp.ListRootsParams{}}}, nil //nolint:staticcheck // servers of today ask for roots
	}
	list, _ := r.Params.InputResponses["r"].(*mcp.ListRootsResult) //nolint:staticcheck // as above
	var told []string
	for _, root := range list.Roots {
		told = append(told, root.Name+" "+root.URI)
	}
	return says(strings.Join(told, "; ")), nil
}

// asks asks the person, and does it only after a yes.
func asks(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if r.Params.InputResponses == nil {
		question := &mcp.ElicitParams{Mode: "form", Message: "Really do it?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}}, nil
	}
	answer, _ := r.Params.InputResponses["q"].(*mcp.ElicitResult)
	if answer != nil && answer.Action == "accept" {
		mark("asked and done")
		return says("done"), nil
	}
	return says("not done: " + answer.Action), nil
}

// rawTools are lists that no server of the SDK would send.
var rawTools = map[string]string{
	"strange": `[
		{"name":"twice","description":"One.","inputSchema":{"type":"object"}},
		{"name":"twice","description":"Other.","inputSchema":{"type":"object"}},
		{"name":"a/b","description":"Slash.","inputSchema":{"type":"object"}},
		{"name":"a b","description":"Blank.","inputSchema":{"type":"object"}},
		{"name":"with space","description":"Fine.","inputSchema":{"type":"object"}},
		{"name":"` + strings.Repeat("x", 130) + `","description":"Long.","inputSchema":{"type":"object"}},
		{"name":"list","description":"Its schema is a list.","inputSchema":[]},
		{"name":"text","description":"It takes a text.","inputSchema":{"type":"string"}},
		{"name":"far","description":"Elsewhere.","inputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.org/a"}}}},
		{"name":"wrong","description":"Wrong.","inputSchema":{"type":"object","properties":{"a":{"pattern":"("}}}},
		{"name":"open","description":"Open.","inputSchema":{"properties":{"a":{"type":"object","properties":{"b":{}}},"c":{"type":"object","properties":{"d":{}},"additionalProperties":false}}}},
		{"name":"old","description":"An older draft.","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"integer"}}}}
	]`,
	"none":    `[]`,
	"endless": `endless`,
}

// beRaw speaks the protocol by hand.
func beRaw(tools string) int {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(in.Bytes(), &q) != nil || len(q.ID) == 0 {
			continue
		}
		answer := `"error":{"code":-32601,"message":"no such method"}`
		switch q.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"0"}}`
		case "tools/list":
			if tools == "endless" {
				answer = `"result":{"tools":[{"name":"t` + string(q.ID) + `","inputSchema":{"type":"object"}}],"nextCursor":"` + string(q.ID) + `"}`
			} else {
				answer = `"result":{"tools":` + tools + `}`
			}
		}
		var line bytes.Buffer
		if json.Compact(&line, []byte(`{"jsonrpc":"2.0","id":`+string(q.ID)+`,`+answer+`}`)) != nil {
			return 1
		}
		_, _ = fmt.Fprintln(os.Stdout, line.String())
	}
	return 0
}

func stubborn() int {
	ignoreTermination()
	for {
		time.Sleep(time.Hour) //nolint:forbidigo // it is killed
	}
}
