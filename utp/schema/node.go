package schema

import (
	"fmt"
	"regexp"
	"slices"
)

// node is a compiled subschema. What it does not restrict is nil.
type node struct {
	place     place
	never     bool    // nothing fits
	always    bool    // everything fits
	of        version // any schema of that version fits
	types     types
	constant  *constants
	enum      *constants
	format    string
	formatted func(string) bool
	ref       *node
	object    *objectRules
	array     *arrayRules
	text      *textRules
	bounds    []bound
	dynamic   *dynamicRef
	not       *node
	allOf     []*node
	anyOf     []*node
	oneOf     []*node
	condition *condition

	unevaluatedProperties, unevaluatedItems *node
}

// constants are the values of an enum or a const, by their [canonical] texts.
type constants struct {
	values []any
	types  types
	texts  map[string]bool
}

type condition struct{ is, then, otherwise *node }

// dynamicRef leads to its target, or to the schema that the outermost resource on the way has under the same name.
type dynamicRef struct {
	target *node
	byName map[*resource]*node
}

type objectRules struct {
	least, most int // -1 is no limit
	required    []string
	properties  []property // sorted by name
	byName      map[string]*node
	patterns    []patternProperty
	others      *node
	names       *node
	dependent   []property
	requires    []dependency
}

type property struct {
	name string
	node *node
}

type patternProperty struct {
	pattern *regexp.Regexp
	node    *node
}

type dependency struct {
	name     string
	required []string
}

type arrayRules struct {
	least, most               int // -1 is no limit
	unique                    bool
	prefix                    []*node
	items                     *node
	contains                  *node
	leastContains             int
	mostContains              int
	containedCountAsEvaluated bool
}

type textRules struct {
	least, most int // -1 is no limit
	pattern     *regexp.Regexp
}

// bound is one limit of numbers. It holds if the comparison with its limit is among the outcomes.
type bound struct {
	keyword  string
	limit    decimal
	outcomes []int // nil: a multiple of the limit
}

func (b *bound) holds(d decimal) bool {
	if b.outcomes == nil {
		return d.multipleOf(b.limit)
	}
	return slices.Contains(b.outcomes, d.compare(b.limit))
}

// sameValue returns the subschemas that are tried on the very value that the node is tried on.
func (n *node) sameValue() []*node {
	list := slices.Concat(n.allOf, n.anyOf, n.oneOf)
	list = append(list, n.ref, n.not)
	if n.condition != nil {
		list = append(list, n.condition.is, n.condition.then, n.condition.otherwise)
	}
	if n.dynamic != nil && len(n.dynamic.byName) == 0 {
		list = append(list, n.dynamic.target)
	}
	if n.object != nil {
		for _, dependent := range n.object.dependent {
			list = append(list, dependent.node)
		}
	}
	return slices.DeleteFunc(list, func(n *node) bool { return n == nil })
}

// endless refuses a schema that leads back to itself on the same value, which no value would end.
func endless(nodes []*node) error {
	const open, done = 1, 2
	states := make(map[*node]int, len(nodes))
	var visit func(n *node) error
	visit = func(n *node) error {
		switch states[n] {
		case open:
			return fmt.Errorf("%s: it refers to itself without an end", n.place.at)
		case done:
			return nil
		}
		states[n] = open
		for _, next := range n.sameValue() {
			if err := visit(next); err != nil {
				return err
			}
		}
		states[n] = done
		return nil
	}
	for _, n := range nodes {
		if err := visit(n); err != nil {
			return err
		}
	}
	return nil
}
