package argument

import (
	"slices"
	"strconv"
	"strings"
)

// secretDepth bounds the search: a schema may refer to itself.
const secretDepth = 64

// secretSearch looks for values that a schema marks as secret.
type secretSearch struct {
	root   any
	budget int // how many more nodes it may visit
}

// newSecretSearch returns a search for arguments of the given size in bytes: the work stays proportional to the
// size, whatever the schema is.
func newSecretSearch(schema any, size int) *secretSearch {
	return &secretSearch{root: schema, budget: 1000 + 16*size}
}

// find returns the JSON pointer of a value that the schema marks `"x-secret": true`. It follows every part of a
// schema that can describe a member or an element, and visits all alternatives: a value that may be a secret
// counts as one. What exceeds the depth or the budget counts as found.
func (s *secretSearch) find(schema, value any, at string, depth int) (where string, found bool) {
	s.budget--
	node, _ := schema.(map[string]any)
	marked, _ := node["x-secret"].(bool)
	if marked || depth > secretDepth || s.budget < 0 {
		return at, true
	}
	if where, found := s.any(s.alternatives(node), value, at, depth+1); found {
		return where, true
	}
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if where, found := s.any(memberSchemas(node, name), v, at+"/"+name, depth+1); found {
				return where, true
			}
		}
	case []any:
		for i, v := range value {
			if where, found := s.any(elementSchemas(node, i), v, at+"/"+strconv.Itoa(i), depth+1); found {
				return where, true
			}
		}
	}
	return "", false
}

func (s *secretSearch) any(schemas []any, value any, at string, depth int) (where string, found bool) {
	for _, part := range schemas {
		if where, found := s.find(part, value, at, depth); found {
			return where, true
		}
	}
	return "", false
}

// sealed reports whether a member anywhere is named like a reference to a sealed value.
func sealed(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			if name == secretMember || sealed(v) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, sealed)
	}
	return false
}

// alternatives returns the schemas that may describe the same value.
func (s *secretSearch) alternatives(node map[string]any) []any {
	var all []any
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := node[key].([]any)
		all = append(all, parts...)
	}
	for _, key := range []string{"if", "then", "else", "not"} {
		all = append(all, node[key])
	}
	dependent, _ := node["dependentSchemas"].(map[string]any)
	for _, part := range dependent {
		all = append(all, part)
	}
	for _, key := range []string{"$ref", "$dynamicRef"} {
		if ref, is := node[key].(string); is {
			all = append(all, s.target(ref))
		}
	}
	return described(all)
}

// described drops what is not a schema.
func described(all []any) []any {
	return slices.DeleteFunc(all, func(part any) bool {
		_, is := part.(map[string]any)
		return !is
	})
}

// target returns what a reference within the schema points to.
func (s *secretSearch) target(ref string) any {
	pointer, is := strings.CutPrefix(ref, "#")
	if !is {
		return nil
	}
	at := s.root
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if token == "" {
			continue
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch node := at.(type) {
		case map[string]any:
			at = node[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return nil
			}
			at = node[i]
		default:
			return nil
		}
	}
	return at
}

// memberSchemas returns the schemas that may describe a member.
func memberSchemas(node map[string]any, name string) []any {
	properties, _ := node["properties"].(map[string]any)
	patterns, _ := node["patternProperties"].(map[string]any)
	all := make([]any, 0, 3+len(patterns))
	all = append(all, properties[name], node["additionalProperties"], node["unevaluatedProperties"])
	for _, part := range patterns {
		all = append(all, part)
	}
	return described(all)
}

func elementSchemas(node map[string]any, i int) []any {
	all := []any{node["items"], node["additionalItems"], node["contains"], node["unevaluatedItems"]}
	for _, key := range []string{"prefixItems", "items"} {
		if parts, is := node[key].([]any); is && i < len(parts) {
			all = append(all, parts[i])
		}
	}
	return described(all)
}
