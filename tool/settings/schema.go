package settings

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp/schema"
)

// Closed returns a schema of arguments with what every one needs: an object that accepts no member that it does not
// name. It also returns the schema of each member. An object that accepts other members is refused, because a member
// without a placeholder would be consented to and then left out.
func Closed(parameters jsontext.Value) (closed jsontext.Value, members map[string]jsontext.Value, err error) {
	if len(parameters) == 0 {
		parameters = jsontext.Value(`{}`)
	}
	var m map[string]jsontext.Value
	if err := json.Unmarshal(parameters, &m); err != nil || m == nil {
		return nil, nil, errors.New("it is not an object; expected a JSON Schema with properties")
	}
	if kind, given := m["type"]; given && string(kind) != `"object"` {
		return nil, nil, fmt.Errorf("its type is %s; expected object", Clip(string(kind), 40))
	}
	if other, given := m["additionalProperties"]; given && string(other) != "false" {
		return nil, nil, errors.New("it takes additional properties; name each of them")
	}
	m["type"], m["additionalProperties"] = jsontext.Value(`"object"`), jsontext.Value("false")
	members = map[string]jsontext.Value{}
	if raw, given := m["properties"]; given {
		if err := json.Unmarshal(raw, &members); err != nil {
			return nil, nil, errors.New("its properties are not an object")
		}
	}
	closed, err = json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return nil, nil, fmt.Errorf("it is not JSON Schema: %w", err)
	}
	_, err = schema.Compile(closed)
	return closed, members, err
}
