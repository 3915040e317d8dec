package schema

import (
	"maps"
	"slices"
)

func sortedNames(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// object evaluates the keywords for objects. Members are looked at in the order of their names.
func (e *evaluation) object(rules *objectRules, object map[string]any, s *seen) *mismatch {
	if len(object) < rules.least {
		return e.mismatch("minProperties", len(object), rules.least)
	}
	if rules.most >= 0 && len(object) > rules.most {
		return e.mismatch("maxProperties", len(object), rules.most)
	}
	if missing := missing(object, rules.required); missing != nil {
		return e.mismatch("required", nil, missing)
	}
	known := 0
	for i := range rules.properties {
		p := &rules.properties[i]
		v, has := object[p.name]
		if !has {
			continue
		}
		known++
		if s != nil {
			s.members = append(s.members, p.name)
		}
		if m := e.member(p.node, p.name, v); m != nil {
			return m
		}
	}
	if rules.patterns != nil || rules.others != nil && known < len(object) {
		if m := e.others(rules, object, s); m != nil {
			return m
		}
	}
	if s != nil && rules.others != nil {
		s.allMembers = true
	}
	if rules.names != nil {
		if m := e.names(rules.names, object); m != nil {
			return m
		}
	}
	return e.dependencies(rules, object, s)
}

// others evaluates patternProperties and additionalProperties.
func (e *evaluation) others(rules *objectRules, object map[string]any, s *seen) *mismatch {
	var refused []string
	e.spend(len(object))
	for _, member := range sortedNames(object) {
		_, known := rules.byName[member]
		for _, p := range rules.patterns {
			if !p.pattern.MatchString(member) {
				continue
			}
			known = true
			if s != nil {
				s.members = append(s.members, member)
			}
			if m := e.member(p.node, member, object[member]); m != nil {
				return m
			}
		}
		if known || rules.others == nil {
			continue
		}
		if rules.others.never {
			refused = append(refused, member)
		} else if m := e.member(rules.others, member, object[member]); m != nil {
			return m
		}
	}
	if refused != nil {
		return e.mismatch("additionalProperties", nil, refused)
	}
	return nil
}

func (e *evaluation) names(n *node, object map[string]any) *mismatch {
	for _, member := range sortedNames(object) {
		if m := e.value(n, member, nil); m != nil {
			if e.quiet > 0 {
				return quietly
			}
			return e.mismatch("propertyNames", member, m)
		}
	}
	return nil
}

func (e *evaluation) dependencies(rules *objectRules, object map[string]any, s *seen) *mismatch {
	for _, one := range rules.dependent {
		if _, has := object[one.name]; has {
			if m := e.value(one.node, object, s); m != nil {
				return m
			}
		}
	}
	for _, one := range rules.requires {
		if _, has := object[one.name]; !has {
			continue
		}
		if missing := missing(object, one.required); missing != nil {
			return e.mismatch("dependentRequired", one.name, missing)
		}
	}
	return nil
}

func missing(object map[string]any, required []string) []string {
	var list []string
	for _, member := range required {
		if _, has := object[member]; !has {
			list = append(list, member)
		}
	}
	return list
}

// array evaluates the keywords for lists.
func (e *evaluation) array(rules *arrayRules, list []any, s *seen) *mismatch {
	if len(list) < rules.least {
		return e.mismatch("minItems", len(list), rules.least)
	}
	if rules.most >= 0 && len(list) > rules.most {
		return e.mismatch("maxItems", len(list), rules.most)
	}
	if rules.unique {
		if first, second := e.same(list); second > 0 {
			return e.mismatch("uniqueItems", nil, [2]int{first, second})
		}
	}
	for i, v := range list {
		n := rules.items
		if i < len(rules.prefix) {
			n = rules.prefix[i]
		}
		if n == nil {
			break
		}
		if m := e.entry(n, i, v); m != nil {
			return m
		}
	}
	if s != nil {
		s.first, s.rest = max(s.first, len(rules.prefix)), s.rest || rules.items != nil
	}
	if rules.contains == nil {
		return nil
	}
	return e.contained(rules, list, s)
}

// same finds two entries that are equal.
func (e *evaluation) same(list []any) (first, second int) {
	positions := make(map[string]int, len(list))
	for i, v := range list {
		e.spend(values(v))
		e.text = canonical(e.text[:0], v)
		if earlier, has := positions[string(e.text)]; has {
			return earlier, i
		}
		positions[string(e.text)] = i
	}
	return 0, 0
}

// contained evaluates contains. If too few entries fit, the first that does not gives the reason.
func (e *evaluation) contained(rules *arrayRules, list []any, s *seen) *mismatch {
	var failed *mismatch
	found := 0
	for i, v := range list {
		m := e.contain(rules.contains, i, v, failed != nil)
		if m != nil && failed == nil {
			failed = m
		}
		if m != nil {
			continue
		}
		found++
		if s != nil && rules.containedCountAsEvaluated {
			s.entries = append(s.entries, i)
		}
	}
	switch {
	case found < rules.leastContains && failed != nil:
		return failed
	case found < rules.leastContains:
		return e.mismatch("minContains", found, rules.leastContains)
	case rules.mostContains >= 0 && found > rules.mostContains:
		return e.mismatch("maxContains", found, rules.mostContains)
	}
	return nil
}

func (e *evaluation) contain(n *node, i int, v any, quiet bool) *mismatch {
	if quiet {
		e.quiet++
		defer func() { e.quiet-- }()
	}
	return e.entry(n, i, v)
}
