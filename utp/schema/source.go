package schema

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// source reads the keywords of one schema, in the words of 2020-12. It keeps the first error.
type source struct {
	*compiler

	words map[string]any
	err   error
}

func (s *source) child(keyword string) *node {
	inner, has := s.words[keyword]
	if !has {
		return nil
	}
	return s.compiled(inner)
}

func (s *source) compiled(schema any) *node {
	if s.err != nil {
		return nil
	}
	var n *node
	n, s.err = s.node(schema)
	return n
}

func (s *source) list(keyword string) []*node {
	list, _ := s.words[keyword].([]any)
	nodes := make([]*node, 0, len(list))
	for _, inner := range list {
		nodes = append(nodes, s.compiled(inner))
	}
	return nodes
}

// members compiles the members of a keyword, sorted by name.
func (s *source) members(keyword string) []property {
	schemas, _ := s.words[keyword].(map[string]any)
	list := make([]property, 0, len(schemas))
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		list = append(list, property{name: name, node: s.compiled(schemas[name])})
	}
	return list
}

// count returns the value of a keyword, and the other if there is none.
func (s *source) count(keyword string, otherwise int) int {
	number, is := s.words[keyword].(json.Number)
	if !is {
		return otherwise
	}
	const digits = 18
	if d := parseDecimal(string(number)); d.point <= digits {
		n, err := json.Number(d.String()).Int64()
		if err == nil {
			return int(n)
		}
	}
	return math.MaxInt
}

func texts(list any) []string {
	entries, _ := list.([]any)
	var all []string
	for _, entry := range entries {
		if text, is := entry.(string); is {
			all = append(all, text)
		}
	}
	return all
}

// values compiles the keywords that look at a value of any type.
func (s *source) values(n *node) {
	names := texts(s.words["type"])
	if name, one := s.words["type"].(string); one {
		names = []string{name}
	}
	for _, name := range names {
		if named, known := typeNamed(name); known {
			n.types |= named
		}
	}
	if value, has := s.words["const"]; has {
		n.constant = newConstants([]any{value})
	}
	if list, has := s.words["enum"].([]any); has {
		n.enum = newConstants(list)
	}
	if name, is := s.words["format"].(string); is {
		n.format, n.formatted = name, formatNamed(name)
	}
	for _, one := range []bound{
		{keyword: "minimum", outcomes: []int{0, 1}},
		{keyword: "maximum", outcomes: []int{-1, 0}},
		{keyword: "exclusiveMinimum", outcomes: []int{1}},
		{keyword: "exclusiveMaximum", outcomes: []int{-1}},
		{keyword: "multipleOf"},
	} {
		if number, is := s.words[one.keyword].(json.Number); is {
			one.limit = parseDecimal(string(number))
			if one.outcomes != nil || one.limit.digits != "" {
				n.bounds = append(n.bounds, one)
			}
		}
	}
}

func newConstants(list []any) *constants {
	all := &constants{values: list, texts: map[string]bool{}}
	for _, value := range list {
		all.types |= typeOf(value)
		all.texts[string(canonical(nil, value))] = true
	}
	return all
}

// logic compiles the keywords that combine subschemas.
func (s *source) logic(n *node) {
	n.not = s.child("not")
	n.allOf, n.anyOf, n.oneOf = s.list("allOf"), s.list("anyOf"), s.list("oneOf")
	if is := s.child("if"); is != nil {
		n.condition = &condition{is: is, then: s.child("then"), otherwise: s.child("else")}
	}
	n.unevaluatedProperties, n.unevaluatedItems = s.child("unevaluatedProperties"), s.child("unevaluatedItems")
}

// has reports whether the schema has one of the keywords.
func (s *source) has(keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(keyword string) bool { _, has := s.words[keyword]; return has })
}

func (s *source) object() *objectRules {
	if !s.has("minProperties", "maxProperties", "required", "properties", "patternProperties", "additionalProperties", "propertyNames",
		"dependentSchemas", "dependentRequired", "dependencies") {
		return nil
	}
	o := &objectRules{
		least: s.count("minProperties", -1), most: s.count("maxProperties", -1),
		required: texts(s.words["required"]), properties: s.members("properties"), byName: map[string]*node{},
		others: s.child("additionalProperties"), names: s.child("propertyNames"), dependent: s.members("dependentSchemas"),
	}
	for _, one := range o.properties {
		o.byName[one.name] = one.node
	}
	s.dependencies(o)
	for _, one := range s.members("patternProperties") {
		pattern, err := compilePattern(one.name)
		if err != nil && s.err == nil {
			s.err = err
		}
		o.patterns = append(o.patterns, patternProperty{pattern: pattern, node: one.node})
	}
	return o
}

// dependencies compiles what one member asks of the others. The older keyword has lists and schemas side by side; schemas of
// 2020-12 still use it.
func (s *source) dependencies(o *objectRules) {
	for _, keyword := range []string{"dependencies", "dependentRequired"} {
		members, _ := s.words[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, list := members[name].([]any); list {
				o.requires = append(o.requires, dependency{name: name, required: texts(members[name])})
			} else {
				o.dependent = append(o.dependent, property{name: name, node: s.compiled(members[name])})
			}
		}
	}
}

func (s *source) array(v version) *arrayRules {
	if !s.has("minItems", "maxItems", "uniqueItems", "prefixItems", "items", "contains") {
		return nil
	}
	unique, _ := s.words["uniqueItems"].(bool)
	return &arrayRules{
		least: s.count("minItems", -1), most: s.count("maxItems", -1), unique: unique,
		prefix: s.list("prefixItems"), items: s.child("items"), contains: s.child("contains"),
		leastContains: s.count("minContains", 1), mostContains: s.count("maxContains", -1), containedCountAsEvaluated: v >= draft2020,
	}
}

func (s *source) text() *textRules {
	if !s.has("minLength", "maxLength", "pattern") {
		return nil
	}
	rules := &textRules{least: s.count("minLength", -1), most: s.count("maxLength", -1)}
	if text, is := s.words["pattern"].(string); is {
		var err error
		if rules.pattern, err = compilePattern(text); err != nil && s.err == nil {
			s.err = err
		}
	}
	return rules
}
