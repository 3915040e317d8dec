package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// TestRoutes: the table holds together, and each row says what a caller needs to know.
func TestRoutes(t *testing.T) {
	t.Parallel()
	names, mux := map[string]bool{}, http.NewServeMux()
	for _, r := range api.Routes() {
		switch {
		case names[r.Name]:
			t.Errorf("%s stands there twice", r.Name)
		case !strings.HasSuffix(r.Summary, ".") || len(r.Statuses) == 0 || r.Refusal == nil:
			t.Errorf("%s has no summary, no status or no refusal", r.Name)
		case r.Right == api.Nobody:
			t.Errorf("%s: nobody may ask for it", r.Name)
		case r.Answer == nil && r.Media == "" && !slices.Equal(r.Statuses, []int{http.StatusSwitchingProtocols}):
			t.Errorf("%s: the answer is neither JSON nor anything else", r.Name)
		case (r.Request != nil) != (r.Limit > 0) || (r.Request != nil) != jsontext.Value(r.Example).IsValid():
			t.Errorf("%s: a body has a limit and an example that is JSON, and only a body has them", r.Name)
		case r.Method == http.MethodGet && !r.Repeatable:
			t.Errorf("%s reads, and may not be repeated", r.Name)
		case r.Right == api.Anyone == slices.Contains(r.Refusals(), api.KindForbidden):
			t.Errorf("%s: a right can be lacking, or there is none", r.Name)
		}
		names[r.Name] = true
		mux.HandleFunc(r.Pattern(), func(http.ResponseWriter, *http.Request) {}) // panics where two are the same
		values := slices.Repeat([]string{"a/b"}, len(r.Wildcards()))
		method, path := api.Address(r.Name, values...)
		if method != r.Method || strings.Contains(path, "{") || len(values) > 0 != strings.Contains(path, "/a%2Fb") {
			t.Errorf("the address of %s is %s %s", r.Name, method, path)
		}
		if _, path := api.Address(r.Name, append(values, "more")...); path != "" {
			t.Errorf("%s takes a value too many", r.Name)
		}
	}
	for _, o := range api.Operations() {
		if r, is := api.RouteNamed(api.OperatorRoute(o.Name)); is != (o.Right != api.Nobody) || is && (r.Request != o.Request || r.Answer != o.Answer || r.Right != o.Right) {
			t.Errorf("the operation %s has another route than its row says", o.Name)
		}
	}
}

// TestKinds: each kind has a status of its own and a meaning; one that is not known is a failure of the server.
func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, k := range api.Kinds() {
		if seen[k.Status()] || k.Status() < 400 || k.Meaning() == "" {
			t.Errorf("%s: status %d, %q", k, k.Status(), k.Meaning())
		}
		seen[k.Status()] = true
	}
	if k := api.Kind("else"); k.Status() != 500 || k.Meaning() != "" {
		t.Errorf("a kind that is none has the status %d", k.Status())
	}
}

// TestRights: which roles give which right; an agent and a tool never get more than to hear.
func TestRights(t *testing.T) {
	t.Parallel()
	all := []api.Right{api.Listen, api.Answer, api.Stop, api.Start, api.Inspect, api.Operate}
	for _, row := range []struct {
		roles []api.Role
		want  []api.Right
	}{
		{nil, nil},
		{[]api.Role{api.RoleListener}, []api.Right{api.Listen, api.Stop}},
		{[]api.Role{api.RoleApprover}, []api.Right{api.Listen, api.Answer, api.Stop, api.Start}},
		{[]api.Role{api.RoleAuditor}, []api.Right{api.Listen, api.Inspect}},
		{[]api.Role{api.RoleOperator}, []api.Right{api.Listen, api.Stop, api.Start, api.Inspect}},
		{[]api.Role{api.RoleOperator, api.RoleApprover}, all},
		{[]api.Role{api.RoleAgent}, nil},
		{[]api.Role{api.RoleTool}, nil},
		{append(api.Roles(), api.RoleAgent), []api.Right{api.Listen}},
	} {
		for _, right := range all {
			if got := right.Of(row.roles); got != slices.Contains(row.want, right) {
				t.Errorf("%v may %s: %v", row.roles, right.Description(), got)
			}
		}
		if !api.Anyone.Of(row.roles) || api.Nobody.Of(row.roles) {
			t.Errorf("%v: anyone and nobody are the other way round", row.roles)
		}
	}
}
