package web_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/openapi"
)

// described are the answers that the description of the API has: by the pattern of a route and the status the schema
// of the body, nil where that is not JSON.
var described = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(openapi.Document()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("openapi.json", whole); err != nil {
		return nil, err
	}
	in := func(value any, names ...string) any {
		for _, name := range names {
			members, _ := value.(map[string]any)
			value = members[name]
		}
		return value
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, route := range api.Routes() {
		answers, _ := in(whole, "paths", route.Path, strings.ToLower(route.Method), "responses").(map[string]any)
		for status, answer := range answers {
			at := "/paths/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(route.Path) + "/" + strings.ToLower(route.Method) + "/responses/" + status
			if ref, is := in(answer, "$ref").(string); is {
				at = strings.TrimPrefix(ref, "#")
				answer = in(whole, strings.Split(at, "/")[1:]...)
			}
			key := route.Pattern() + " " + status
			schemas[key] = nil
			if in(answer, "content", "application/json", "schema") == nil {
				continue
			}
			at = strings.NewReplacer("{", "%7B", "}", "%7D").Replace(at) + "/content/application~1json/schema"
			if schemas[key], err = c.Compile("openapi.json#" + at); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	return schemas, nil
})

// isDescribed checks that an answer is one that the description of the API has for the route: its status, and its body.
// Whatever the tests ask for is checked by it. What a test makes the hub say may have any status.
func isDescribed(t testing.TB, r *http.Request, w *httptest.ResponseRecorder, anyStatus bool) {
	t.Helper()
	schemas, err := described()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, route := range api.Routes() {
		mux.HandleFunc(route.Pattern(), func(http.ResponseWriter, *http.Request) {})
	}
	_, pattern := mux.Handler(r)
	kind := w.Header().Get("Content-Type")
	if pattern == "" || r.Method == http.MethodHead || strings.HasPrefix(kind, "text/html") || kind == "application/jose" { // which were asked for by Accept
		return
	}
	schema, is := schemas[fmt.Sprintf("%s %d", pattern, w.Code)]
	if !is {
		if !anyStatus {
			t.Errorf("%s %s is answered with %d, which its description does not have: %s", r.Method, r.URL.Path, w.Code, w.Body)
		}
		return
	}
	if schema == nil {
		return
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(w.Body.Bytes()))
	if err == nil {
		err = schema.Validate(body)
	}
	if err != nil {
		t.Errorf("%s %s is answered with %d and %s, which is not what its description says: %v", r.Method, r.URL.Path, w.Code, w.Body, err)
	}
}

// TestOpenAPI: the description is served to everybody, as it is.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.do("GET", "/api/v1/openapi.json", "", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || !bytes.Equal(bytes.TrimSpace(w.Body.Bytes()), bytes.TrimSpace(openapi.Document())) {
		t.Errorf("%d %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	wants(t, w.Body.String(), `"openapi": "3.1.0"`)
}
