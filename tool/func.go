package tool

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/utp/schema"
)

// Func makes a tool from a function. The function receives its arguments decoded, and its return value is the result,
// as JSON. The definition only needs a name and a description: missing parameters are derived from Args, see
// [SchemaFor], and other missing values get cautious defaults, see [Complete].
//
// A function that returns a [Result] sets the status itself. If it returns a value and an error, both are reported.
// [Call] provides everything besides the arguments: the call's id, its progress, and the time after which no effect may
// begin.
//
// Errors: a [*TypeError] if Args has no schema, a [*utp.DefinitionError] for the rest.
func Func[Args, Out any](d utp.Definition, run func(ctx context.Context, c *Call, args Args) (Out, error)) (Tool, error) {
	if run == nil {
		return Tool{}, errors.New("tool: " + d.Tool + " has no function")
	}
	if len(d.Parameters) == 0 {
		var err error
		if d, err = derived(d, reflect.TypeFor[Args]()); err != nil {
			return Tool{}, err
		}
	}
	d, err := Complete(d)
	if err != nil {
		return Tool{}, err
	}
	return Tool{Definition: d, Run: func(ctx context.Context, c *Call) (Result, error) {
		var args Args
		if err := c.Decode(&args); err != nil {
			return Result{}, err
		}
		out, err := run(ctx, c, args)
		return resultOf(out), err
	}}, nil
}

// derived completes the definition from the type of the arguments.
func derived(d utp.Definition, t reflect.Type) (utp.Definition, error) {
	s, err := shapeOf(t)
	if err != nil {
		return d, fmt.Errorf("tool %s: %w", d.Tool, err)
	}
	d.Parameters = s.schema
	if err := s.compiles(); err != nil {
		return d, &utp.DefinitionError{Tool: d.Tool, Field: "parameters", Found: "refused: " + err.Error(), Expected: "tags that make a JSON Schema, and defaults that fit it", Err: err}
	}
	if d.Options, err = s.into(d.Options); err != nil {
		return d, &utp.DefinitionError{Tool: d.Tool, Field: "options", Found: "refused: " + err.Error(), Expected: "a JSON object", Err: err}
	}
	return d, nil
}

// Reconciled returns the tool with a function that finds out the outcome of a call whose service died or stopped
// responding. The function receives the same arguments as the call. The definition records that it exists, because the
// kernel asks no other tool.
func Reconciled[Args any](t Tool, find func(ctx context.Context, c *Call, args Args) (Outcome, Result, error)) (Tool, error) {
	var err error
	if t.Definition.Options, err = withOption(t.Definition.Options, "reconciles", true); err != nil {
		return t, &utp.DefinitionError{Tool: t.Definition.Tool, Field: "options", Found: "refused: " + err.Error(), Expected: "a JSON object", Err: err}
	}
	t.Reconcile = func(ctx context.Context, c *Call) (Outcome, Result, error) {
		var args Args
		if err := c.Decode(&args); err != nil {
			return Unknown, Result{}, err
		}
		return find(ctx, c, args)
	}
	return t, nil
}

// Must returns the tool, or panics with the error. It is for tools that are created when the program starts, as
// regexp.MustCompile is for patterns.
func Must(t Tool, err error) Tool {
	if err != nil {
		panic(err)
	}
	return t
}

// resultOf converts a function's return value to a result.
func resultOf(out any) Result {
	if r, is := out.(Result); is {
		return r
	}
	return Result{Value: out}
}

// compiles checks the schema as the kernel will, and validates each default.
func (s shape) compiles() error {
	compiled, err := schema.Compile(s.schema)
	if err != nil {
		return fmt.Errorf("the schema: %w", err)
	}
	for name, value := range s.defaults {
		property, _ := compiled.Property(name)
		if err := property.ValidateJSON(value); err != nil {
			return fmt.Errorf("the default of %s: %w", name, err)
		}
	}
	return nil
}

// into adds what the arguments' type says to the options: the kernel fills in defaults and secrets before anyone is
// asked.
func (s shape) into(options jsontext.Value) (jsontext.Value, error) {
	if len(s.defaults) == 0 && len(s.envs) == 0 {
		return options, nil
	}
	var given struct {
		Args jsontext.Value `json:"args"`
	}
	if len(options) > 0 {
		if err := json.Unmarshal(options, &given); err != nil {
			return nil, fmt.Errorf("the options: %w", err)
		}
	}
	args, err := given.Args, error(nil)
	if len(s.defaults) > 0 {
		args, err = withOption(args, "defaults", s.defaults)
	}
	if err == nil && len(s.envs) > 0 {
		args, err = withOption(args, "envs", s.envs)
	}
	if err != nil {
		return nil, err
	}
	return withOption(options, "args", args)
}

// withOption returns the options with one more member; the others keep their literal form.
func withOption(options jsontext.Value, name string, value any) (jsontext.Value, error) {
	one, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("the option %s: %w", name, err)
	}
	all := map[string]jsontext.Value{}
	if len(options) > 0 {
		if err := json.Unmarshal(options, &all); err != nil {
			return nil, fmt.Errorf("the options: %w", err)
		}
	}
	all[name] = one
	raw, err := json.Marshal(all, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("the options: %w", err)
	}
	return raw, nil
}
