package schema

import (
	"strconv"
	"unicode/utf8"
)

// mismatch is the first reason why a value does not fit: the keyword, where the value is, and what was found and expected.
type mismatch struct {
	keyword   string
	where     []string
	got, want any
}

func (m *mismatch) Error() string {
	why, _ := Why(m)
	return why
}

// quietly is the mismatch of which nobody reads the reason.
var quietly = &mismatch{}

// evaluation is one validation of one value.
type evaluation struct {
	left, depth int
	quiet       int // above 0 while nobody reads the reasons
	path        []name
	dynamic     bool
	scope       []*resource // the resources on the way, if references depend on it
	text        []byte      // for [canonical]
}

// name is one name on the way to a value: of a member, or the position of an entry.
type name struct {
	member string
	entry  int
}

func (e *evaluation) mismatch(keyword string, got, want any) *mismatch {
	if e.quiet > 0 {
		return quietly
	}
	where := make([]string, 0, len(e.path))
	for _, one := range e.path {
		if one.entry >= 0 {
			one.member = strconv.Itoa(one.entry)
		}
		where = append(where, one.member)
	}
	return &mismatch{keyword: keyword, where: where, got: got, want: want}
}

// member evaluates the schema of a member of the value.
func (e *evaluation) member(n *node, member string, v any) *mismatch {
	e.path = append(e.path, name{member: member, entry: -1})
	m := e.value(n, v, nil)
	e.path = e.path[:len(e.path)-1]
	return m
}

// entry evaluates the schema of an entry of the value.
func (e *evaluation) entry(n *node, i int, v any) *mismatch {
	e.path = append(e.path, name{entry: i})
	m := e.value(n, v, nil)
	e.path = e.path[:len(e.path)-1]
	return m
}

// value evaluates a subschema. It returns nil if the value fits; s, unless nil, gains what the subschema speaks of.
func (e *evaluation) value(n *node, v any, s *seen) *mismatch {
	if n.always {
		return nil
	}
	if n.never {
		e.spend(1)
		return e.mismatch("false", nil, nil)
	}
	found := typeOf(v)
	if m := e.plain(n, v, found); m != nil {
		e.spend(1)
		return m
	}
	e.spend(fullWork)
	if e.depth++; e.depth > maxDepth {
		panic(errWorked)
	}
	if e.dynamic {
		e.scope = append(e.scope, n.place.resource)
	}
	own := s
	if n.unevaluatedProperties != nil || n.unevaluatedItems != nil {
		own = &seen{}
	}
	m := e.rules(n, v, found, own)
	if m == nil && own != s && s != nil {
		s.add(own)
	}
	if e.dynamic {
		e.scope = e.scope[:len(e.scope)-1]
	}
	e.depth--
	return m
}

// plain evaluates the keywords that are about the value as a whole.
func (e *evaluation) plain(n *node, v any, found types) *mismatch {
	switch {
	case found == 0:
		return e.mismatch("value", nil, nil)
	case n.types != 0 && n.types&found == 0 && (found != typeNumber || n.types&typeInteger == 0 || !isWhole(numberText(v))):
		return e.mismatch("type", found, n.types)
	case n.constant != nil && !e.among(n.constant, v, found):
		return e.mismatch("const", nil, n.constant.values)
	case n.enum != nil && !e.among(n.enum, v, found):
		return e.mismatch("enum", nil, n.enum.values)
	case n.of != 0 && !isSchema(v, n.of):
		return e.mismatch("$ref", nil, nil)
	}
	if text, is := v.(string); is && n.formatted != nil && !n.formatted(text) {
		return e.mismatch("format", nil, n.format)
	}
	return nil
}

func (e *evaluation) among(all *constants, v any, found types) bool {
	if all.types&found == 0 {
		return false
	}
	if found&(typeArray|typeObject) != 0 {
		e.spend(values(v))
	}
	e.text = canonical(e.text[:0], v)
	return all.texts[string(e.text)]
}

// rules evaluates the other keywords, in the order in which a mismatch is reported.
func (e *evaluation) rules(n *node, v any, found types, s *seen) *mismatch {
	if n.ref != nil {
		if m := e.value(n.ref, v, s); m != nil {
			return m
		}
	}
	if m := e.ofType(n, v, found, s); m != nil {
		return m
	}
	if n.dynamic != nil {
		if m := e.value(e.target(n.dynamic), v, s); m != nil {
			return m
		}
	}
	if m := e.logic(n, v, s); m != nil {
		return m
	}
	if n.unevaluatedProperties == nil && n.unevaluatedItems == nil {
		return nil
	}
	return e.unevaluated(n, v, s)
}

func (e *evaluation) ofType(n *node, v any, found types, s *seen) *mismatch {
	switch v := v.(type) {
	case map[string]any:
		if n.object != nil {
			return e.object(n.object, v, s)
		}
	case []any:
		if n.array != nil {
			return e.array(n.array, v, s)
		}
	case string:
		if n.text != nil {
			return e.string(n.text, v)
		}
	default:
		if found == typeNumber && n.bounds != nil {
			return e.number(n.bounds, numberText(v))
		}
	}
	return nil
}

func (e *evaluation) string(rules *textRules, text string) *mismatch {
	if rules.least >= 0 || rules.most >= 0 {
		length := utf8.RuneCountInString(text)
		if length < rules.least {
			return e.mismatch("minLength", length, rules.least)
		}
		if rules.most >= 0 && length > rules.most {
			return e.mismatch("maxLength", length, rules.most)
		}
	}
	if rules.pattern != nil && !rules.pattern.MatchString(text) {
		return e.mismatch("pattern", nil, rules.pattern.String())
	}
	return nil
}

func (e *evaluation) number(bounds []bound, text string) *mismatch {
	value := parseDecimal(text)
	for i := range bounds {
		if b := &bounds[i]; !b.holds(value) {
			return e.mismatch(b.keyword, nil, b.limit)
		}
	}
	return nil
}

// target finds where a dynamic reference leads: the outermost resource on the way that has the name decides.
func (e *evaluation) target(d *dynamicRef) *node {
	if d.byName != nil {
		for _, r := range e.scope {
			if n := d.byName[r]; n != nil {
				return n
			}
		}
	}
	return d.target
}
