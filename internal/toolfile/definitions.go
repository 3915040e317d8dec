package toolfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/tool/settings"
	"github.com/earshot-dev/earshot/utp"
)

const definitionsHint = "it should be YAML or JSON: a tool, or a list of tools, with tool_name, description, parameters, target_subject and after_execution"

// Definitions reads the definitions of a service that does not register its tools itself, as CommonGround writes them: one tool, or
// a list of them. Path names them in errors. Told gets a sentence on what has no meaning here and is left out.
func Definitions(path string, raw []byte, notice func(string)) ([]utp.Definition, error) {
	doc, err := settings.ParseJSON(raw)
	if err != nil {
		return nil, cause.Misuse(cause.OneLine(path)+": "+cause.OneLine(cause.Of(err)), definitionsHint)
	}
	items := []jsontext.Value{doc}
	if doc.Kind() == jsontext.KindBeginArray {
		if err := json.Unmarshal(doc, &items); err != nil {
			return nil, cause.Misuse(cause.OneLine(path)+": "+cause.OneLine(cause.Of(err)), definitionsHint)
		}
	}
	all := make([]utp.Definition, 0, len(items))
	for i, item := range items {
		d, unused, err := definitionOf(item)
		if err != nil {
			return nil, cause.Misuse(fmt.Sprintf("%s, tool %d: %s", cause.OneLine(path), i+1, cause.OneLine(cause.Of(err))), definitionsHint)
		}
		if len(unused) > 0 {
			notice(fmt.Sprintf("Left out of %s, since it means nothing here: %s.", cmp.Or(cause.OneLine(d.Tool), "a tool without a name"), cause.OneLine(strings.Join(unused, ", "))))
		}
		all = append(all, d)
	}
	return all, nil
}

// definitionOf parses one tool, and lists the parts of it that have no meaning here.
func definitionOf(item jsontext.Value) (d utp.Definition, unused []string, err error) {
	var members map[string]jsontext.Value
	if item.Kind() != jsontext.KindBeginObject {
		return d, nil, errors.New("it is not an object")
	}
	if err := json.Unmarshal(item, &members); err != nil {
		return d, nil, err //nolint:wrapcheck // the caller does
	}
	if name, is := members["name"]; is && members["tool_name"] == nil {
		members["tool_name"] = name
		delete(members, "name")
	}
	known := []string{"tool_name", "description", "parameters", "target_subject", "after_execution", "class", "risk", "options"}
	for name := range members {
		if !slices.Contains(known, name) {
			unused = append(unused, name)
			delete(members, name)
		}
	}
	slices.Sort(unused)
	used, err := json.Marshal(members, jsontext.PreserveRawStrings(true))
	if err == nil {
		err = json.Unmarshal(used, &d)
	}
	return d, unused, err //nolint:wrapcheck // the caller does
}
