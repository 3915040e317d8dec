package conform_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/aaep/conform"
)

// TestSchema: every file is what the schema of vectors describes, lies in the folder
// of its area and is called by its id; and its rules are in the catalogue.
func TestSchema(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("vectors", "vector.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	rules, err := conform.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	known := func(id string) bool {
		return slices.ContainsFunc(rules, func(r conform.Rule) bool { return r.ID == id })
	}
	names := vectorFiles(t)
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	vectors, err := conform.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(names) {
		t.Errorf("%d vectors in %d files", len(vectors), len(names))
	}
	for _, v := range vectors {
		if !slices.Contains(names, filepath.Join("vectors", v.Area(), v.ID+".json")) || !strings.HasPrefix(v.ID, v.Rule+"-") {
			t.Errorf("%s is not the file of its id", v.ID)
		}
		for _, id := range append(v.Rules(), v.Finding) {
			if id != "" && !known(id) {
				t.Errorf("%s names %s, which the catalogue does not have", v.ID, id)
			}
		}
	}
}
