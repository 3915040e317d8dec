package openapi

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/tool/settings"
)

// document is an OpenAPI document as far as requests are made from it. Nothing outside of
// the document is read.
type document struct {
	root  map[string]any
	older bool // 3.0, whose schemas are not those of JSON Schema
	byID  map[string]found
}

// found is an operation with where it stands.
type found struct {
	method, path string
	item, op     map[string]any
}

var methods = []string{"get", "head", "put", "post", "patch", "delete", "options"}

// readDocument reads JSON or YAML.
func readDocument(raw []byte) (*document, error) {
	value, err := settings.ParseJSON(raw)
	if trimmed := strings.TrimSpace(string(raw[:min(len(raw), 64)])); strings.HasPrefix(trimmed, "{") {
		value, err = raw, nil
	}
	if err != nil {
		return nil, err
	}
	d := &document{byID: map[string]found{}}
	if err := json.Unmarshal(value, &d.root); err != nil || d.root == nil {
		return nil, fmt.Errorf("it is not a JSON object: %w", err)
	}
	version, _ := d.root["openapi"].(string)
	switch {
	case strings.HasPrefix(version, "3.0."):
		d.older = true
	case strings.HasPrefix(version, "3.1."):
	default:
		return nil, fmt.Errorf("its openapi is %q; expected 3.0 or 3.1", version)
	}
	if dialect, given := d.root["jsonSchemaDialect"]; given && dialect != "https://spec.openapis.org/oas/3.1/dialect/base" && dialect != "https://json-schema.org/draft/2020-12/schema" {
		return nil, fmt.Errorf("its jsonSchemaDialect is %v, which is not spoken here", dialect)
	}
	if err := d.index(); err != nil {
		return nil, err
	}
	return d, nil
}

// index finds the operations by their ids.
func (d *document) index() error {
	paths, _ := d.root["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item, err := d.object(paths[path])
		if err != nil {
			return fmt.Errorf("the path %s: %w", path, err)
		}
		for _, method := range methods {
			op, is := item[method].(map[string]any)
			id, _ := op["operationId"].(string)
			if !is || id == "" {
				continue
			}
			if _, twice := d.byID[id]; twice {
				return fmt.Errorf("the operationId %s is there twice", id)
			}
			d.byID[id] = found{method: strings.ToUpper(method), path: path, item: item, op: op}
		}
	}
	return nil
}

// ids are the operations that have one.
func (d *document) ids() []string { return slices.Sorted(maps.Keys(d.byID)) }

// object is a value, or what it refers to within the document.
func (d *document) object(value any) (map[string]any, error) {
	for range 16 {
		m, is := value.(map[string]any)
		if !is {
			return nil, errors.New("it is not an object")
		}
		ref, refers := m["$ref"].(string)
		if !refers {
			return m, nil
		}
		var err error
		if value, err = d.at(ref); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("its references lead in a circle")
}

// at is what a reference names: a JSON Pointer within the document.
func (d *document) at(ref string) (any, error) {
	pointer, local := strings.CutPrefix(ref, "#/")
	if !local {
		return nil, fmt.Errorf("it refers to %s; only what stands in the document itself is read", settings.Clip(ref, 120))
	}
	var value any = d.root
	for step := range strings.SplitSeq(pointer, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}", "%7b", "{", "%7d", "}").Replace(step)
		switch here := value.(type) {
		case map[string]any:
			next, given := here[step]
			if !given {
				return nil, fmt.Errorf("it refers to %s, which is not there", ref)
			}
			value = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(here) {
				return nil, fmt.Errorf("it refers to %s, which is not there", ref)
			}
			value = here[i]
		default:
			return nil, fmt.Errorf("it refers to %s, which is not there", ref)
		}
	}
	return value, nil
}

// server is the one absolute address that the document names for all operations.
func (d *document) server(f found) (string, error) {
	for _, own := range []map[string]any{f.op, f.item} {
		if _, given := own["servers"]; given {
			return "", errors.New("the operation has servers of its own; name the one to use with server")
		}
	}
	servers, _ := d.root["servers"].([]any)
	if len(servers) != 1 {
		return "", fmt.Errorf("the document names %d servers; name the one to use with server", len(servers))
	}
	first, _ := servers[0].(map[string]any)
	address, _ := first["url"].(string)
	if !strings.Contains(address, "://") || strings.Contains(address, "{") {
		return "", fmt.Errorf("the document's server is %q; name the one to use with server", settings.Clip(address, 120))
	}
	return address, nil
}
