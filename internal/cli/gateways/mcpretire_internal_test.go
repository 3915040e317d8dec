package gateways

import (
	"context"
	"slices"
	"testing"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/tool/mcp"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

// registry has these tools. Those of gone are taken out by somebody else meanwhile.
type registry struct {
	tools, removed []string
	gone           map[string]bool
	definitions    []utp.Definition
}

func (r *registry) add(t *testing.T, service, name string, claims any) {
	t.Helper()
	d, err := settings.Offer{Target: service, Tool: name, Parameters: []byte(`{"type":"object"}`), Description: "It does.", Claims: claims}.Definition()
	if err != nil {
		t.Fatal(err)
	}
	r.definitions = append(r.definitions, d)
}

func (r *registry) ask(_ context.Context, op string, request, answer any) error {
	switch q := request.(type) {
	case api.ToolsRequest:
		page := answer.(*api.ToolsAnswer)
		for _, d := range r.definitions {
			page.Tools = append(page.Tools, api.ToolDetail{Definition: d})
		}
	case api.RemoveRequest:
		if op != api.OpRemove || r.gone[q.Tool] {
			return &api.Fault{Code: utp.CodeNotFound}
		}
		r.removed = append(r.removed, q.Tool)
	}
	return nil
}

// TestRemoveTools: the tools that go are those of the service, whatever their names begin with; one that somebody else has taken out
// meanwhile is no failure.
func TestRemoveTools(t *testing.T) {
	t.Parallel()
	r := &registry{gone: map[string]bool{"post.gone": true}}
	claims := func(tool string) mcp.Claims { return mcp.Claims{Tool: tool} }
	r.add(t, "post", "post.look", claims("look"))
	r.add(t, "post", "post.gone", claims("gone"))
	r.add(t, "post", "letters", claims("letters"))
	r.add(t, "office", "post.office", claims("office"))
	r.add(t, "post", "post.program", nil) // of a program that has the server's name
	got, err := removeTools(t.Context(), r.ask, []string{"other", "post"})
	if want := []string{"post.look", "letters"}; err != nil || !slices.Equal(got, want) || !slices.Equal(r.removed, want) {
		t.Errorf("removed are %v, told are %v, %v; expected %v", r.removed, got, err, want)
	}
}
