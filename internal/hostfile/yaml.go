package hostfile

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// yamlFormat is YAML in block style, in one document; other forms are left to the user.
type yamlFormat struct{}

func (yamlFormat) read(text []byte) (map[string]any, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var tree map[string]any
	err := decoder.Decode(&tree)
	if errors.Is(err, io.EOF) {
		return map[string]any{}, nil
	}
	if err == nil {
		if more := decoder.Decode(new(any)); !errors.Is(more, io.EOF) {
			return nil, &BrokenError{Reason: "it holds more than one document"}
		}
		return tree, nil
	}
	return nil, yamlBroken(err)
}

var yamlPosition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`line (\d+): `)
})

func yamlBroken(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if many, is := errors.AsType[*yaml.TypeError](err); is && len(many.Errors) > 0 {
		text = many.Errors[0]
	}
	position := yamlPosition().FindStringSubmatch(text)
	if position == nil {
		return &BrokenError{Reason: text}
	}
	line, _ := strconv.Atoi(position[1])
	return &BrokenError{Line: line, Reason: strings.Replace(text, position[0], "", 1)}
}

// yamlTable is a table in block style with what is known of its place.
type yamlTable struct {
	key, node *yaml.Node // key is nil for the root
	indent    int        // of its members
	next      int        // the line at which something else begins, or the one behind the last
}

func (f yamlFormat) set(text []byte, path []string, value Object) ([]byte, error) {
	root, lines, err := f.root(text)
	if err != nil {
		return nil, err
	}
	section, name := path[0], path[1]
	at := member(root, section)
	if at == nil {
		entry, err := yamlEntry(Object{{section, Object{{name, value}}}}, 0)
		if err != nil {
			return nil, err
		}
		return []byte(ended(string(text)) + entry), nil
	}
	if at.node.Kind == yaml.ScalarNode && at.node.Tag == "!!null" || at.node.Kind == yaml.MappingNode && len(at.node.Content) == 0 {
		return f.fill(lines, at, name, value)
	}
	if at.node.Kind != yaml.MappingNode || at.node.Style&yaml.FlowStyle != 0 {
		return nil, errForm
	}
	entry, err := yamlEntry(Object{{name, value}}, at.indent)
	if err != nil {
		return nil, err
	}
	from := at.end(lines)
	to := from
	if old := member(at, name); old != nil {
		from, to = old.key.Line-1, old.end(lines)
	}
	return joined(lines[:from], entry, lines[to:]), nil
}

// fill writes the first entry of a section that has none.
func (yamlFormat) fill(lines []string, at *yamlTable, name string, value Object) ([]byte, error) {
	const indent = 2
	entry, err := yamlEntry(Object{{name, value}}, indent)
	if err != nil {
		return nil, err
	}
	line := at.key.Line - 1
	head, comment := lines[line], ""
	colon := at.key.Column - 1 + len(at.key.Value)
	if at.key.Style != 0 || colon >= len(head) || head[colon] != ':' {
		return nil, errForm
	}
	rest := strings.TrimSpace(head[colon+1:])
	if at.node.Kind == yaml.MappingNode {
		if rest, _ = strings.CutPrefix(rest, "{"); !strings.HasPrefix(strings.TrimSpace(rest), "}") {
			return nil, errForm
		}
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), "}"))
	} else {
		for _, null := range []string{"null", "~", "Null", "NULL"} {
			rest = strings.TrimSpace(strings.TrimPrefix(rest, null))
		}
	}
	if strings.HasPrefix(rest, "#") {
		comment, rest = " "+rest, ""
	}
	if rest != "" {
		return nil, errForm
	}
	return joined(lines[:line], head[:colon+1]+comment+"\n"+entry, lines[line+1:]), nil
}

func (f yamlFormat) remove(text []byte, path []string) ([]byte, error) {
	at, lines, err := f.root(text)
	if err != nil {
		return nil, err
	}
	for _, name := range path {
		if at.node.Kind != yaml.MappingNode || at.node.Style&yaml.FlowStyle != 0 {
			return nil, errForm
		}
		below := member(at, name)
		if below == nil {
			return nil, errForm
		}
		if name == path[len(path)-1] && len(at.node.Content) == 2 && at.key != nil {
			// The last one: a section without a value would not be a table any more.
			head := strings.TrimRight(lines[at.key.Line-1], "\r\n")
			before, comment, found := strings.Cut(head, " #")
			if found {
				comment = " #" + comment
			}
			return joined(lines[:at.key.Line-1], strings.TrimRight(before, " ")+" {}"+comment+"\n"+strings.Join(lines[at.key.Line:below.key.Line-1], ""), lines[below.end(lines):]), nil
		}
		at = below
	}
	return joined(lines[:at.key.Line-1], "", lines[at.end(lines):]), nil
}

// otherLineEnd ends a line for YAML, and for nobody else.
var otherLineEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\r[^\n]|\r$|[\u0085\u2028\u2029]")
})

// root is the table of a whole text, and the lines of that.
func (yamlFormat) root(text []byte) (*yamlTable, []string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || otherLineEnd().Match(text) {
		return nil, nil, errForm
	}
	lines := strings.SplitAfter(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	if len(document.Content) > 0 && document.Content[0].Kind == yaml.MappingNode {
		root = document.Content[0]
	}
	return &yamlTable{node: root, next: len(lines)}, lines, nil
}

// member is what stands under a name.
func member(at *yamlTable, name string) *yamlTable {
	for i := 0; i+1 < len(at.node.Content); i += 2 {
		if at.node.Content[i].Value != name {
			continue
		}
		found := &yamlTable{key: at.node.Content[i], node: at.node.Content[i+1], next: at.next}
		if i+2 < len(at.node.Content) {
			found.next = at.node.Content[i+2].Line - 1
		}
		if len(found.node.Content) > 0 {
			found.indent = found.node.Content[0].Column - 1
		}
		return found
	}
	return nil
}

// end is the line behind the last one, without the comments and empty lines at the end: they may speak of what follows.
func (t *yamlTable) end(lines []string) int {
	end := t.next
	for end > t.key.Line {
		if line := strings.TrimSpace(lines[end-1]); line != "" && line[0] != '#' {
			break
		}
		end--
	}
	return end
}

// ended ends the last line of a text.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func joined(before []string, middle string, after []string) []byte {
	return []byte(ended(strings.Join(before, "")) + middle + strings.Join(after, ""))
}

func yamlEntry(value Object, indent int) (string, error) {
	node, err := yamlNode(value)
	if err != nil {
		return "", errForm
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(node), encoder.Close()); err != nil {
		return "", errForm
	}
	var text strings.Builder
	for line := range strings.Lines(out.String()) {
		if line != "\n" {
			text.WriteString(strings.Repeat(" ", indent))
		}
		text.WriteString(line)
	}
	return text.String(), nil
}

func yamlNode(value any) (*yaml.Node, error) {
	switch value := value.(type) {
	case Object:
		table := &yaml.Node{Kind: yaml.MappingNode}
		if len(value) == 0 {
			table.Style = yaml.FlowStyle
		}
		for _, m := range value {
			name, nerr := yamlNode(m.Name)
			inner, err := yamlNode(m.Value)
			if err := errors.Join(nerr, err); err != nil {
				return nil, err
			}
			table.Content = append(table.Content, name, inner)
		}
		return table, nil
	case []any:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		if len(value) == 0 {
			list.Style = yaml.FlowStyle
		}
		for _, one := range value {
			inner, err := yamlNode(one)
			if err != nil {
				return nil, err
			}
			list.Content = append(list.Content, inner)
		}
		return list, nil
	}
	var node yaml.Node
	err := node.Encode(value)
	return &node, err //nolint:wrapcheck // the caller only asks whether there is one
}
