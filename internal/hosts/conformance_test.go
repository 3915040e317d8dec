package hosts_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// conformer is a server with the tools that the suite calls, as far as they get through the gate: the suite's test_simple_text is
// simple_text of the service test.
func conformer(t *testing.T) (address string) {
	t.Helper()
	var (
		text     = &mcp.TextContent{Text: "This is a simple text response for testing."}
		image    = &mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
		audio    = &mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF\x00\x00\x00\x00WAVE")}
		resource = &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "An embedded resource."}}
	)
	server := mcp.NewServer(&mcp.Implementation{Name: "conformer", Version: "1"}, nil)
	for name, content := range map[string][]mcp.Content{
		"simple_text": {text}, "image_content": {image}, "audio_content": {audio}, "embedded_resource": {resource},
		"multiple_content_types": {text, image, resource}, "error_handling": {&mcp.TextContent{Text: "This tool fails on purpose."}},
	} {
		server.AddTool(&mcp.Tool{Name: name, Description: "For the suite.", InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: content, IsError: name == "error_handling"}, nil
			})
	}
	addBeside(server)
	s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() {
		s.CloseClientConnections() // a stream of notifications has no end of its own
		s.Close()
	})
	return s.URL
}

// addBeside adds the resources and prompts that the suite reads: its test_simple_prompt is simple_prompt of the service test.
func addBeside(server *mcp.Server) {
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		content := &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "The content of " + r.Params.URI + "."}
		if strings.Contains(r.Params.URI, "binary") {
			content = &mcp.ResourceContents{URI: r.Params.URI, MIMEType: "image/png", Blob: []byte("\x89PNG\r\n\x1a\n")}
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
	}
	for _, name := range []string{"static-text", "static-binary"} {
		server.AddResource(&mcp.Resource{URI: "test://" + name, Name: name, MIMEType: "text/plain"}, read)
	}
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"}, read)
	image := &mcp.ImageContent{MIMEType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	for name, arguments := range map[string][]string{
		"simple_prompt": nil, "prompt_with_arguments": {"arg1", "arg2"}, "prompt_with_embedded_resource": {"resourceUri"}, "prompt_with_image": nil,
	} {
		p := &mcp.Prompt{Name: name, Description: "For the suite."}
		for _, argument := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: argument, Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			given := r.Params.Arguments
			messages := []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "A prompt with " + given["arg1"] + " and " + given["arg2"] + "."}}}
			switch name {
			case "prompt_with_embedded_resource":
				messages[0].Content = &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: given["resourceUri"], MIMEType: "text/plain", Text: "Embedded."}}
			case "prompt_with_image":
				messages[0].Content = image
			}
			return &mcp.GetPromptResult{Messages: messages}, nil
		})
	}
}

// withToken is an address that sends a token along to another one, and speaks under its name.
func withToken(t *testing.T, to, token string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	var s *httptest.Server
	s = httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		here := strings.TrimPrefix(s.URL, "http://")
		r.SetURL(target)
		if r.Out.Host = r.In.Host; r.In.Host == here {
			r.Out.Host = target.Host
		}
		if r.In.Header.Get("Origin") == s.URL {
			r.Out.Header.Set("Origin", to)
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	t.Cleanup(func() {
		s.CloseClientConnections() // the same
		s.Close()
	})
	return s.URL
}

// TestConformance: /mcp passes the protocol's own suite, but for what is not offered there; what that is stands in the list beside
// this test, and a scenario of the list that passes fails the test, too.
func TestConformance(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	programs := agenthost.Need(t)
	g := emptyGate(t)
	g.does("mcp", "add", "test", conformer(t), "--data", g.data)
	g.serves()
	g.reviews("test", "simple_text", "image_content", "audio_content", "embedded_resource", "multiple_content_types", "error_handling", "list_resources", "read_resource", "list_prompts", "get_prompt")
	token := g.token("suite")
	suite := programs.Conformance(withToken(t, g.people.Server(), token)+"/mcp", "--expected-failures", "testdata/conformance.yaml")
	out, err := exec.CommandContext(t.Context(), suite[0], suite[1:]...).CombinedOutput()
	_, summary, _ := bytes.Cut(out, []byte("=== SUMMARY ==="))
	if err != nil || !regexp.MustCompile(`(?m)^✓ `).Match(summary) {
		t.Errorf("found failures that testdata/conformance.yaml does not list, or no result (%v):\n%s", err, out)
	}
}
