package schema

// seen are the members and entries of one value that subschemas have spoken of. unevaluatedProperties and unevaluatedItems
// are about the others. It only grows, so that a copy of it takes what a failed subschema has added back.
type seen struct {
	members          []string
	entries          []int
	first            int // so many entries from the first on
	allMembers, rest bool
}

func (s *seen) add(other *seen) {
	s.members, s.entries = append(s.members, other.members...), append(s.entries, other.entries...)
	s.first, s.allMembers, s.rest = max(s.first, other.first), s.allMembers || other.allMembers, s.rest || other.rest
}

// tried evaluates a subschema on the same value, and takes back what it has seen if it fails.
func (e *evaluation) tried(n *node, v any, s *seen, quiet bool) *mismatch {
	var before seen
	if s != nil {
		before = *s
	}
	if quiet {
		e.quiet++
	}
	m := e.value(n, v, s)
	if quiet {
		e.quiet--
	}
	if m != nil && s != nil {
		*s = before
	}
	return m
}

func (e *evaluation) logic(n *node, v any, s *seen) *mismatch {
	if n.not != nil && e.tried(n.not, v, nil, true) == nil {
		return e.mismatch("not", nil, nil)
	}
	for _, part := range n.allOf {
		if m := e.value(part, v, s); m != nil {
			return m
		}
	}
	if m := e.any(n.anyOf, v, s); m != nil {
		return m
	}
	if m := e.one(n.oneOf, v, s); m != nil {
		return m
	}
	if n.condition == nil {
		return nil
	}
	branch := n.condition.then
	if e.tried(n.condition.is, v, s, true) != nil {
		branch = n.condition.otherwise
	}
	if branch == nil {
		return nil
	}
	return e.value(branch, v, s)
}

// any evaluates anyOf. Of several that fail, the first gives the reason.
func (e *evaluation) any(parts []*node, v any, s *seen) *mismatch {
	var failed *mismatch
	fits := len(parts) == 0
	for i, part := range parts {
		m := e.tried(part, v, s, i > 0)
		if m == nil {
			if fits = true; s == nil {
				break
			}
		} else if i == 0 {
			failed = m
		}
	}
	if fits {
		return nil
	}
	return failed
}

// one evaluates oneOf. Of several that fail, the first gives the reason.
func (e *evaluation) one(parts []*node, v any, s *seen) *mismatch {
	var failed *mismatch
	fitting := -1
	for i, part := range parts {
		m := e.tried(part, v, s, i > 0)
		switch {
		case m == nil && fitting >= 0:
			return e.mismatch("oneOf", nil, [2]int{fitting, i})
		case m == nil:
			fitting = i
		case i == 0:
			failed = m
		}
	}
	if fitting >= 0 {
		return nil
	}
	return failed
}

// unevaluated evaluates the members and entries that nothing has spoken of.
func (e *evaluation) unevaluated(n *node, v any, s *seen) *mismatch {
	switch v := v.(type) {
	case map[string]any:
		if n.unevaluatedProperties != nil && !s.allMembers {
			return e.otherMembers(n.unevaluatedProperties, v, s)
		}
	case []any:
		if n.unevaluatedItems != nil && !s.rest {
			return e.otherEntries(n.unevaluatedItems, v, s)
		}
	}
	return nil
}

func (e *evaluation) otherMembers(n *node, object map[string]any, s *seen) *mismatch {
	known := make(map[string]bool, len(s.members))
	for _, member := range s.members {
		known[member] = true
	}
	for _, member := range sortedNames(object) {
		if known[member] {
			continue
		}
		if m := e.member(n, member, object[member]); m != nil {
			return m
		}
	}
	s.allMembers = true
	return nil
}

func (e *evaluation) otherEntries(n *node, list []any, s *seen) *mismatch {
	known := make(map[int]bool, len(s.entries))
	for _, i := range s.entries {
		known[i] = true
	}
	for i := s.first; i < len(list); i++ {
		if known[i] {
			continue
		}
		if m := e.entry(n, i, list[i]); m != nil {
			return m
		}
	}
	s.rest = true
	return nil
}
