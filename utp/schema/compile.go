package schema

// compiler turns the document into nodes, those alone that the root needs.
type compiler struct {
	resources []*resource
	places    map[uintptr]place // by [identity]
	nodes     map[uintptr]*node // the same
	ordered   []*node
	dynamic   bool
	lenient   bool // see [keyword.unchecked]
}

// compile checks a document, and compiles its root.
func (c *compiler) compile(document any) (*node, error) {
	c.places, c.nodes = map[uintptr]place{}, map[uintptr]*node{}
	root := newResource("", draft2020, document)
	c.resources = []*resource{root}
	if err := c.index(document, nil, root); err != nil {
		return nil, err
	}
	compiled, err := c.node(document)
	if err != nil {
		return nil, err
	}
	return compiled, endless(c.ordered)
}

// isSchema reports whether a value is a schema of a version.
func isSchema(value any, v version) bool {
	c := &compiler{places: map[uintptr]place{}}
	root := newResource("", v, value)
	c.resources = []*resource{root}
	return c.index(value, nil, root) == nil
}

func (c *compiler) node(schema any) (*node, error) {
	object, is := schema.(map[string]any)
	if !is {
		fits, is := schema.(bool)
		return &node{never: is && !fits, always: fits || !is}, nil
	}
	if known := c.nodes[identity(object)]; known != nil {
		return known, nil
	}
	n := &node{place: c.places[identity(object)], always: len(object) == 0}
	c.nodes[identity(object)] = n
	c.ordered = append(c.ordered, n)
	s := &source{compiler: c, words: n.place.resource.version.adapt(object)}
	s.values(n)
	n.object, n.array, n.text = s.object(), s.array(n.place.resource.version), s.text()
	s.logic(n)
	if s.err == nil {
		s.err = c.references(s.words, n)
	}
	return n, s.err
}

func (c *compiler) references(words map[string]any, n *node) error {
	if reference, is := words["$ref"].(string); is {
		found, err := c.resolve(reference, n.place)
		if err != nil {
			return err
		}
		if n.ref, err = c.referred(found); err != nil {
			return err
		}
	}
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		reference, is := words[keyword].(string)
		if !is {
			continue
		}
		found, err := c.resolve(reference, n.place)
		if err != nil {
			return err
		}
		if n.dynamic, err = c.dynamicRef(found, keyword == "$recursiveRef"); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) referred(found target) (*node, error) {
	if found.of != 0 {
		return &node{of: found.of}, nil
	}
	return c.node(found.schema)
}

// dynamicRef compiles a reference that depends on the way, if its target has the name that it asks for.
func (c *compiler) dynamicRef(found target, recursive bool) (*dynamicRef, error) {
	compiled, err := c.referred(found)
	if err != nil {
		return nil, err
	}
	d := &dynamicRef{target: compiled}
	schema, is := found.schema.(map[string]any)
	if !is || found.anchor == "" && !recursive {
		return d, nil
	}
	named := c.places[identity(schema)].resource.dynamic[found.anchor]
	if named == nil || identity(named) != identity(schema) {
		return d, nil
	}
	c.dynamic = true
	d.byName = map[*resource]*node{}
	for _, r := range c.resources {
		if other := r.dynamic[found.anchor]; other != nil {
			if d.byName[r], err = c.node(other); err != nil {
				return nil, err
			}
		}
	}
	if len(d.byName) == 1 {
		d.byName = nil // there is only one way
	}
	return d, nil
}
