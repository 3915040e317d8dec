package narrate_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/narrate"
)

const deleteFacts = `{
	"items": {"count": "/sets/*/delete/*"},
	"sets":  {"count": "/sets/*"},
	"bytes": {"sum": "/sets/*/size", "times": "/sets/*/delete"},
	"root":  {"text": "/root"}
}`

func facts(t testing.TB, raw string) narrate.Facts {
	t.Helper()
	f, err := narrate.ParseFacts(jsontext.Value(raw))
	if err != nil {
		t.Fatalf("facts %s: %v", raw, err)
	}
	return f
}

func TestFacts(t *testing.T) {
	t.Parallel()
	const sets = `{"root":"/home/a","sets":[` +
		`{"sha256":"x","size":1000,"keep":"a","delete":["b","c"]},{"sha256":"y","size":7,"keep":"d","delete":["e"]}]}`
	tests := []struct {
		name, facts, value string
		want               string // as JSON; a fact that could not be established is missing
	}{
		{"a deletion", deleteFacts, sets, `{"bytes":{"bytes":2007},"items":{"count":3},"root":{"text":"/home/a"},"sets":{"count":2}}`},
		{"nothing to delete", deleteFacts, `{"root":"/","sets":[]}`, `{"bytes":{"bytes":0},"items":{"count":0},"root":{"text":"/"},"sets":{"count":0}}`},
		{"members in any order", deleteFacts, `{"sets":[{"delete":["b"],"size":5}],"root":"r"}`, `{"bytes":{"bytes":5},"items":{"count":1},"root":{"text":"r"},"sets":{"count":1}}`},
		{"a size is missing: no sum at all", deleteFacts, `{"root":"r","sets":[{"size":5,"delete":["b"]},{"delete":["c"]}]}`, `{"items":{"count":2},"root":{"text":"r"},"sets":{"count":2}}`},
		{"a list is missing", deleteFacts, `{"root":"r","sets":[{"size":5}]}`, `{"root":{"text":"r"},"sets":{"count":1}}`},
		{"another shape", deleteFacts, `{"root":{"path":"r"},"sets":{"a":1}}`, `{"sets":{"count":1}}`},
		{"a fraction is not a size", `{"n":{"sum":"/a/*"}}`, `{"a":[1,2.5]}`, `{}`},
		{"a negative number is not a size", `{"n":{"sum":"/a/*"}}`, `{"a":[1,-2]}`, `{}`},
		{"a text is not a size", `{"n":{"sum":"/a/*"}}`, `{"a":[1,"2"]}`, `{}`},
		{"a sum of plain numbers", `{"n":{"sum":"/a/*"}}`, `{"a":[1,2]}`, `{"n":{"count":3}}`},
		{"a sum over members", `{"n":{"sum":"/a/*/n"}}`, `{"a":[{"n":1},{"n":2}]}`, `{"n":{"count":3}}`},
		{"a sum at the top", `{"n":{"sum":"/n"}}`, `{"n":4}`, `{"n":{"count":4}}`},
		{"times a number", `{"n":{"sum":"/a/*/n","times":"/a/*/m"}}`, `{"a":[{"n":3,"m":2},{"m":5,"n":2}]}`, `{"n":{"count":16}}`},
		{"beyond what a double carries", `{"n":{"sum":"/a/*"}}`, `{"a":[9007199254740992,1]}`, `{}`},
		{"a product beyond it", `{"n":{"sum":"/n","times":"/m"}}`, `{"n":9007199254740992,"m":2}`, `{}`},
		{"the largest", `{"n":{"sum":"/a/*"}}`, `{"a":[9007199254740991,1]}`, `{"n":{"count":9007199254740992}}`},
		{"members of an object", `{"n":{"count":"/a/*"}}`, `{"a":{"x":1,"y":null}}`, `{"n":{"count":2}}`},
		{"what is not there", `{"n":{"count":"/a/*"},"t":{"text":"/t"}}`, `{"b":[]}`, `{}`},
		{"an index is not a name", `{"t":{"text":"/a/0"}}`, `{"a":["x"]}`, `{}`},
		{"escaped names", `{"t":{"text":"/a~1b/c~0d"}}`, `{"a/b":{"c~d":"x"}}`, `{"t":{"text":"x"}}`},
		{"value by its kind", `{"a":{"value":"/a"},"b":{"value":"/b"},"x_bytes":{"value":"/a"},"t":{"value":"/a","unit":"ms"}}`, `{"a":5,"b":"x"}`, `{"a":{"count":5},"b":{"text":"x"},"t":{"ms":5},"x_bytes":{"bytes":5}}`},
		{"text of other scalars", `{"a":{"text":"/a"},"b":{"text":"/b"},"c":{"text":"/c"}}`, `{"a":1.5,"b":true,"c":null}`, `{"a":{"text":"1.5"},"b":{"text":"true"}}`},
		{"a list", `{"to":{"list":"/to/*"}}`, `{"to":["a","b"]}`, `{"to":{"list":[{"text":"a"},{"text":"b"}]}}`},
		{"a long list", `{"to":{"list":"/to/*"}}`, `{"to":["a","b","c","d","e","f","g"]}`, `{"to":{"list":[{"text":"a"},{"text":"b"},{"text":"c"},{"text":"d"},{"text":"e"}],"left":2}}`},
		{"a list that is empty", `{"to":{"list":"/to/*"}}`, `{"to":[]}`, `{}`},
		{"a secret", `{"key":{"text":"/key"},"n":{"count":"/key/*"},"mac":{"text":"/key/mac"}}`, `{"key":{"$secret":"k1","mac":"abc"}}`, `{"key":{"secret":true}}`},
		{"a secret in another order", `{"key":{"text":"/key"},"mac":{"text":"/key/mac"}}`, `{"key":{"mac":"abc","$secret":"k1"}}`, `{"key":{"secret":true}}`},
		{"not JSON", deleteFacts, `{"root":"r","sets":[`, `{}`},
		{"a scalar where a path goes on", `{"n":{"count":"/a/*"}}`, `5`, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := facts(t, tt.facts).Find(jsontext.Value(tt.value)).JSON()
			if string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParseFactsRefuses(t *testing.T) {
	t.Parallel()
	many := make([]string, narrate.MaxFacts+1)
	for i := range many {
		many[i] = fmt.Sprintf(`"f%d":{"count":"/a/*"}`, i)
	}
	for name, raw := range map[string]string{
		"no object":          `[]`,
		"nothing set":        `{"a":{}}`,
		"two things set":     `{"a":{"count":"/x","text":"/y"}}`,
		"unknown member":     `{"a":{"count":"/x","than":"/y"}}`,
		"no slash":           `{"a":{"text":"x"}}`,
		"too deep":           `{"a":{"text":"/1/2/3/4/5/6/7/8/9"}}`,
		"unknown unit":       `{"a":{"value":"/x","unit":"miles"}}`,
		"times alone":        `{"a":{"count":"/x/*","times":"/y"}}`,
		"times is elsewhere": `{"a":{"sum":"/x/*/n","times":"/y/*/m"}}`,
		"one text, many":     `{"a":{"text":"/x/*"}}`,
		"too many":           "{" + strings.Join(many, ",") + "}",
	} {
		if _, err := narrate.ParseFacts(jsontext.Value(raw)); err == nil {
			t.Errorf("%s: %s passed", name, raw)
		}
	}
}

// TestFactsAgree compares the one pass with a naive reading of the whole value.
func TestFactsAgree(t *testing.T) {
	t.Parallel()
	type set struct {
		Delete []string `json:"delete"`
		Size   int64    `json:"size"`
	}
	for n := range 40 {
		args := struct {
			Root string `json:"root"`
			Sets []set  `json:"sets"`
		}{Root: strings.Repeat("r", n), Sets: []set{}}
		items, size := int64(0), int64(0)
		for i := range n {
			s := set{Size: int64(i * n), Delete: make([]string, (i*7)%5)}
			items += int64(len(s.Delete))
			size += s.Size * int64(len(s.Delete))
			args.Sets = append(args.Sets, s)
		}
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		found := facts(t, deleteFacts).Find(raw)
		if got := *found["items"].Count; got != items {
			t.Errorf("%d sets: %d items, want %d", n, got, items)
		}
		if got := *found["bytes"].Bytes; got != size {
			t.Errorf("%d sets: %d bytes, want %d", n, got, size)
		}
	}
}

// BenchmarkFacts reads five megabytes of arguments.
func BenchmarkFacts(b *testing.B) {
	var raw bytes.Buffer
	raw.WriteString(`{"root":"/home/a","sets":[`)
	for i := 0; raw.Len() < 5<<20; i++ {
		if i > 0 {
			raw.WriteByte(',')
		}
		fmt.Fprintf(&raw, `{"sha256":"%064d","size":12345,"keep":"a/b/%d","delete":["c/d/%d","e/f/%d"]}`, i, i, i, i)
	}
	raw.WriteString(`]}`)
	f := facts(b, deleteFacts)
	b.SetBytes(int64(raw.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if f.Find(raw.Bytes())["items"].Count == nil {
			b.Fatal("not found")
		}
	}
}

// FuzzFacts: no facts and no value make the evaluator fail, and what it finds is a
// whole number in bounds or a text that can be shown.
func FuzzFacts(f *testing.F) {
	f.Add(deleteFacts, `{"root":"/","sets":[{"size":1,"delete":["a"]}]}`)
	f.Add(`{"n":{"sum":"/a/*/b","times":"/a/*/c"}}`, `{"a":{"x":{"b":1,"c":[1,[2]]}}}`)
	f.Add(`{"n":{"list":"/*/*"}}`, `[[1,2],["\u0000"]]`)
	f.Add(`{"n":{"value":"/a"}}`, `{"a":1e400}`)
	f.Fuzz(func(t *testing.T, spec, value string) {
		parsed, err := narrate.ParseFacts(jsontext.Value(spec))
		if err != nil {
			return
		}
		first := parsed.Find(jsontext.Value(value))
		for name, p := range first {
			for _, n := range []*int64{p.Count, p.Bytes, p.Time} {
				if n != nil && (*n < 0 || *n > 1<<53) {
					t.Errorf("%s is %d", name, *n)
				}
			}
			if len(p.List) > narrate.MaxList {
				t.Errorf("%s lists %d", name, len(p.List))
			}
		}
		if second := parsed.Find(jsontext.Value(value)); string(first.JSON()) != string(second.JSON()) {
			t.Errorf("two readings differ: %s and %s", first.JSON(), second.JSON())
		}
		if _, err := narrate.ParseParams(first.JSON()); err != nil {
			t.Errorf("parameters do not survive: %v", err)
		}
	})
}
