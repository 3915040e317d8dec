package hostfile

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"

	"github.com/earshot-dev/earshot/internal/cause"
)

// jsonFormat is JSON, with comments and last commas where a host takes them.
type jsonFormat struct {
	// strict: it takes neither.
	strict bool
	// noLastComma: it takes comments alone.
	noLastComma bool
}

var errForm = errors.New("it is written in another form")

func (f jsonFormat) read(text []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return map[string]any{}, nil
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, jsonBroken(err)
	}
	if f.strict && !root.IsStandard() {
		return nil, &BrokenError{Line: lineAt(text, firstExtra(text)), Reason: "a comment, or a comma behind the last value, which it does not take"}
	}
	if at := lastComma(&root); f.noLastComma && at >= 0 {
		return nil, &BrokenError{Line: lineAt(text, at), Reason: "a comma behind the last value, which it does not take"}
	}
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return nil, jsonBroken(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(plain, &tree); err != nil {
		return nil, &BrokenError{Reason: cause.Of(err)}
	}
	return tree, nil
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n"))
}

// firstExtra is where a text stops being plain JSON.
func firstExtra(text []byte) int {
	var value jsontext.Value
	err := json.Unmarshal(text, &value)
	if syntax, is := errors.AsType[*jsontext.SyntacticError](err); is {
		return int(syntax.ByteOffset)
	}
	return 0
}

// lastComma is where a comma stands behind the last value of an object or a list; -1 where none does.
func lastComma(root *hujson.Value) int {
	for value := range root.All() {
		var last *hujson.Value
		switch composite := value.Value.(type) {
		case *hujson.Object:
			if n := len(composite.Members); n > 0 {
				last = &composite.Members[n-1].Value
			}
		case *hujson.Array:
			if n := len(composite.Elements); n > 0 {
				last = &composite.Elements[n-1]
			}
		}
		if last != nil && last.AfterExtra != nil {
			return last.EndOffset + len(last.AfterExtra)
		}
	}
	return -1
}

var jsonPosition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^hujson: line (\d+), column \d+: `)
})

func jsonBroken(err error) error {
	text := err.Error()
	position := jsonPosition().FindStringSubmatch(text)
	if position == nil {
		return &BrokenError{Reason: text}
	}
	line, _ := strconv.Atoi(position[1])
	return &BrokenError{Line: line, Reason: strings.TrimPrefix(text, position[0])}
}

func (jsonFormat) set(text []byte, path []string, value Object) ([]byte, error) {
	return setJSON(text, path, value)
}

// setJSON puts a value in the place of what stands at a path, or adds it.
func setJSON(text []byte, path []string, value any) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, errForm
	}
	at, unit, indent := &root, jsonUnit(text, &root), ""
	for i, name := range path {
		object, is := at.Value.(*hujson.Object)
		if !is {
			return nil, errForm
		}
		indent = memberIndent(text, object, indent, unit)
		member := memberOf(object, name)
		last := i == len(path)-1
		switch {
		case member == nil:
			for _, inner := range slices.Backward(path[i+1:]) {
				value = Object{{inner, value}}
			}
			return addMember(text, at, object, name, value, indent, unit), nil
		case last:
			return spliced(text, splice{member.Value.StartOffset, member.Value.EndOffset, jsonText(value, indent, unit)}), nil
		}
		at = &member.Value
	}
	return nil, errForm
}

func memberOf(object *hujson.Object, name string) *hujson.ObjectMember {
	for i := range object.Members {
		if literal, is := object.Members[i].Name.Value.(hujson.Literal); is && literal.String() == name {
			return &object.Members[i]
		}
	}
	return nil
}

// addMember adds a member behind the last one, and behind the comments that stand there.
func addMember(text []byte, at *hujson.Value, object *hujson.Object, name string, value any, indent, unit string) []byte {
	closing := at.EndOffset - 1
	behind := closing - len(object.AfterExtra)
	behind += len(bytes.TrimRight(object.AfterExtra, " \t\r\n"))
	key := jsonText(name, "", "") + ": "
	if n := len(object.Members); n > 0 {
		lastValue := object.Members[n-1].Value
		inOneLine := !bytes.Contains(text[at.StartOffset:at.EndOffset], []byte("\n"))
		if inOneLine {
			return spliced(text, splice{lastValue.EndOffset, lastValue.EndOffset, ", " + key + jsonText(value, "", "")})
		}
		line := "\n" + indent + key + jsonText(value, indent, unit)
		if lastValue.AfterExtra != nil { // there is a last comma
			return spliced(text, splice{behind, behind, line + ","})
		}
		return spliced(text, splice{lastValue.EndOffset, lastValue.EndOffset, ","}, splice{behind, behind, line})
	}
	line := "\n" + indent + key + jsonText(value, indent, unit) + "\n" + strings.TrimSuffix(indent, unit)
	return spliced(text, splice{behind, closing, line})
}

func (jsonFormat) remove(text []byte, path []string) ([]byte, error) {
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, errForm
	}
	at := &root
	for i, name := range path {
		object, is := at.Value.(*hujson.Object)
		if !is {
			return nil, errForm
		}
		member := memberOf(object, name)
		if member == nil {
			return nil, errForm
		}
		if i == len(path)-1 {
			return removeMember(text, at, object, member), nil
		}
		at = &member.Value
	}
	return nil, errForm
}

// removeMember takes a member away with its comma and its line. Comments beside it stay.
func removeMember(text []byte, at *hujson.Value, object *hujson.Object, member *hujson.ObjectMember) []byte {
	from := member.Name.StartOffset
	for from > 0 && (text[from-1] == ' ' || text[from-1] == '\t') {
		from--
	}
	if from > 0 && text[from-1] == '\n' {
		from--
		if from > 0 && text[from-1] == '\r' {
			from--
		}
	} else {
		from = member.Name.StartOffset
	}
	parts := []splice{{from, member.Value.EndOffset, ""}}
	n := len(object.Members)
	last := member == &object.Members[n-1]
	switch {
	case !last || member.Value.AfterExtra != nil: // its own comma
		comma := member.Value.EndOffset + len(member.Value.AfterExtra)
		end := comma + 1
		if from == member.Name.StartOffset { // in the line of others
			for end < len(text) && text[end] == ' ' {
				end++
			}
		}
		parts = append(parts, splice{comma, end, ""})
	case n > 1: // that of the one before
		before := object.Members[n-2].Value
		comma := before.EndOffset + len(before.AfterExtra)
		if from == member.Name.StartOffset {
			from = comma + 1
			parts[0].from = from
		}
		parts = append(parts, splice{comma, comma + 1, ""})
	}
	if closing := at.EndOffset - 1; n == 1 && len(bytes.TrimSpace(object.AfterExtra)) == 0 && len(bytes.TrimSpace(member.Name.BeforeExtra)) == 0 {
		parts = []splice{{at.StartOffset + 1, closing, ""}}
	}
	return spliced(text, parts...)
}

// jsonUnit is by how much the file indents.
func jsonUnit(text []byte, root *hujson.Value) string {
	if object, is := root.Value.(*hujson.Object); is && len(object.Members) > 0 {
		if unit := indentBefore(text, object.Members[0].Name.StartOffset); unit != "" {
			return unit
		}
	}
	return "  "
}

func memberIndent(text []byte, object *hujson.Object, outer, unit string) string {
	if n := len(object.Members); n > 0 {
		if indent := indentBefore(text, object.Members[n-1].Name.StartOffset); indent != "" {
			return indent
		}
	}
	return outer + unit
}

// indentBefore is what stands before an offset in its line, if that is only blanks.
func indentBefore(text []byte, offset int) string {
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	if blanks := text[start:offset]; len(bytes.Trim(blanks, " \t")) == 0 {
		return string(blanks)
	}
	return ""
}

// jsonText writes a value. Without a unit all of it is in one line.
func jsonText(value any, indent, unit string) string {
	options := []jsontext.Options{jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.EscapeForHTML(false)}
	if unit != "" {
		options = []jsontext.Options{jsontext.WithIndentPrefix(indent), jsontext.WithIndent(unit)}
	}
	var out bytes.Buffer
	e := jsontext.NewEncoder(&out, options...)
	if err := writeJSON(e, value); err != nil { // a text that is not UTF-8; the edit is refused for it
		return ""
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func writeJSON(e *jsontext.Encoder, value any) error {
	object, is := value.(Object)
	if list, isList := value.([]any); isList {
		return writeList(e, list)
	}
	if !is {
		return json.MarshalEncode(e, value) //nolint:wrapcheck // the caller only asks whether there is one
	}
	err := e.WriteToken(jsontext.BeginObject)
	for _, m := range object {
		err = errors.Join(err, e.WriteToken(jsontext.String(m.Name)), writeJSON(e, m.Value))
	}
	return errors.Join(err, e.WriteToken(jsontext.EndObject))
}

func writeList(e *jsontext.Encoder, list []any) error {
	err := e.WriteToken(jsontext.BeginArray)
	for _, one := range list {
		err = errors.Join(err, writeJSON(e, one))
	}
	return errors.Join(err, e.WriteToken(jsontext.EndArray))
}
