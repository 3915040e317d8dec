package hosts_test

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/client"
	"github.com/earshot-dev/earshot/internal/testkit"
	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// everything is a host at an Earshot with the real server-everything behind it, of which these tools are reviewed as what only reads.
func everything(t *testing.T, reads ...string) (*gate, *mcp.ClientSession) {
	t.Helper()
	programs := agenthost.Need(t)
	g := emptyGate(t)
	g.does(append([]string{"mcp", "add", "every", "--data", g.data, "--"}, programs.EverythingServer()...)...)
	g.serves()
	digest := regexp.MustCompile(`--digest (\S+)`)
	for _, tool := range reads {
		g.until("a review", func(ctx context.Context) error {
			shown, err := g.tries(ctx, "tools", "review", "every."+tool, "--data", g.data)
			found := digest.FindStringSubmatch(shown)
			if err != nil || found == nil {
				return cmp.Or(err, errors.New(shown))
			}
			_, err = g.tries(ctx, "tools", "review", "every."+tool, "--digest", found[1], "--class", "read", "--risk", "low", "--data", g.data)
			return err
		})
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "a-host", Version: "1"}, nil)
	cmd := exec.CommandContext(t.Context(), program, "mcp", "serve", "--data", g.data)
	cmd.Dir = filepath.Dir(g.data)
	host, err := c.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() }) // what it has done tells
	return g, host
}

// TestResourcesAndPrompts: what a real server has beside tools, a host has through Earshot.
func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	_, host := everything(t, "list_resources", "read_resource", "list_prompts", "get_prompt")
	resources, err := host.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) == 0 {
		t.Fatalf("the resources are %+v, %v", resources, err)
	}
	uri := resources.Resources[0].URI
	read, err := host.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil || len(read.Contents) == 0 || read.Contents[0].URI != uri || read.Contents[0].Text == "" {
		t.Errorf("%s is %+v, %v", uri, read, err)
	}
	templates, err := host.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) == 0 {
		t.Errorf("the templates are %+v, %v", templates, err)
	}
	prompts, err := host.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) == 0 {
		t.Fatalf("the prompts are %+v, %v", prompts, err)
	}
	p, err := host.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "every_simple-prompt"})
	if err != nil || len(p.Messages) == 0 {
		t.Errorf("the prompt is %+v, %v", p, err)
	}
}

// TestElicitation: what a real server asks in the middle of a call is put to the person, field by field. Their no is a no.
func TestElicitation(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	g, host := everything(t, "trigger-elicitation-request")
	people, err := client.Dial(t.Context(), client.Options{ServerFile: filepath.Join(g.data, "server.json"), TokenFile: g.approver()})
	if err != nil {
		t.Fatal(err)
	}
	for i, tt := range []struct {
		answers []api.Response
		result  string
	}{
		{[]api.Response{{Text: "Anna"}, {Text: "decline"}}, "declined"},
		{[]api.Response{{Text: "dismiss"}}, "cancelled"},
		{[]api.Response{
			{Text: "Anna"}, {Text: "skip"}, {Text: "true", Type: api.ResponseBool}, {Text: "skip"}, {Text: "skip"}, {Text: "skip"}, {Text: "200", Type: api.ResponseNumber}, {Text: "7", Type: api.ResponseNumber},
		}, "Anna"},
	} {
		done := make(chan string, 1)
		go func() {
			r, err := host.CallTool(t.Context(), &mcp.CallToolParams{Name: "every_trigger-elicitation-request"})
			if err != nil {
				done <- err.Error()
				return
			}
			var text strings.Builder
			for _, part := range r.Content {
				if one, is := part.(*mcp.TextContent); is {
					text.WriteString(one.Text)
				}
			}
			done <- text.String()
		}()
		last := 0
		for n := 0; ; n++ {
			q := g.asksNext(done, &last)
			if q == nil {
				break
			}
			answer := api.Response{Text: "skip"}
			if n < len(tt.answers) {
				answer = tt.answers[n]
			}
			if !strings.Contains(string(q.Event), "every.trigger-elicitation-request asks, in the middle of its work") {
				t.Errorf("the question is %s", q.Event)
			}
			if _, err := people.Reply(t.Context(), q.Number, api.Reply{Token: q.Token, Response: answer}); err != nil {
				t.Fatal(err)
			}
		}
		if text := <-done; !strings.Contains(text, tt.result) {
			t.Errorf("call %d ended with %s; want %s in it", i, text, tt.result)
		}
	}
}

// asksNext waits for a question after the last one; nil once the call has ended.
func (g *gate) asksNext(done chan string, last *int) (next *api.OpenQuestion) {
	g.t.Helper()
	g.until("a question, or the result", func(ctx context.Context) error {
		select {
		case text := <-done:
			done <- text
			return nil
		default:
		}
		open, err := g.people.Questions(ctx)
		for _, q := range open {
			if q.Number > *last {
				*last, next = q.Number, &q
				return nil
			}
		}
		if err == nil {
			err = context.DeadlineExceeded
		}
		return err
	})
	return next
}
