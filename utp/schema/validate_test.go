package schema_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/utp/schema"
)

// failer is what a test and a property have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func compile(t failer, text string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile(jsontext.Value(text))
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return s
}

// TestNumbers: no number is rounded, and none takes memory or time for the size of its exponent.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		schema, value string
		fits          bool
	}{
		{`{"const":1915883588174806058}`, `1915883588174806058`, true},
		{`{"const":1915883588174806058}`, `1915883588174806059`, false},
		{`{"enum":[1915883588174806058]}`, `1915883588174806058.0`, true},
		{`{"maximum":1915883588174806058}`, `1915883588174806059`, false},
		{`{"exclusiveMinimum":1915883588174806058}`, `1915883588174806059`, true},
		{`{"type":"integer"}`, `1.0`, true},
		{`{"type":"integer"}`, `1.5e1`, true},
		{`{"type":"integer"}`, `15e-1`, false},
		{`{"type":"integer"}`, `1e999999999999999999999`, true},
		{`{"type":"integer"}`, `1e-999999999999999999999`, false},
		{`{"type":"integer"}`, `0e-5`, true},
		{`{"multipleOf":0.01}`, `19.99`, true},
		{`{"multipleOf":0.01}`, `19.999`, false},
		{`{"multipleOf":1e-8}`, `12391239123`, true},
		{`{"multipleOf":3}`, `1e999999999`, false},
		{`{"multipleOf":7}`, `7e999999999`, true},
		{`{"multipleOf":1915883588174806058}`, `3831767176349612116`, true},
		{`{"multipleOf":1e999999999}`, `1`, false},
		{`{"multipleOf":1e999999999}`, `-0.0`, true},
		{`{"minimum":1e999999999}`, `1e999999998`, false},
		{`{"minimum":-1e999999999}`, `-1e999999998`, true},
		{`{"maximum":-0}`, `0`, true},
		{`{"maximum":1e-400}`, `0`, true},
		{`{"maximum":1e-400}`, `1e-399`, false},
		{`{"minLength":1e999999999}`, `"a"`, false},
		{`{"maxItems":1e30}`, `[1]`, true},
		{`{"uniqueItems":true}`, `[1,1.0]`, false},
		{`{"uniqueItems":true}`, `[1,"1",[1],{"1":1},true,null]`, true},
		{`{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2,"a":1.0}]`, false},
		{`{"uniqueItems":true}`, `[1e999999999,10e999999998]`, false},
	} {
		if err := compile(t, tt.schema).ValidateJSON(jsontext.Value(tt.value)); (err == nil) != tt.fits {
			t.Errorf("%s of %s: %v", tt.value, tt.schema, err)
		}
	}
}

// TestNumbersOfGo: numbers may have the types of Go. What is no number of JSON fits nothing.
func TestNumbersOfGo(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"integer","minimum":2,"maximum":3}`)
	for _, value := range []any{2, int8(2), int64(3), uint8(2), uint64(3), float32(2), 3.0, json.Number("2.0")} {
		if err := s.Validate(value); err != nil {
			t.Errorf("%T %v: %v", value, value, err)
		}
	}
	for _, value := range []any{1, 2.5, uint16(4), json.Number("1e1"), math.NaN(), math.Inf(1), float32(math.Inf(-1)), []byte("2"), struct{}{}} {
		if why, is := schema.Why(s.Validate(value)); !is || why == "" {
			t.Errorf("%T %v: %q", value, value, why)
		}
	}
}

// TestNumbersAgree: comparing and dividing by digits comes to the same as by fractions.
func TestNumbersAgree(t *testing.T) {
	t.Parallel()
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		value, limit := number.Draw(t, "value"), number.Draw(t, "limit")
		if rapid.Bool().Draw(t, "multiple") {
			value = limit
			if !strings.ContainsAny(limit, ".eE") && strings.Trim(limit, "-0") != "" {
				value += "0"
			}
		}
		a, _ := new(big.Rat).SetString(value)
		b, _ := new(big.Rat).SetString(limit)
		for text, want := range map[string]bool{
			`{"minimum":` + limit + `}`: a.Cmp(b) >= 0, `{"exclusiveMaximum":` + limit + `}`: a.Cmp(b) < 0, `{"const":` + limit + `}`: a.Cmp(b) == 0,
			`{"type":"integer"}`: a.IsInt(),
		} {
			if got := compile(t, text).ValidateJSON(jsontext.Value(value)) == nil; got != want {
				t.Fatalf("%s of %s: %t", value, text, got)
			}
		}
		if b.Sign() <= 0 {
			return
		}
		want := new(big.Rat).Quo(a, b).IsInt()
		if got := compile(t, `{"multipleOf":`+limit+`}`).ValidateJSON(jsontext.Value(value)) == nil; got != want {
			t.Fatalf("%s as a multiple of %s: %t", value, limit, got)
		}
	})
}

func compileError(text string) string {
	if _, err := schema.Compile(jsontext.Value(text)); err != nil {
		return err.Error()
	}
	return ""
}

// TestMistakes: what is wrong in a schema is said with its place.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"properties":{"a/b":{"type":"strin"}}}`:           `#/properties/a~1b/type: found "strin", expected one of null, boolean, number, integer, string, array, object`,
		`{"type":["null","null"]}`:                          `#/type: "null" is listed twice`,
		`{"items":[{}]}`:                                    `#/items: found a list, expected a schema`,
		`{"exclusiveMinimum":true}`:                         `#/exclusiveMinimum: found true or false, expected a number`,
		`{"minLength":-1}`:                                  `#/minLength: found -1, expected a whole number of at least 0`,
		`{"minItems":1.5}`:                                  `#/minItems: found 1.5, expected a whole number of at least 0`,
		`{"multipleOf":0}`:                                  `#/multipleOf: found 0, expected a number above 0`,
		`{"required":["a","a"]}`:                            `#/required: "a" is listed twice`,
		`{"required":"a"}`:                                  `#/required: found text, expected a list of names`,
		`{"allOf":[]}`:                                      `#/allOf: found an empty list, expected at least one schema`,
		`{"anyOf":[{},{"not":3}]}`:                          `#/anyOf/1/not: found a number, expected a schema`,
		`{"patternProperties":{"(":{}}}`:                    "#/patternProperties: \"(\": \"(\" cannot be used as a regular expression: error parsing regexp: missing closing ): `(`",
		`{"$ref":"#/$defs/a","$defs":{}}`:                   `#: the reference "#/$defs/a" leads to nothing`,
		`{"$ref":"#/required","required":[]}`:               `#: the reference "#/required" leads to no schema: found a list, expected a schema`,
		`{"$ref":"#/x-y","x-y":{"type":7}}`:                 `#/x-y/type: found a number, expected the name of a type`,
		`{"not":{"$ref":"#a"}}`:                             `#/not: the reference "#a" leads to no anchor`,
		`{"$ref":"#/%zz"}`:                                  `#: the reference "#/%zz" is not an address`,
		`{"$ref":"b.json"}`:                                 `a schema may not refer to b.json; put what it needs into it`,
		`{"$id":"https://example.org/a","$ref":"b"}`:        `a schema may not refer to https://example.org/b; put what it needs into it`,
		`{"$schema":"https://example.org/mine"}`:            `a schema may not refer to https://example.org/mine; put what it needs into it`,
		`{"$anchor":"a b"}`:                                 `#/$anchor: "a b" is not the name of an anchor`,
		`{"$anchor":"a","not":{"$anchor":"a"}}`:             `#/not: another schema has the anchor "a", too`,
		`{"$id":"https://example.org/a#b"}`:                 `#/$id: "https://example.org/a#b" has a part behind #, expected an address without one`,
		`{"not":{"$id":"urn:a"},"if":{"$id":"urn:a"}}`:      `two of its schemas have the $id "urn:a"`,
		`{"$id":"http://[::1"}`:                             `#: the $id "http://[::1" is not an address`,
		`{"a":1,"a":2}`:                                     `jsontext: duplicate object member name "a"`,
		`{} {}`:                                             `there is more than one value`,
		`[]`:                                                `#: found a list, expected a schema`,
		``:                                                  `unexpected EOF`,
		`{"$ref":"#"}`:                                      `#: it refers to itself without an end`,
		`{"allOf":[{"anyOf":[true,{"$ref":"#/allOf/0"}]}]}`: `#/allOf/0: it refers to itself without an end`,
		`{"if":{"$dynamicRef":"#a"},"$dynamicAnchor":"a"}`:  `#: it refers to itself without an end`,
		`{"dependentSchemas":{"a":{"not":{"$ref":"#"}}}}`:   `#: it refers to itself without an end`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","not":true}`: `#/not: found true or false, expected a schema, which is an object`,
	} {
		if got := compileError(text); got != "it is not JSON Schema: "+want {
			t.Errorf("%s:\nfound    %s\nexpected %s", text, got, want)
		}
	}
	for _, text := range []string{
		`{"$defs":{"a":{"$ref":"https://example.org/"}}}`,               // nothing refers to it
		`{"properties":{"a":{"$ref":"#"}}}`,                             // a value ends it
		`{"definitions":{"a":{"type":"strin"}},"dependencies":{"a":7}}`, // older keywords, which 2020-12 does not check
		`{"title":3,"format":{},"default":[],"x-own":{"pattern":"("}}`,
	} {
		if got := compileError(text); got != "" {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestReasons: the keywords whose mistakes are rare speak plainly, too.
func TestReasons(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ schema, value, want string }{
		{`{"minProperties":2}`, `{"a":1}`, "found 1 member, expected at least 2"},
		{`{"maxProperties":1}`, `{"a":1,"b":2}`, "found 2 members, expected at most 1"},
		{`{"not":{"type":"string"}}`, `"a"`, "the schema excludes this value"},
		{`{"oneOf":[{"type":"string"},{"type":"integer"},{"minimum":1}]}`, `2`, "the choices 2 and 3 both fit, expected one of them alone"},
		{`{"oneOf":[{"type":"string"},{"type":"null"}]}`, `2`, "found a number, expected text"},
		{`{"anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"type":"null"}]}`, `{"a":2}`, "/a: found a number, expected text"},
		{`{"contains":{"type":"string"}}`, `[1,2]`, "/0: found a number, expected text"},
		{`{"contains":{"type":"string"}}`, `[]`, "found 0 entries that fit, expected at least 1"},
		{`{"contains":{"type":"string"},"maxContains":1}`, `["a","b"]`, "found 2 entries that fit, expected at most 1"},
		{`{"dependentRequired":{"a":["b","c"]}}`, `{"a":1}`, `expected "b" and "c" beside "a"`},
		{`{"properties":{"o":{"propertyNames":{"pattern":"^a"}}}}`, `{"o":{"b":1}}`, `/o: the name "b" does not fit: expected text that matches the pattern ^a`},
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"b":1}`, "/b: no value is taken here"},
		{`{"prefixItems":[{}],"items":false}`, `[1,2]`, "/1: no value is taken here"},
		{`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"type":"strin"}`, "expected a JSON Schema"},
		{`{"exclusiveMinimum":1e60}`, `1`, "expected more than 1e60"},
		{`{"minimum":-12.5e-1}`, `-2`, "expected at least -1.25"},
		{`{"maximum":1.5e-30}`, `1`, "expected at most 1.5e-30"},
		{`{"multipleOf":12e2}`, `1`, "expected a multiple of 1200"},
	} {
		s := compile(t, tt.schema)
		for range 5 {
			if why, is := schema.Why(s.ValidateJSON(jsontext.Value(tt.value))); !is || why != tt.want {
				t.Fatalf("%s of %s:\nfound    %s\nexpected %s", tt.value, tt.schema, why, tt.want)
			}
		}
	}
}

// TestFirstMember: of several members that do not fit, the first by name is reported, each time.
func TestFirstMember(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"additionalProperties":{"type":"string"},"patternProperties":{"^x":{"type":"null"}}}`)
	for range 50 {
		if why, _ := schema.Why(s.ValidateJSON(jsontext.Value(`{"d":1,"c":1,"xb":1,"b":"","e":1}`))); why != "/c: found a number, expected text" {
			t.Fatal(why)
		}
	}
}

// TestDepth: what no value ends is given up. A dynamic reference can hide it until there is a value.
func TestDepth(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"$id":"urn:a","$dynamicAnchor":"x","$ref":"urn:b","$defs":{"b":{"$id":"urn:b","$dynamicAnchor":"x","anyOf":[{"$dynamicRef":"#x"}]}}}`)
	if err := s.ValidateJSON(jsontext.Value(`1`)); !errors.Is(err, schema.ErrWork) {
		t.Error(err)
	}
	deep := strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000)
	if err := compile(t, `{"properties":{"a":{"$ref":"#"}}}`).ValidateJSON(jsontext.Value(deep)); err != nil {
		t.Error(err)
	}
}

// TestSeveralAtOnce: one schema judges for several goroutines.
func TestSeveralAtOnce(t *testing.T) {
	t.Parallel()
	s := compile(t, typicalSchema)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if err := s.ValidateJSON(jsontext.Value(typicalValue)); err != nil {
					t.Error(err)
				}
				if err := s.ValidateJSON(jsontext.Value(`{}`)); err == nil {
					t.Error("nothing is missing")
				}
			}
		})
	}
	all.Wait()
}

// TestProperty: a member's schema judges a value by itself.
func TestProperty(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`)
	a, listed := s.Property("a")
	if !listed || a.ValidateJSON(jsontext.Value(`1`)) != nil || a.ValidateJSON(jsontext.Value(`"1"`)) == nil {
		t.Errorf("a: %v", a)
	}
	if _, listed := s.Property("b"); listed {
		t.Error("b is listed")
	}
	if _, listed := compile(t, `true`).Property("a"); listed {
		t.Error("anything lists a")
	}
}

const typicalSchema = `{"type":"object","required":["to","subject"],"properties":{
	"to":{"type":"array","minItems":1,"maxItems":20,"uniqueItems":true,"items":{"type":"string","format":"email"}},
	"subject":{"type":"string","minLength":1,"maxLength":200},
	"priority":{"enum":["low","normal","high"]},
	"retries":{"type":"integer","minimum":0,"maximum":10},
	"amount":{"type":"number","multipleOf":0.01},
	"at":{"type":"string","format":"date-time"},
	"options":{"type":"object","additionalProperties":{"type":["string","number","boolean"]}},
	"source":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/file"},{"$ref":"#/$defs/text"}]}},
	"$defs":{"file":{"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string","pattern":"^/"}},"required":["kind","path"]},
		"text":{"type":"object","properties":{"kind":{"const":"text"},"body":{"type":"string"}},"required":["kind","body"]}}}`

const typicalValue = `{"to":["ada@example.org","grace@example.org"],"subject":"Minutes of the meeting","priority":"high","retries":3,"amount":19.99,
	"at":"2026-03-31T09:30:00Z","options":{"a":"b","c":1915883588174806058,"d":true},"source":{"kind":"text","body":"Dear all"}}`

// BenchmarkValidate judges the arguments of one call, ours and by the library that was the judge before: from the decoded value,
// and from its text.
func BenchmarkValidate(b *testing.B) {
	ours := compile(b, typicalSchema)
	theirs, err := second(typicalSchema)
	if err != nil {
		b.Fatal(err)
	}
	value, err := schema.Decode(jsontext.Value(typicalValue))
	if err != nil {
		b.Fatal(err)
	}
	theirText := func() error {
		decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(typicalValue))
		if err != nil {
			return err
		}
		return theirs.Validate(decoded)
	}
	for _, way := range []struct {
		name string
		run  func() error
	}{
		{"value/ours", func() error { return ours.Validate(value) }},
		{"value/library", func() error { return theirs.Validate(value) }},
		{"text/ours", func() error { return ours.ValidateJSON(jsontext.Value(typicalValue)) }},
		{"text/library", theirText},
		{"compile/ours", func() error { _, err := schema.Compile(jsontext.Value(typicalSchema)); return err }},
		{"compile/library", func() error { _, err := second(typicalSchema); return err }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := way.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
