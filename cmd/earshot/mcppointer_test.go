package main_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestMCPServeElicitation: a host that accepts by itself whatever it is asked is shown where to answer, and that does
// nothing: not its accept, but the person's, starts the call. The page's own name is kept from it.
func TestMCPServeElicitation(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	tools, lines := s.box()
	s.up("--tools", tools)
	asked := make(chan *sdk.ElicitParams, 8)
	completed := make(chan string, 8)
	options := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- r.Params
			return &sdk.ElicitResult{Action: "accept"}, nil
		},
		ElicitationCompleteHandler: func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			completed <- r.Params.ElicitationID
		},
	}
	h := s.hostWith(options, "2025-06-18", "codex-mcp-client", nil, "--answer-before", "4s")
	done := h.later("box_add", map[string]any{"line": "one"})
	q := <-asked
	page, err := url.Parse(s.place().Page)
	must(t, err)
	name, _, _ := strings.Cut(page.Hostname(), ".")
	if q.URL != s.place().URL+"/" || strings.Contains(q.URL+q.Message, name) {
		t.Errorf("the host was asked to open %s: %s", q.URL, q.Message)
	}
	if text, wrong := result(t, done); wrong || !strings.Contains(text, "Not done yet.") {
		t.Errorf("after the host's own accept: %v %s", wrong, text)
	}
	if got := linesOf(t, lines); got != "" {
		t.Errorf("after the host's own accept the lines are %q", got)
	}
	done = h.later("box_add", map[string]any{"line": "one"})
	s.does(0, "reply", "1", "accept")
	for {
		text, wrong := result(t, done)
		if wrong {
			t.Errorf("after the yes: %s", text)
		}
		if wrong || !strings.Contains(text, "Not done yet.") {
			break
		}
		done = h.later("box_add", map[string]any{"line": "one"})
	}
	if got := linesOf(t, lines); got != "one\n" {
		t.Errorf("after the yes the lines are %q", got)
	}
	if id := <-completed; id != q.ElicitationID {
		t.Errorf("completed %s, want %s", id, q.ElicitationID)
	}
	if len(asked) > 0 {
		t.Errorf("the host was asked again: %+v", <-asked)
	}
}

// TestMCPServeElicitationOff: with --no-elicitation the host is not asked.
func TestMCPServeElicitationOff(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	counts(t)
	s := emptyScene(t)
	tools, _ := s.box()
	s.up("--tools", tools)
	options := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			t.Errorf("the host was asked: %s", r.Params.Message)
			return &sdk.ElicitResult{Action: "decline"}, nil
		},
	}
	h := s.hostWith(options, "2025-06-18", "codex-mcp-client", nil, "--answer-before", "3s", "--no-elicitation")
	if text, wrong := result(t, h.later("box_add", map[string]any{"line": "one"})); wrong || !strings.Contains(text, "Not done yet.") {
		t.Errorf("%v %s", wrong, text)
	}
}
