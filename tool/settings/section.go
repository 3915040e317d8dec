package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"
)

// MaxFile is the maximum size of a settings file, in bytes.
const MaxFile = 1 << 20

// Section is a mapping of a file, with the lines of its values.
type Section struct {
	node *yaml.Node
	path []any // from the root of the file
}

// ReadFile reads at most limit bytes of a regular file.
func ReadFile(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what cannot be read
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller says what cannot be read
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s should be a file of at most %d bytes", path, limit)
	}
	raw, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = errors.New("it grows while it is read")
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return raw, nil
}

// ErrEmpty is the error for a file that is empty, or only contains comments.
var ErrEmpty = &Error{Found: "it is empty", Expected: "names and values"}

// Parse parses a file: one document, a mapping. The error is an [*Error]; for an empty file it is [ErrEmpty].
func Parse(raw []byte) (Section, error) {
	node, err := parse(raw)
	if err != nil {
		return Section{}, err
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.ShortTag() == tagNull:
		return Section{}, ErrEmpty
	case node.Kind != yaml.MappingNode:
		return Section{}, &Error{Line: node.Line, Found: "it is " + kindOf(node), Value: valueOf(node), Expected: "names and values"}
	}
	return Section{node: node}, checkTree(node, nil, 0)
}

func parse(raw []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	var document yaml.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return nil, ErrEmpty
	} else if err != nil {
		return nil, syntaxError(err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, &Error{Found: "it has several documents", Expected: "one"}
	}
	return document.Content[0], nil
}

// Has reports whether the section has a value with that name.
func (s Section) Has(name string) bool { return child(s.node, name) != nil }

// Bare reports whether the section has a name without a value.
func (s Section) Bare(name string) bool {
	node := child(s.node, name)
	return node != nil && node.Kind == yaml.ScalarNode && node.ShortTag() == tagNull
}

// Of returns the section below a name; the error is an [*Error] if that is not a mapping.
func (s Section) Of(name string) (Section, error) {
	node := child(s.node, name)
	below := Section{node: node, path: append(append([]any(nil), s.path...), name)}
	if node == nil || node.Kind != yaml.MappingNode {
		return Section{}, below.Fault(nil, "it is "+kindOf(node), "names and values", "")
	}
	return below, nil
}

// Names returns the names in the section, in order.
func (s Section) Names() []string {
	names := make([]string, 0, len(s.node.Content)/2)
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		names = append(names, s.node.Content[i].Value)
	}
	return names
}

// Texts returns the values of a name as they are written: one, or those of a list if several are allowed. The error is
// an [*Error].
func (s Section) Texts(name string, several bool) ([]string, error) {
	node := child(s.node, name)
	list := []*yaml.Node{node}
	if several && node != nil && node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	values := make([]string, 0, len(list))
	for _, one := range list {
		if one == nil || one.Kind != yaml.ScalarNode || one.ShortTag() == tagNull {
			expected := "one value"
			if several {
				expected = "a value, or a list of values"
			}
			return nil, s.Fault([]any{name}, "it is "+kindOf(one), expected, "")
		}
		values = append(values, one.Value)
	}
	return values, nil
}

// Unknown returns the error for an unknown name, with the one that was probably meant.
func (s Section) Unknown(name string, known []string) *Error {
	line := 0
	for i := 0; i+1 < len(s.node.Content); i += 2 {
		if s.node.Content[i].Value == name {
			line = s.node.Content[i].Line
		}
	}
	return unknown(line, below(s.path, name), known)
}

// Fault returns an error about the value at a path of names and positions below the section. If the path does not
// exist, its line is that of the last part that does.
func (s Section) Fault(path []any, found, expected, hint string) *Error {
	full := append(append([]any(nil), s.path...), path...)
	return &Error{Line: s.line(path), Field: pathText(full), Found: found, Expected: expected, Hint: hint}
}

func (s Section) line(path []any) int {
	node := s.node
	if node == nil {
		return 0
	}
	line := node.Line
	for _, step := range path {
		switch step := step.(type) {
		case int:
			if node.Kind != yaml.SequenceNode || step < 0 || step >= len(node.Content) {
				return line
			}
			node = node.Content[step]
		case string:
			next := child(node, step)
			if next == nil {
				return line
			}
			node = next
		}
		line = node.Line
	}
	return line
}

// child returns the value of a name in a mapping; nil if there is none.
func child(node *yaml.Node, name string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i+1]
		}
	}
	return nil
}

// valueOf is the text of a plain value as [kindOf] quotes it; "" for anything else, which kindOf names.
func valueOf(node *yaml.Node) string {
	if node == nil || node.Kind != yaml.ScalarNode || node.Tag == tagNull {
		return ""
	}
	return quote(node.Value)
}

func kindOf(node *yaml.Node) string {
	switch {
	case node == nil:
		return "nothing"
	case node.Kind == yaml.MappingNode:
		return "names and values"
	case node.Kind == yaml.SequenceNode:
		return "a list"
	case node.Kind == yaml.ScalarNode && node.Tag == tagNull:
		return "empty"
	case node.Kind == yaml.ScalarNode:
		return quote(node.Value)
	default:
		return "something else"
	}
}
