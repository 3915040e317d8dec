package openapi_test

import (
	"bytes"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/openapi"
)

var update = flag.Bool("update", false, "write openapi.json and docs/api.md")

const (
	documentFile  = "openapi.json"
	referencePage = "../../docs/api.md"
)

func generate(t *testing.T) (text []byte, page string, s *schemas) {
	t.Helper()
	s = &schemas{t: t, comments: readComments(t), named: map[string]reflect.Type{}}
	text, err := json.Marshal(document(s))
	if err != nil {
		t.Fatal(err)
	}
	value := jsontext.Value(text)
	if err := value.Indent(jsontext.WithIndent(" ")); err != nil {
		t.Fatal(err)
	}
	return append(value, '\n'), reference(s), s
}

// TestGenerated: the document that is served and the page in docs are what the table and the types say. With -update
// they are written.
func TestGenerated(t *testing.T) {
	t.Parallel()
	text, page, _ := generate(t)
	for name, want := range map[string][]byte{documentFile: text, referencePage: []byte(page)} {
		if *update {
			if err := os.WriteFile(name, want, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is stale; write it with: go test ./api/openapi -update", name)
		}
	}
	if !*update && !bytes.Equal(openapi.Document(), text) {
		t.Error("another document is served")
	}
}

// TestDocumentHolds: every schema of the document is one, every reference leads somewhere, and every example is what
// its schema takes and its type decodes.
func TestDocumentHolds(t *testing.T) {
	t.Parallel()
	raw, _, s := generate(t)
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("openapi.json", whole); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.names() {
		if _, err := c.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range api.Routes() {
		if r.Request == nil {
			continue
		}
		at := "openapi.json#/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(r.Path) + "/" + strings.ToLower(r.Method) + "/requestBody/content/application~1json/schema"
		schema, err := c.Compile(at)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		example, err := jsonschema.UnmarshalJSON(strings.NewReader(r.Example))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(example); err != nil {
			t.Errorf("the example of %s: %v", r.Name, err)
		}
		if err := json.Unmarshal([]byte(r.Example), reflect.New(r.Request).Interface(), json.RejectUnknownMembers(true)); err != nil && closed(r) != nil {
			t.Errorf("the example of %s: %v", r.Name, err)
		}
		unknown, _ := jsonschema.UnmarshalJSON(strings.NewReader(`{"nonsense":1}`))
		if closed(r) != nil && schema.Validate(unknown) == nil {
			t.Errorf("%s takes a member that there is not", r.Name)
		}
	}
}
