package schema

import "strings"

// version is a version of JSON Schema, the dialect of a schema.
type version uint8

const (
	draft4 version = iota + 4
	_
	draft6
	draft7
	draft2019
	draft2020
)

// versionOf returns the version that a $schema names.
func versionOf(address string) (version, bool) {
	address = strings.TrimSuffix(address, "#")
	rest, secure := strings.CutPrefix(address, "https://")
	if !secure {
		rest, _ = strings.CutPrefix(address, "http://")
	}
	switch rest {
	case "json-schema.org/draft/2020-12/schema", "json-schema.org/schema":
		return draft2020, true
	case "json-schema.org/draft/2019-09/schema":
		return draft2019, true
	case "json-schema.org/draft-07/schema":
		return draft7, true
	case "json-schema.org/draft-06/schema":
		return draft6, true
	case "json-schema.org/draft-04/schema":
		return draft4, true
	default:
		return 0, false
	}
}

// identifiers returns the address and the anchor that a schema gives itself in its $id.
func (v version) identifiers(schema map[string]any) (address, anchor string) {
	name := "$id"
	if v == draft4 {
		name = "id"
	}
	if v.aloneRef(schema) {
		return "", ""
	}
	text, _ := schema[name].(string)
	address, anchor, _ = strings.Cut(text, "#")
	if v >= draft2019 || strings.HasPrefix(anchor, "/") {
		return address, ""
	}
	return address, anchor
}

// aloneRef reports whether a schema is nothing but its $ref, as it was up to draft-07.
func (v version) aloneRef(schema map[string]any) bool {
	_, refers := schema["$ref"]
	return refers && v < draft2019
}

// adapt returns a schema in the keywords of 2020-12. The schemas within it stay what they are: each is adapted when it is
// compiled.
func (v version) adapt(schema map[string]any) map[string]any {
	if v.aloneRef(schema) {
		return map[string]any{"$ref": schema["$ref"]}
	}
	if v == draft2020 {
		return schema
	}
	adapted := map[string]any{}
	for _, k := range keywords {
		if value, has := schema[k.name]; has && k.in(v) {
			adapted[k.name] = value
		}
	}
	if v == draft4 {
		exclude(adapted, "minimum", "exclusiveMinimum")
		exclude(adapted, "maximum", "exclusiveMaximum")
	}
	adaptItems(adapted)
	return adapted
}

// exclude replaces the flag of draft-04 that excludes a bound by the bound.
func exclude(schema map[string]any, bound, exclusive string) {
	excludes, _ := schema[exclusive].(bool)
	delete(schema, exclusive)
	if limit, has := schema[bound]; has && excludes {
		schema[exclusive] = limit
		delete(schema, bound)
	}
}

// adaptItems replaces a list of items, and what is said of those behind it.
func adaptItems(schema map[string]any) {
	list, is := schema["items"].([]any)
	if is {
		delete(schema, "items")
		schema["prefixItems"] = list
		if others, has := schema["additionalItems"]; has {
			schema["items"] = others
		}
	}
	delete(schema, "additionalItems")
}
