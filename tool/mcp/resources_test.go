package mcp_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/utp"
)

// TestBeside: the resources and prompts of a server are tools, too. Nobody has reviewed them, and they are proposed as what only reads.
func TestBeside(t *testing.T) {
	t.Parallel()
	s := stdio(t, "usual", "")
	for name, tt := range map[string]struct{ args, part string }{
		mcp.ListResources: {`{}`, `"uri":"scene://one"`},
		mcp.ReadResource:  {`{"uri":"scene://one"}`, `"text":"the text, [secret token]"`},
		mcp.ListPrompts:   {`{}`, `"name":"greet"`},
		mcp.GetPrompt:     {`{"name":"greet","arguments":{"whom":"Anna"}}`, `"text":"Greet Anna."`},
	} {
		d := s.tool(name).Definition
		claims, known := mcp.ClaimsOf(d)
		if p := mcp.Propose(claims); !known || d.Class != "" || p.Class != utp.Read || p.Risk != utp.RiskLow {
			t.Errorf("%s is offered as %+v, and proposed as %+v", name, d, p)
		}
		if got := s.call(name, tt.args, utp.Read); got.err != nil || !strings.Contains(got.text, tt.part) {
			t.Errorf("%s: %v, %s", name, got.err, got.text)
		}
	}
	if got := s.call(mcp.ListResources, `{}`, utp.Read); !strings.Contains(got.text, `"uriTemplate":"scene://more/{name}"`) {
		t.Errorf("the templates are not listed: %s", got.text)
	}
	if s.call(mcp.ReadResource, `{"uri":"file:///etc/passwd"}`, utp.Read).err == nil || s.call(mcp.GetPrompt, `{"name":"none"}`, utp.Read).err == nil {
		t.Error("what is not there is read")
	}
}

// TestBesideNothing: a server without them has no such tools.
func TestBesideNothing(t *testing.T) {
	t.Parallel()
	s := stdio(t, "silent", "")
	for name := range s.tools {
		if strings.HasSuffix(name, mcp.ReadResource) || strings.HasSuffix(name, mcp.GetPrompt) {
			t.Errorf("there is %s", name)
		}
	}
}
