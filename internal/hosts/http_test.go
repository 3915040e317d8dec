package hosts_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/fakemodel"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// TestMCPOverHTTP: an MCP server is reached at its address, with the header that names a token.
func TestMCPOverHTTP(t *testing.T) {
	eachHost(t, func(t *testing.T, programs agenthost.Programs, host agenthost.Host) {
		var calls, strangers atomic.Int64
		greeter := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
		greeter.AddTool(&mcp.Tool{Name: "greet", Description: "Greets.", InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				calls.Add(1)
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Good morning from the server."}}}, nil
			})
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return greeter }, nil)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				strangers.Add(1)
				http.Error(w, "unauthorized", http.StatusUnauthorized)
				return
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(func() {
			server.CloseClientConnections() // a stream of notifications has no end of its own
			server.Close()
		})
		model := fakemodel.Start(t, fakemodel.Script{
			{Call: []fakemodel.Call{{Tool: "greeter/greet"}}},
			{When: "Good morning from the server.", Say: "It greets."},
		})
		ended(t, agenthost.Run(t, programs, host, agenthost.Setup{
			Model: model.URL, Prompt: "Greet me.",
			MCP: []agenthost.MCPServer{{Name: "greeter", URL: server.URL, Headers: map[string]string{"Authorization": "Bearer secret"}}},
		}), "It greets.")
		if calls.Load() != 1 || strangers.Load() != 0 {
			t.Errorf("found %d calls, and %d requests without the token, expected 1 and none", calls.Load(), strangers.Load())
		}
	})
}
