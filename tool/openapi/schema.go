package openapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// converter turns schemas of a document into JSON Schema 2020-12, closed: what a schema
// does not name is not taken, unless it says that it takes more.
type converter struct {
	doc  *document
	defs map[string]any // of what was referred to, by name
}

const maxSchemaDepth = 64

var (
	// copied keywords mean the same in all versions and hold no schemas.
	copied = []string{
		"type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern",
		"maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties", "required", "dependentRequired",
		"title", "description", "format", "x-secret",
	}
	// holders hold one schema, lists several, maps some by name.
	holders = []string{"items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else"}
	lists   = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	byName  = []string{"properties", "patternProperties"}
	// composed keywords say that a value is judged by several schemas together.
	composed = []string{"allOf", "anyOf", "oneOf", "if", "then", "else"}
	// ignored keywords constrain nothing.
	ignored = []string{
		"nullable", "discriminator", "readOnly", "writeOnly", "xml", "externalDocs", "example", "examples", "deprecated", "default", "$comment",
		"contentEncoding", "contentMediaType", "$schema",
	}
)

// convert converts one schema. An open one is judged together with others, and must not
// refuse what those name.
func (c *converter) convert(value any, open bool, depth int) (any, error) {
	if depth > maxSchemaDepth {
		return nil, errors.New("a schema is nested too deep")
	}
	if truth, is := value.(bool); is {
		return truth, nil
	}
	in, is := value.(map[string]any)
	if !is {
		return nil, fmt.Errorf("a schema is %T; expected an object", value)
	}
	if ref, refers := in["$ref"].(string); refers {
		return c.reference(ref, open, depth)
	}
	out := map[string]any{}
	for name, v := range in {
		if err := c.keyword(out, in, name, v, open, depth); err != nil {
			return nil, err
		}
	}
	c.ofOlder(in, out)
	dropReadOnly(in, out)
	closeOrOpen(out, open)
	return nullable(in, out), nil
}

// keyword converts one keyword of a schema.
func (c *converter) keyword(out, in map[string]any, name string, v any, open bool, depth int) error {
	joined := open || slices.ContainsFunc(composed, func(k string) bool { _, has := in[k]; return has })
	var err error
	switch {
	case slices.Contains(copied, name):
		out[name] = v
	case slices.Contains(holders, name):
		out[name], err = c.convert(v, slices.Contains(composed, name) || name == "not", depth+1)
	case slices.Contains(lists, name):
		items, is := v.([]any)
		if !is {
			return fmt.Errorf("%s is not a list", name)
		}
		all := make([]any, len(items))
		for i, item := range items {
			if all[i], err = c.convert(item, joined && name != "prefixItems", depth+1); err != nil {
				return err
			}
		}
		out[name] = all
	case slices.Contains(byName, name):
		items, is := v.(map[string]any)
		if !is {
			return fmt.Errorf("%s is not an object", name)
		}
		all := make(map[string]any, len(items))
		for key, item := range items {
			if all[key], err = c.convert(item, false, depth+1); err != nil {
				return err
			}
		}
		out[name] = all
	case slices.Contains(ignored, name), strings.HasPrefix(name, "x-"):
	default:
		return fmt.Errorf("the keyword %s of a schema is not read here", name)
	}
	return err
}

// reference puts what is referred to among the definitions, once for each form.
func (c *converter) reference(ref string, open bool, depth int) (any, error) {
	name := strings.NewReplacer("#/components/schemas/", "", "#/", "", "/", ".", "~", "-", "%", "-").Replace(ref)
	if open {
		name += ".open"
	}
	if _, known := c.defs[name]; !known {
		target, err := c.doc.at(ref)
		if err != nil {
			return nil, err
		}
		c.defs[name] = true // it may refer to itself
		if c.defs[name], err = c.convert(target, open, depth+1); err != nil {
			return nil, err
		}
	}
	return map[string]any{"$ref": "#/$defs/" + name}, nil
}

// ofOlder puts the forms of OpenAPI 3.0 in those of JSON Schema.
func (c *converter) ofOlder(in, out map[string]any) {
	if !c.doc.older {
		return
	}
	for bound, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		switch in[exclusive] {
		case true:
			out[exclusive] = in[bound]
			delete(out, bound)
		case false:
			delete(out, exclusive)
		}
	}
}

// nullable lets null be where OpenAPI 3.0 says so.
func nullable(in, out map[string]any) any {
	if in["nullable"] != true || in["type"] == nil {
		return out
	}
	return map[string]any{"anyOf": []any{out, map[string]any{"type": "null"}}}
}

// dropReadOnly leaves out what only answers hold.
func dropReadOnly(in, out map[string]any) {
	properties, _ := in["properties"].(map[string]any)
	kept, _ := out["properties"].(map[string]any)
	for name, p := range properties {
		if p, _ := p.(map[string]any); p["readOnly"] != true {
			continue
		}
		delete(kept, name)
		if required, is := out["required"].([]any); is {
			out["required"] = slices.DeleteFunc(slices.Clone(required), func(v any) bool { return v == name })
		}
	}
}

// closeOrOpen says what an object takes beyond the properties that it names: nothing.
// Where several schemas judge an object together, that is said by the outermost.
func closeOrOpen(out map[string]any, open bool) {
	joined := slices.ContainsFunc(slices.Collect(maps.Keys(out)), func(k string) bool { return slices.Contains(composed, k) })
	_, says := out["additionalProperties"]
	_, names := out["properties"]
	switch {
	case says:
	case joined && !open:
		out["unevaluatedProperties"] = false
	case names && !open:
		out["additionalProperties"] = false
	case names && !joined:
		out["allOf"] = []any{true} // it is a part, and closed by the whole
	}
}
