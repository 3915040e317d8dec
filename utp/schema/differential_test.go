package schema_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/utp/schema"
)

// versions are the values of $schema; "" is none.
var versions = []string{
	"", "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-04/schema#",
}

// second compiles a schema with the second judge, by the rules that Compile has.
func second(text string) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	schema.CloseObjects(document)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	// With a vocabulary of its own, the library checks of a schema of 2020-12 what the gate always did, and not the annotations
	// and the definitions. Of 2019-09 it would then check hardly anything.
	if !strings.Contains(text, versions[2]) {
		compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: "urn:test", Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return nil, nil //nolint:nilnil // that is how the library takes none
		}})
		compiler.AssertVocabs()
	}
	if err := compiler.AddResource("urn:earshot:second", document); err != nil {
		return nil, err
	}
	return compiler.Compile("urn:earshot:second")
}

// generator draws schemas and values that have a chance to meet.
type generator struct {
	n       func(label string, most int) int // a number from 0 to the most
	version int                              // of versions
}

func (g generator) of(label string, texts ...string) string { return texts[g.n(label, len(texts)-1)] }

func (g generator) name() string { return g.of("name", "a", "b", "c", "ab", "~/") }

func (g generator) number() string {
	return g.of("number", "0", "-0.0", "1", "1.0", "2", "3", "0.5", "5e-1", "-1", "-1.50", "10e-1", "1E+2", "100", "99.99", "0.01",
		"1915883588174806058", "1915883588174806059", "19158835881748060580e-1", "1e30", "1e-7")
}

func (g generator) text() string {
	return g.of("text", `""`, `"a"`, `"ab"`, `"abc"`, `"b\u00e9"`, `"2026-03-31"`, `"2026-02-30"`, `"::1"`, `"10.0.0.1"`, `"x@example.org"`, `"#"`, `"\ud83d\ude00"`)
}

func (g generator) value(depth int) string {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch g.n("kind", kinds) {
	case 0:
		return g.of("word", "null", "true", "false")
	case 1, 2:
		return g.number()
	case 3, 4:
		return g.text()
	case 5:
		return "[" + strings.Join(g.several(4, func() string { return g.value(depth - 1) }), ",") + "]"
	default:
		return g.members(4, func() string { return g.value(depth - 1) })
	}
}

func (g generator) several(most int, one func() string) []string {
	var all []string
	for range g.n("several", most) {
		all = append(all, one())
	}
	return all
}

func (g generator) members(most int, one func() string) string {
	var names, all []string
	for range g.n("members", most) {
		if name := g.name(); !slices.Contains(names, name) {
			names = append(names, name)
			all = append(all, fmt.Sprintf("%q:%s", name, one()))
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

func (g generator) names() string {
	names := slices.Compact(slices.Sorted(slices.Values(append(g.several(2, g.name), g.name()))))
	return `["` + strings.Join(names, `","`) + `"]`
}

func (g generator) list(depth int) string {
	return "[" + strings.Join(append(g.several(2, func() string { return g.schema(depth) }), g.schema(depth)), ",") + "]"
}

func (g generator) patterns(depth int) string {
	return fmt.Sprintf(`{%q:%s}`, g.of("pattern", "^a", "b$", "", "[^c]"), g.schema(depth))
}

func (g generator) schema(depth int) string {
	if g.version < 5 && g.n("boolean", 9) == 0 {
		return g.of("boolean", "true", "false")
	}
	var used, all []string
	for range 1 + g.n("keywords", 3) {
		keyword, value := g.keyword(depth)
		if keyword == "$ref" && g.version >= 3 {
			return fmt.Sprintf(`{"$ref":%s}`, value) // all else is ignored beside it; the library ignores draft-04's keywords alone
		}
		if !slices.Contains(used, keyword) {
			used = append(used, keyword)
			all = append(all, fmt.Sprintf("%q:%s", keyword, value))
		}
	}
	return "{" + strings.Join(all, ",") + "}"
}

// row is a keyword and how its value is drawn.
type row struct {
	name string
	draw func() string
}

// keyword draws one keyword and its value. One in a hundred has any value at all.
func (g generator) keyword(depth int) (string, string) {
	count := func() string { return g.of("count", "0", "1", "2", "3.0") }
	rows := []row{
		{"type", func() string {
			return g.of("type", `"null"`, `"integer"`, `"number"`, `"string"`, `"array"`, `"object"`, `["integer","null"]`, `["boolean","string"]`)
		}},
		{"enum", func() string { return "[" + g.value(1) + "]" }},
		{"const", func() string { return g.value(1) }},
		{"minLength", count},
		{"maxLength", count},
		{"minItems", count},
		{"maxItems", count},
		{"minProperties", count},
		{"maxProperties", count},
		{"minContains", count},
		{"maxContains", count},
		{"minimum", g.number},
		{"maximum", g.number},
		{"multipleOf", func() string { return g.of("unit", "1", "2", "0.5", "0.01", "3", "7e1", "1e-8", "1915883588174806058") }},
		{"uniqueItems", func() string { return g.of("unique", "true", "false") }},
		{"required", g.names},
		{"pattern", func() string { return g.of("pattern", `"^a"`, `"b"`, `"^.$"`) }},
		{"format", func() string {
			return g.of("format", `"date"`, `"ipv4"`, `"ipv6"`, `"email"`, `"relative-json-pointer"`, `"json-pointer"`, `"unknown"`)
		}},
		{"$ref", func() string {
			return g.of("ref", `"#/$defs/a"`, `"#/$defs/b"`, `"#/definitions/a"`, `"#/$defs/~0~1"`, `"#here"`)
		}},
		{"dependentRequired", func() string { return g.members(2, g.names) }},
	}
	if g.version < 5 {
		rows = append(rows, row{"exclusiveMinimum", g.number}, row{"exclusiveMaximum", g.number})
	}
	if depth > 0 {
		rows = append(rows, g.applicators(depth-1)...)
	}
	one := rows[g.n("keyword", len(rows)-1)]
	// Older versions want at least one value in an enum, and different ones. Here that makes no mistake.
	if one.name != "const" && one.name != "format" && one.name != "enum" && g.n("wrong", 99) == 0 {
		if strings.HasPrefix(one.name, "$") {
			return one.name, g.number() // a text would be an address, which the library resolves against one of its own
		}
		return one.name, g.value(1)
	}
	return one.name, one.draw()
}

func (g generator) applicators(depth int) []row {
	one, list := func() string { return g.schema(depth) }, func() string { return g.list(depth) }
	members := func() string { return g.members(3, one) }
	return []row{
		{"not", one},
		{"allOf", list},
		{"anyOf", list},
		{"oneOf", list},
		{"if", one},
		{"then", one},
		{"else", one},
		{"items", func() string {
			if g.version >= 2 && g.n("tuple", 1) == 0 {
				return g.list(depth)
			}
			return one()
		}},
		{"prefixItems", list},
		{"additionalItems", one},
		{"contains", one},
		{"properties", members},
		{"properties", members},
		{"patternProperties", func() string { return g.patterns(depth) }},
		{"additionalProperties", one},
		{"propertyNames", one},
		{"dependentSchemas", members},
		{"dependencies", func() string { return g.members(2, func() string { return g.of("dependency", g.names(), one()) }) }},
		{"unevaluatedProperties", one},
		{"unevaluatedItems", one},
		{"$dynamicRef", func() string { return g.of("dynamic", `"#here"`, `"#/$defs/b"`) }},
		{"$recursiveRef", func() string { return `"#"` }},
	}
}

// document draws a whole schema, with places to refer to.
func (g generator) document() string {
	text := strings.TrimSuffix(g.schema(3), "}")
	if !strings.HasPrefix(text, "{") {
		return text
	}
	if versions[g.version] != "" {
		text += fmt.Sprintf(`,"$schema":%q`, versions[g.version])
	}
	anchor := []string{"$anchor", "$anchor", "$anchor", "$id", "$id", "id"}[g.version]
	if g.version < 2 {
		anchor = g.of("anchor", "$anchor", "$dynamicAnchor")
	}
	here := "here"
	if strings.HasSuffix(anchor, "id") {
		here = "#here"
	}
	return text + fmt.Sprintf(`,"$defs":{"a":%s,"b":%s,"~/":%s},"definitions":{"a":%s,"here":{%q:%q,"allOf":[%s]}}}`,
		g.schema(2), g.schema(1), g.schema(1), g.schema(1), anchor, here, g.schema(1))
}

// TestDifferential: random schemas and values get the same verdict from the library that was the judge before. Where both
// refuse a value, the place that ours gives is one of the library's.
func TestDifferential(t *testing.T) {
	t.Parallel()
	rapid.Check(t, shrinking)
	n := 3000
	if testing.Short() {
		n = 300
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		agree(t, generator{n: func(_ string, most int) int { return r.IntN(most + 1) }, version: r.IntN(len(versions))}, 30)
	}
}

func FuzzDifferential(f *testing.F) { f.Fuzz(rapid.MakeFuzz(shrinking)) }

func shrinking(t *rapid.T) {
	draw := func(label string, most int) int { return rapid.IntRange(0, most).Draw(t, label) }
	agree(t, generator{n: draw, version: draw("version", len(versions)-1)}, 4)
}

func agree(t failer, g generator, values int) {
	t.Helper()
	text := g.document()
	ours, err := schema.Compile(jsontext.Value(text))
	theirs, theirErr := second(text)
	if err != nil && strings.Contains(err.Error(), "refers to itself without an end") {
		return // the library finds that at the first value
	}
	if (err == nil) != (theirErr == nil) {
		t.Fatalf("%s\nours: %v\ntheirs: %v", text, err, theirErr)
	}
	if err != nil {
		return
	}
	for range values {
		judge(t, ours, theirs, text, g.value(3))
	}
}

func judge(t failer, ours *schema.Schema, theirs *jsonschema.Schema, text, value string) {
	t.Helper()
	decoded, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		t.Fatalf("%s: %v", value, err)
	}
	theirErr := theirs.Validate(decoded)
	ourErr := ours.ValidateJSON(jsontext.Value(value))
	if (ourErr == nil) != (theirErr == nil) {
		t.Fatalf("%s of %s\nours: %v\ntheirs: %v", value, text, ourErr, theirErr)
	}
	where, _, is := schema.Explain(ourErr)
	if report, both := errors.AsType[*jsonschema.ValidationError](theirErr); is && both && !strings.Contains(text, "propertyNames") && !named(report, where) {
		t.Fatalf("%s of %s\nours: %v\ntheirs: %v", value, text, ourErr, theirErr)
	}
}

// TestCorners: schemas made for the rules that a random one hardly ever touches, with many values.
func TestCorners(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	g := generator{n: func(_ string, most int) int { return r.IntN(most + 1) }}
	for _, text := range corners {
		ours := compile(t, text)
		theirs, err := second(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		fits := 0
		for range 400 {
			one := func() string { return g.of("one", g.number(), g.number(), g.text(), g.text(), g.value(1)) }
			value := g.of("form", g.members(4, one), "["+strings.Join(g.several(4, one), ",")+"]")
			judge(t, ours, theirs, text, value)
			if ours.ValidateJSON(jsontext.Value(value)) == nil {
				fits++
			}
		}
		if fits < 5 || fits > 395 {
			t.Errorf("%s: %d of 400 values fit", text, fits)
		}
	}
}

var corners = []string{
	`{"type":"object","patternProperties":{"^a":{}},"allOf":[{"properties":{"b":{"type":"integer"}},"additionalProperties":true}],"unevaluatedProperties":false}`,
	`{"type":"object","anyOf":[{"patternProperties":{"^a":{"type":"integer"}}},{"required":["b"],"properties":{"b":{}},"unevaluatedProperties":{"type":"string"}}],"unevaluatedProperties":false}`,
	`{"type":"object","oneOf":[{"required":["a"],"patternProperties":{"a":{}}},{"required":["b"],"patternProperties":{"b$":{}}}],"unevaluatedProperties":{"type":"null"}}`,
	`{"type":"object","if":{"required":["a"],"patternProperties":{"^a$":{}}},"then":{"patternProperties":{"^b$":{}}},"else":{"patternProperties":{"^c$":{}}},"unevaluatedProperties":false}`,
	`{"type":"object","not":{"not":{"patternProperties":{"":{}}}},"patternProperties":{"^[ab]":{}},"unevaluatedProperties":false}`,
	`{"type":"object","patternProperties":{"^a":{}},"allOf":[{"patternProperties":{"^b":{}},"unevaluatedProperties":{"type":["string","array","number"]}}],"unevaluatedProperties":false}`,
	`{"type":"object","allOf":[{"patternProperties":{"^a":{}}},{"unevaluatedProperties":{"type":"integer"}}]}`,
	`{"type":"object","allOf":[{"patternProperties":{"^a":{}}},{"patternProperties":{"^b":{}},"unevaluatedProperties":false}],"unevaluatedProperties":false}`,
	`{"type":"object","dependentSchemas":{"a":{"patternProperties":{"^[abc]$":{}}}},"unevaluatedProperties":false}`,
	`{"type":"object","$ref":"#/$defs/b","patternProperties":{"^a":{}},"unevaluatedProperties":false,"$defs":{"b":{"patternProperties":{"^b":{"type":["number","string"]}}}}}`,
	`{"type":"object","anyOf":[{"maxProperties":9},{"patternProperties":{"a":{}}}],"unevaluatedProperties":{"type":["number","null"]}}`,
	`{"type":"object","anyOf":[{"patternProperties":{"^a":{}},"dependentRequired":{"a":["b"]}},{"maxProperties":9}],"unevaluatedProperties":{"type":"number"}}`,
	`{"type":"object","properties":{"a":{"type":"integer"}},"patternProperties":{"^a":{"minimum":1}},"additionalProperties":{"type":"string"}}`,
	`{"type":"object","additionalProperties":{"type":["string","number"]},"propertyNames":{"maxLength":1},"minProperties":1}`,
	`{"type":"object","dependencies":{"a":["b"],"c":{"required":["ab"]}}}`,
	`{"type":"array","prefixItems":[{"type":"number"}],"contains":{"type":"string"},"unevaluatedItems":false}`,
	`{"type":"array","contains":{"type":"number"},"minContains":2,"maxContains":3,"unevaluatedItems":{"type":"string"}}`,
	`{"type":"array","contains":{"type":"string"},"minContains":0,"unevaluatedItems":{"type":"number"}}`,
	`{"type":"array","prefixItems":[true,{"type":"string"}],"anyOf":[{"prefixItems":[true,true,{"type":"number"}]},true],"unevaluatedItems":false}`,
	`{"type":"array","allOf":[{"prefixItems":[{"type":"number"}],"unevaluatedItems":{"type":["string","number"]}}],"unevaluatedItems":false}`,
	`{"type":"array","oneOf":[{"prefixItems":[{"type":"string"}]},{"prefixItems":[{"type":"number"},true]}],"unevaluatedItems":false}`,
	`{"type":"array","anyOf":[{"items":{"type":"number"}},{"prefixItems":[true]}],"unevaluatedItems":{"type":"null"}}`,
	`{"type":"array","uniqueItems":true,"items":{"type":["number","string","boolean"]}}`,
	`{"type":"array","if":{"contains":{"type":"string"}},"then":{"maxItems":2},"else":{"minItems":1}}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"array","contains":{"type":"number"},"unevaluatedItems":{"type":["string","number"],"maximum":2}}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"array","items":[{"type":"number"}],"additionalItems":{"type":"string"},"unevaluatedItems":false}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"array","items":[{"type":"number"}],"anyOf":[{"items":[true,{"type":"number"}]},true],"unevaluatedItems":false}`,
	`{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","$recursiveAnchor":true,"anyOf":[{"maxProperties":2},{"$ref":"urn:x"}],"additionalProperties":{"$ref":"urn:x"},
		"$defs":{"x":{"$id":"urn:x","$recursiveAnchor":true,"type":["object","number","string"],"additionalProperties":{"$recursiveRef":"#"}}}}`,
	`{"$id":"urn:top","$dynamicAnchor":"leaf","type":["object","number","null"],"allOf":[{"$ref":"urn:tree"}],
		"$defs":{"tree":{"$id":"urn:tree","$dynamicAnchor":"leaf","type":["object","string","number","null"],"additionalProperties":{"$dynamicRef":"#leaf"}}}}`,
	`{"$id":"urn:top","$ref":"urn:list","$defs":{"text":{"$dynamicAnchor":"entry","type":"string"},
		"list":{"$id":"urn:list","items":{"$dynamicRef":"#entry"},"$defs":{"any":{"$dynamicAnchor":"entry"}}}},"type":"array"}`,
	`{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"number"},true],"additionalItems":false,"contains":{"type":"number"}}`,
	`{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":{"type":["number","string"]},"additionalItems":false}`,
	`{"$schema":"http://json-schema.org/draft-06/schema#","type":"array","items":{"$ref":"#/definitions/n","type":"null"},"definitions":{"n":{"exclusiveMinimum":0}}}`,
	`{"$schema":"http://json-schema.org/draft-04/schema#","type":"array","items":{"minimum":0,"exclusiveMinimum":true,"maximum":100,"exclusiveMaximum":false},"not":{"maxItems":0}}`,
}

// named reports whether a mistake in a report is at a place, or below: the library reports the additional members of a list at the list.
func named(report *jsonschema.ValidationError, where []string) bool {
	if len(report.Causes) == 0 {
		return len(where) >= len(report.InstanceLocation) && slices.Equal(where[:len(report.InstanceLocation)], report.InstanceLocation)
	}
	return slices.ContainsFunc(report.Causes, func(cause *jsonschema.ValidationError) bool { return named(cause, where) })
}
