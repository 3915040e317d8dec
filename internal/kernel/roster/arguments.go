package roster

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp/schema"
)

// maxParameters is the size of the schema of an agent's arguments.
const maxParameters = 32 << 10

// ArgsError says why the arguments of a turn are not those that its agent takes.
type ArgsError struct{ Agent, Why string }

func (e *ArgsError) Error() string {
	return fmt.Sprintf("the arguments do not fit the agent %s: %s", e.Agent, e.Why)
}

// CheckArgs returns an [*ArgsError] if there is a schema of the arguments that the agent takes, and these are others.
func CheckArgs(agent string, parameters, args jsontext.Value) error {
	if len(parameters) == 0 {
		return nil
	}
	compiled, err := schema.Compile(parameters)
	if err == nil {
		err = compiled.ValidateJSON(args)
	}
	switch why, is := schema.Why(err); {
	case err == nil:
		return nil
	case is:
		return &ArgsError{Agent: agent, Why: why}
	default:
		return &ArgsError{Agent: agent, Why: err.Error()}
	}
}

// checkParameters refuses what no arguments can be judged by.
func checkParameters(parameters jsontext.Value) error {
	if len(parameters) == 0 {
		return nil
	}
	if len(parameters) > maxParameters {
		return fmt.Errorf("it has %d bytes", len(parameters))
	}
	var top struct {
		Type string `json:"type"`
	}
	if parameters.Kind() != '{' {
		return errors.New("it is not an object")
	}
	if err := json.Unmarshal(parameters, &top); err != nil || top.Type != "object" {
		return errors.New(`its type is not "object"`)
	}
	_, err := schema.Compile(parameters)
	return err
}
