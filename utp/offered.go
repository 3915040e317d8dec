package utp

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Offered returns the schema of the arguments for the one that fills them in, such as a language model: without the arguments
// that the definition sets (fixed) or the environment supplies (envs), and with the defaults of the others, which are not
// required (UTP, "Arguments"). Everything else is as in Parameters. The error is a [*DefinitionError] or an
// [*ArgumentError].
func (d Definition) Offered() (jsontext.Value, error) {
	opts, err := ParseOptions(d.Options)
	if err != nil || len(opts.Fixed)+len(opts.Envs)+len(opts.Defaults) == 0 {
		return d.Parameters, err
	}
	given, err := members(d.Parameters)
	if err != nil {
		return nil, err
	}
	changed, empty := map[string]jsontext.Value{}, map[string]string{}
	for _, m := range given {
		switch {
		case m.name == "properties" && m.value.Kind() == jsontext.KindBeginObject:
			if changed[m.name], err = opts.offeredProperties(m.value); err != nil {
				return nil, err
			}
		case m.name == "required" && m.value.Kind() == jsontext.KindBeginArray:
			required, err := opts.offeredRequired(m.value)
			if err != nil {
				return nil, err
			}
			if changed[m.name] = required; string(required) == "[]" { // which older readers of schemas refuse
				empty[m.name] = ""
			}
		}
	}
	return rebuild(given, changed, empty)
}

// hides reports whether an argument is filled in whatever is given.
func (o Options) hides(name string) bool {
	_, fixed := o.Fixed[name]
	_, env := o.Envs[name]
	return fixed || env
}

func (o Options) offeredProperties(properties jsontext.Value) (jsontext.Value, error) {
	given, err := members(properties)
	if err != nil {
		return nil, err
	}
	given = slices.DeleteFunc(given, func(m member) bool { return o.hides(m.name) })
	changed := map[string]jsontext.Value{}
	for _, m := range given {
		value, is := o.Defaults[m.name]
		if !is || m.value.Kind() != jsontext.KindBeginObject {
			continue
		}
		if changed[m.name], err = SetMember(m.value, "default", value); err != nil {
			return nil, err
		}
	}
	return rebuild(given, changed, nil)
}

func (o Options) offeredRequired(required jsontext.Value) (jsontext.Value, error) {
	var names []jsontext.Value
	if err := json.Unmarshal(required, &names); err != nil {
		return nil, argumentError(err)
	}
	left := slices.DeleteFunc(names, func(raw jsontext.Value) bool {
		name, _ := plainText(raw)
		_, filled := o.Defaults[name]
		return filled || o.hides(name)
	})
	return marshal(left)
}
