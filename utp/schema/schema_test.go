package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/earshot-dev/earshot/utp/schema"
)

// TestCompile: objects are closed unless they open themselves, and formats are asserted.
func TestCompile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema, args string
		fits         bool
	}{
		{`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"a":1}`, true},
		{`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"a":1,"b":2}`, false},
		{`{"properties":{"a":{"properties":{"b":{}}}}}`, `{"a":{"c":1}}`, false},
		{`{"properties":{"a":{}},"additionalProperties":{"type":"integer"}}`, `{"b":2}`, true},
		{`{"properties":{"a":{}},"anyOf":[{"required":["b"]}]}`, `{"b":2}`, true},
		{`{"type":"object"}`, `{"b":2}`, true},
		{`{"properties":{"a":{"const":{"properties":{}}}}}`, `{"a":{"properties":{}}}`, true},
		{`{"properties":{"a":{"type":"array"}}}`, `{"a":[1,"b"]}`, true},
		{`{"properties":{"a":{"format":"date-time","type":"string"}}}`, `{"a":"today"}`, false},
	} {
		s, err := schema.Compile(jsontext.Value(tt.schema))
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		args, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(args); (err == nil) != tt.fits {
			t.Errorf("%s of %s: %v", tt.args, tt.schema, err)
		}
	}
}

// TestCompileRefuses: what is not a schema, and what would have to be read elsewhere, is said
// in one line.
func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type":"strin"}`:                   "not JSON Schema",
		`{`:                                  "not JSON Schema",
		`{"pattern":"("}`:                    "not JSON Schema",
		`{"$ref":"file:///etc/hostname"}`:    "may not refer to file:///etc/hostname",
		`{"$ref":"https://example.org/a"}`:   "may not refer to https://example.org/a",
		`{"$ref":"#/$defs/absent","type":1}`: "not JSON Schema",
	} {
		_, err := schema.Compile(jsontext.Value(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\t") || strings.Contains(err.Error(), "urn:") {
			t.Errorf("%s: %v; want ...%s... in one line", text, err, want)
		}
	}
}

// TestWork: a schema that tries more ways than there is time for is given up, whichever keyword it
// does it by; and judges the next value. One that seems to, but fails at the first way, is judged.
func TestWork(t *testing.T) {
	t.Parallel()
	doubling := func(keyword, last string) string {
		text := `{"properties":{"a":{"$ref":"#/$defs/x0"}},"$defs":{`
		for i := range 40 {
			text += fmt.Sprintf(`"x%d":{%q:[{"$ref":"#/$defs/x%d"},{"$ref":"#/$defs/x%d"}]},`, i, keyword, i+1, i+1)
		}
		return text + `"x40":` + last + `}}`
	}
	deep := strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40)
	// Both halves of each schema look at the value, and the next one does the same twice over.
	halves := func(half string) string {
		text := `{"properties":{"a":{"$ref":"#/$defs/x0"}},"$defs":{`
		for i := range 40 {
			next := fmt.Sprintf(`{"$ref":"#/$defs/x%d"}`, i+1)
			text += fmt.Sprintf(`"x%d":`, i) + strings.ReplaceAll(half, "NEXT", next) + `,`
		}
		return text + `"x40":{"type":["integer","object"]}}}`
	}
	for _, tt := range []struct {
		schema, args string
		judged       bool // it does not fit, for a reason
	}{
		{schema: doubling("allOf", `{"type":"integer"}`), args: `{"a":1}`},
		{schema: doubling("anyOf", `{"type":"string"}`), args: `{"a":1}`},
		{schema: doubling("oneOf", `{"type":"string"}`), args: `{"a":1}`},
		{schema: halves(`{"not":{"not":NEXT},"allOf":[NEXT]}`), args: `{"a":1}`},
		{schema: halves(`{"if":NEXT,"then":NEXT}`), args: `{"a":1}`},
		{schema: halves(`{"if":{"not":NEXT},"else":NEXT}`), args: `{"a":1}`},
		{schema: halves(`{"dependentSchemas":{"b":NEXT,"c":NEXT}}`), args: `{"a":{"b":1,"c":2}}`},
		{schema: halves(`{"anyOf":[{"allOf":[NEXT,false]},NEXT]}`), args: `{"a":1}`},
		{schema: `{"anyOf":[{"properties":{"a":{"$ref":"#"},"b":{}},"dependentRequired":{"a":["b"]}},{"properties":{"a":{"$ref":"#"},"c":{}},"dependentRequired":{"a":["c"]}}]}`, args: deep},
		{schema: doubling("allOf", `{"type":"string"}`), args: `{"a":1}`, judged: true},
		{schema: doubling("allOf", `{"$ref":"#/$defs/y"},"y":{"not":{}}`), args: `{"a":1}`, judged: true},
		{schema: `{"anyOf":[{"properties":{"a":{"$ref":"#"},"b":{}},"required":["b"]},{"properties":{"a":{"$ref":"#"},"c":{}},"required":["c"]}]}`, args: deep, judged: true},
	} {
		s, err := schema.Compile(jsontext.Value(tt.schema))
		if err != nil {
			t.Fatal(err)
		}
		args, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		err = s.Validate(args)
		if _, is := schema.Why(err); is != tt.judged || errors.Is(err, schema.ErrWork) == tt.judged {
			t.Errorf("%.80s: %v", tt.schema, err)
		}
		if err := s.Validate(map[string]any{}); errors.Is(err, schema.ErrWork) {
			t.Errorf("%.80s, the next value: %v", tt.schema, err)
		}
	}
	long, err := schema.Compile(jsontext.Value(`{"properties":{"a":{"items":{"anyOf":[{"type":"string"},{"properties":{"n":{"type":"integer"}}}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	items := make([]any, 200_000)
	for i := range items {
		items[i] = map[string]any{"n": json.Number("1")}
	}
	if err := long.Validate(map[string]any{"a": items}); err != nil {
		t.Errorf("a long list: %v", err)
	}
}

// TestExplain: what does not fit is found at its place, and said in plain words that do not repeat the value.
func TestExplain(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(jsontext.Value(`{"type":"object","required":["to"],"properties":{
		"to":{"type":"string","minLength":2,"maxLength":5,"pattern":"^[A-Z]"},"all":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3,"uniqueItems":true},
		"n":{"type":["number","null"],"minimum":0.5,"exclusiveMaximum":10,"multipleOf":0.5},"tone":{"enum":["warm","cool",3]},"one":{"const":"x"},
		"on":{"type":"string","format":"date"},"at":{"type":"string","format":"duration"},"never":false,"deep":{"type":"object","required":["a","b"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string][2]string{
		`{"to":"Ada","all":[1,"b"]}`:   {"all/1", "/all/1: found text, expected a whole number"},
		`{"to":1}`:                     {"to", "/to: found a number, expected text"},
		`{}`:                           {"", `"to" is missing`},
		`{"to":"Ada","deep":{}}`:       {"deep", `/deep: "a" and "b" are missing`},
		`{"to":"Ada","x":1}`:           {"", `found "x", which is not one of its members`},
		`{"to":"A"}`:                   {"to", "/to: found 1 character, expected at least 2"},
		`{"to":"Ada Lovelace"}`:        {"to", "/to: found 12 characters, expected at most 5"},
		`{"to":"ada"}`:                 {"to", "/to: expected text that matches the pattern ^[A-Z]"},
		`{"to":"Ada","all":[1]}`:       {"all", "/all: found 1 entry, expected at least 2"},
		`{"to":"Ada","all":[1,2,3,4]}`: {"all", "/all: found 4 entries, expected at most 3"},
		`{"to":"Ada","all":[1,2,1]}`:   {"all", "/all: the entries 1 and 3 are the same, expected different ones"},
		`{"to":"Ada","n":"a"}`:         {"n", "/n: found text, expected null or a number"},
		`{"to":"Ada","n":0}`:           {"n", "/n: expected at least 0.5"},
		`{"to":"Ada","n":10}`:          {"n", "/n: expected less than 10"},
		`{"to":"Ada","n":0.7}`:         {"n", "/n: expected a multiple of 0.5"},
		`{"to":"Ada","tone":"hot"}`:    {"tone", `/tone: expected one of "warm", "cool", 3`},
		`{"to":"Ada","one":"y"}`:       {"one", `/one: expected "x"`},
		`{"to":"Ada","on":"tomorrow"}`: {"on", "/on: expected a date, such as 2026-03-31"},
		`{"to":"Ada","at":"an hour"}`:  {"at", "/at: expected text of the format duration"},
		`{"to":"Ada","never":1}`:       {"never", "/never: no value is taken here"},
	} {
		err := s.ValidateJSON(jsontext.Value(args))
		where, what, is := schema.Explain(err)
		why, also := schema.Why(err)
		if strings.Join(where, "/") != want[0] || why != want[1] || !strings.HasSuffix(why, what) || !is || !also {
			t.Errorf("%s: found %q, %q, %q", args, where, what, why)
		}
	}
	if _, _, is := schema.Explain(s.ValidateJSON(jsontext.Value(`{"to":`))); is {
		t.Error("what is not JSON has a place")
	}
}
