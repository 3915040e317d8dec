package hostfile

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFormat is TOML. An entry is a table with a header of its own, [section.name]; other forms are left to the user.
type tomlFormat struct{}

func (tomlFormat) read(text []byte) (map[string]any, error) {
	var tree map[string]any
	err := toml.Unmarshal(text, &tree)
	if decode, is := errors.AsType[*toml.DecodeError](err); is {
		line, _ := decode.Position()
		return nil, &BrokenError{Line: line, Reason: strings.TrimPrefix(decode.Error(), "toml: ")}
	}
	if err != nil {
		return nil, &BrokenError{Reason: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return tree, nil
}

func (f tomlFormat) set(text []byte, path []string, value Object) ([]byte, error) {
	written, err := tomlTable(path, value)
	if err != nil {
		return nil, err
	}
	tables, err := f.tables(text, path)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		before := strings.TrimRight(string(text), "\r\n")
		if before != "" {
			before += "\n\n"
		}
		return []byte(before + written), nil
	}
	tables[0].by = written
	return spliced(text, tables...), nil
}

func (f tomlFormat) remove(text []byte, path []string) ([]byte, error) {
	tables, err := f.tables(text, path)
	if err != nil {
		return nil, err
	}
	if len(tables) == 0 {
		return nil, errForm
	}
	for i := range tables { // with one of the empty lines around it
		t := &tables[i]
		rest := text[t.to:]
		before, found := bytes.CutSuffix(text[:t.from], []byte("\n"))
		if found && (len(before) == 0 || bytes.HasSuffix(bytes.TrimSuffix(before, []byte("\r")), []byte("\n"))) && (len(bytes.TrimSpace(rest)) == 0 || blankLine(rest)) {
			t.from = len(bytes.TrimSuffix(before, []byte("\r")))
		}
	}
	return spliced(text, tables...), nil
}

func blankLine(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return len(bytes.TrimSpace(line)) == 0
}

// tables are the lines of a table and of those below it, without the comments and empty lines at their ends.
func (tomlFormat) tables(text []byte, path []string) ([]splice, error) {
	var parser unstable.Parser
	parser.Reset(text)
	var found []splice
	inside := false
	for parser.NextExpression() {
		node := parser.Expression()
		if node.Kind != unstable.Table && node.Kind != unstable.ArrayTable {
			continue
		}
		var name []string
		start := -1
		for keys := node.Key(); keys.Next(); {
			if start < 0 {
				start = int(keys.Node().Raw.Offset)
			}
			name = append(name, string(keys.Node().Data))
		}
		start = bytes.LastIndexByte(text[:start], '\n') + 1
		if inside {
			found[len(found)-1].to = start
		}
		if inside = len(name) >= len(path) && slices.Equal(name[:len(path)], path); inside {
			found = append(found, splice{from: start, to: len(text)})
		}
	}
	if err := parser.Error(); err != nil {
		return nil, errForm
	}
	for i := range found {
		found[i].to = found[i].from + withoutTail(text[found[i].from:found[i].to])
	}
	return found, nil
}

// withoutTail is the length of lines without the comments and empty lines at their end: they may speak of what follows.
func withoutTail(lines []byte) int {
	end := len(lines)
	for end > 0 {
		start := bytes.LastIndexByte(lines[:end-1], '\n') + 1
		line := bytes.TrimSpace(lines[start:end])
		if len(line) > 0 && line[0] != '#' {
			break
		}
		end = start
	}
	return end
}

// tomlTable writes an entry: its header, its values, and the tables in it as tables in one line.
func tomlTable(path []string, value Object) (string, error) {
	var out strings.Builder
	keys := make([]string, 0, len(path))
	for _, name := range path {
		keys = append(keys, tomlKey(name))
	}
	out.WriteString("[" + strings.Join(keys, ".") + "]\n")
	for _, m := range value {
		text, err := tomlValue(m.Value)
		if err != nil {
			return "", err
		}
		out.WriteString(tomlKey(m.Name) + " = " + text + "\n")
	}
	return out.String(), nil
}

func tomlKey(name string) string {
	if name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "" {
		return name
	}
	return tomlString(name)
}

func tomlValue(value any) (string, error) {
	switch value := value.(type) {
	case string:
		return tomlString(value), nil
	case []any:
		parts := make([]string, 0, len(value))
		for _, one := range value {
			text, err := tomlValue(one)
			if err != nil {
				return "", err
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ", ") + "]", nil
	case Object:
		parts := make([]string, 0, len(value))
		for _, m := range value {
			text, err := tomlValue(m.Value)
			if err != nil {
				return "", err
			}
			parts = append(parts, tomlKey(m.Name)+" = "+text)
		}
		return "{ " + strings.Join(parts, ", ") + " }", nil
	}
	line, err := toml.Marshal(map[string]any{"v": value})
	if err != nil {
		return "", errForm
	}
	return strings.TrimSpace(strings.TrimPrefix(string(line), "v = ")), nil
}

// tomlString is a text as JSON writes it, which is a basic string of TOML but for one character.
func tomlString(text string) string {
	return strings.ReplaceAll(jsonText(text, "", ""), "\x7f", `\u007F`)
}
