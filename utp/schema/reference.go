package schema

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// resource is a schema with an address of its own: the whole document, or a part with an $id. References in it are relative
// to its address, and its version is the one of all in it.
type resource struct {
	address string
	version version
	root    any
	// anchors and dynamic are the schemas with a name. The name of a $recursiveAnchor is "".
	anchors, dynamic map[string]map[string]any
}

// step is one name on the way from the root of the document to a schema.
type step struct {
	up   *step
	name string
}

func (s *step) down(names ...string) *step {
	for _, name := range names {
		s = &step{up: s, name: name}
	}
	return s
}

// String returns the way as a JSON Pointer behind #.
func (s *step) String() string {
	if s == nil {
		return "#"
	}
	return s.up.String() + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s.name)
}

// place is where a schema is.
type place struct {
	at       *step
	resource *resource
}

// identity tells one object of the document from another.
func identity(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }

// index checks a schema and those within it, and finds the places that references may lead to.
func (c *compiler) index(value any, at *step, in *resource) error {
	if err := checkSchema(value, at == nil || in.version > draft4); err != nil {
		return c.mistake(at, err)
	}
	object, is := value.(map[string]any)
	if !is {
		return nil
	}
	if _, known := c.places[identity(object)]; known {
		return nil
	}
	in, err := c.enter(object, at, in)
	if err != nil {
		return err
	}
	c.places[identity(object)] = place{at: at, resource: in}
	if err := c.name(object, at, in); err != nil {
		return err
	}
	for _, k := range keywords {
		inner, has := object[k.name]
		if !has || !k.in(in.version) {
			continue
		}
		if err := c.keyword(k, inner, at.down(k.name), in); err != nil {
			return err
		}
	}
	return nil
}

// keyword checks the value of a keyword, and indexes the schemas in it.
func (c *compiler) keyword(k keyword, value any, at *step, in *resource) error {
	if k.unchecked(in.version) {
		defer func(before bool) { c.lenient = before }(c.lenient)
		c.lenient = true
	}
	if err := k.shape.check(value, in.version); err != nil {
		return c.mistake(at, err)
	}
	return k.shape.subschemas(value, func(value any, names ...string) error {
		// Draft-04 has booleans for additional members and entries alone.
		if _, flag := value.(bool); flag && k.shape == aSchemaOrFlag {
			return nil
		}
		return c.index(value, at.down(names...), in)
	})
}

func (c *compiler) mistake(at *step, err error) error {
	if c.lenient {
		return nil
	}
	return fmt.Errorf("%s: %w", at, err)
}

// enter returns the resource of a schema: the one around it, or a new one if it has an address.
func (c *compiler) enter(schema map[string]any, at *step, around *resource) (*resource, error) {
	declared := around.version
	if text, is := schema["$schema"].(string); is {
		var known bool
		if declared, known = versionOf(text); !known {
			return nil, outside(strings.TrimSuffix(text, "#"))
		}
	}
	text, _ := declared.identifiers(schema)
	if at == nil {
		around.version = declared
	}
	if text == "" {
		return around, nil
	}
	address, err := join(around.address, text)
	if err != nil {
		return nil, fmt.Errorf("%s: the $id %.200q is not an address", at, text)
	}
	if at == nil {
		around.address = address
		return around, nil
	}
	inner := newResource(address, declared, schema)
	return inner, c.add(inner)
}

func newResource(address string, v version, root any) *resource {
	return &resource{address: address, version: v, root: root, anchors: map[string]map[string]any{}, dynamic: map[string]map[string]any{}}
}

func (c *compiler) add(r *resource) error {
	if c.resource(r.address) != nil {
		return fmt.Errorf("two of its schemas have the $id %.200q", r.address)
	}
	c.resources = append(c.resources, r)
	return nil
}

// name adds the anchors of a schema to its resource.
func (c *compiler) name(schema map[string]any, at *step, in *resource) error {
	names := []string{}
	if _, anchor := in.version.identifiers(schema); anchor != "" {
		names = append(names, anchor)
	}
	if anchor, is := schema["$anchor"].(string); is && in.version >= draft2019 {
		names = append(names, anchor)
	}
	if anchor, is := schema["$dynamicAnchor"].(string); is && in.version >= draft2020 {
		names = append(names, anchor)
		in.dynamic[anchor] = schema
	}
	if recursive, _ := schema["$recursiveAnchor"].(bool); recursive && in.version == draft2019 {
		in.dynamic[""] = schema
	}
	for _, name := range names {
		if other, taken := in.anchors[name]; taken && identity(other) != identity(schema) {
			return fmt.Errorf("%s: another schema has the anchor %.64q, too", at, name)
		}
		in.anchors[name] = schema
	}
	return nil
}

// outside refuses what is not in the document: a schema reads neither files nor the network.
func outside(address string) error {
	return fmt.Errorf("a schema may not refer to %.500s; put what it needs into it", address)
}

// join returns an address that is relative to another. Without that, it stays as it is.
func join(base, reference string) (string, error) {
	if base == "" {
		_, err := url.Parse(reference)
		return reference, err //nolint:wrapcheck // it is only asked whether there is one
	}
	b, err := url.Parse(base)
	if err != nil {
		return "", err //nolint:wrapcheck // it is only asked whether there is one
	}
	joined, err := b.Parse(reference)
	if err != nil {
		return "", err //nolint:wrapcheck // the same
	}
	return joined.String(), nil
}

// target is what a reference leads to: a schema of the document, or any schema of a version.
type target struct {
	schema any
	of     version
	anchor string // the name by which the reference found it, if any
}

// resolve finds the schema that a reference means.
func (c *compiler) resolve(reference string, from place) (target, error) {
	address, fragment, _ := strings.Cut(reference, "#")
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return target{}, fmt.Errorf("%s: the reference %.200q is not an address", from.at, reference)
	}
	in := from.resource
	if address != "" {
		full, err := join(in.address, address)
		if err != nil {
			return target{}, fmt.Errorf("%s: the reference %.200q is not an address", from.at, reference)
		}
		if in = c.resource(full); in == nil {
			if v, known := versionOf(full); known && fragment == "" {
				return target{of: v}, nil
			}
			return target{}, outside(full)
		}
	}
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		found, err := c.follow(fragment, in)
		if err != nil {
			return target{}, fmt.Errorf("%s: the reference %.200q leads to %w", from.at, reference, err)
		}
		return target{schema: found.schema}, c.index(found.schema, found.at, found.in)
	}
	schema, found := in.anchors[fragment]
	if !found {
		return target{}, fmt.Errorf("%s: the reference %.200q leads to no anchor", from.at, reference)
	}
	return target{schema: schema, anchor: fragment}, nil
}

func (c *compiler) resource(address string) *resource {
	for _, r := range c.resources {
		if r.address == address {
			return r
		}
	}
	return nil
}

// pointed is a schema that a JSON Pointer leads to. It may be where no keyword has one, and is not indexed then.
type pointed struct {
	schema any
	at     *step
	in     *resource
}

func (c *compiler) follow(pointer string, in *resource) (pointed, error) {
	f := pointed{schema: in.root, in: in}
	if root, is := in.root.(map[string]any); is {
		f.at = c.places[identity(root)].at
	}
	if pointer != "" {
		for name := range strings.SplitSeq(pointer[1:], "/") {
			name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
			var has bool
			if f.schema, has = member(f.schema, name); !has {
				return f, errors.New("nothing")
			}
			if object, is := f.schema.(map[string]any); is && c.places[identity(object)].resource != nil {
				f.in = c.places[identity(object)].resource
			}
			f.at = f.at.down(name)
		}
	}
	if err := checkSchema(f.schema, true); err != nil {
		return f, fmt.Errorf("no schema: %w", err)
	}
	return f, nil
}

func member(value any, name string) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		inner, found := value[name]
		return inner, found
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(value) {
			return value[i], true
		}
	}
	return nil, false
}
