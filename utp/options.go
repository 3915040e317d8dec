package utp

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options are the part of a definition's options that changes arguments (UTP, "Arguments"). Unknown options are
// ignored.
type Options struct {
	// Defaults apply to absent arguments; an explicit null is present.
	Defaults map[string]jsontext.Value
	// Fixed values always replace the given ones.
	Fixed map[string]jsontext.Value
	// Envs maps arguments to the variables of the service's environment that supply their values. Given values for them
	// are deleted.
	Envs map[string]string
	// UIAllowed lets user interfaces have the tool called without a model, see [UIAction].
	UIAllowed bool
	// Enforcement is never empty.
	Enforcement Enforcement
}

// ParseOptions reads a definition's options: `args.defaults`, `args.fixed`, `envs` either beside or inside `args`
// (U-44), and Earshot's own `enforcement`. An empty raw and null mean no options. The error is a [*DefinitionError].
func ParseOptions(raw jsontext.Value) (Options, error) {
	raw = orEmptyObject(raw)
	wrong := func(field, found, expected string, err error) error {
		return &DefinitionError{Field: "options" + field, Found: found, Expected: expected, Err: err}
	}
	if raw.Kind() != jsontext.KindBeginObject {
		return Options{}, wrong("", "not an object", "a JSON object", nil)
	}
	var in struct {
		Args struct {
			Defaults map[string]jsontext.Value `json:"defaults"`
			Fixed    map[string]jsontext.Value `json:"fixed"`
			Envs     map[string]string         `json:"envs"`
		} `json:"args"`
		Envs        map[string]string `json:"envs"`
		Enforcement Enforcement       `json:"enforcement"`
		UIAllowed   jsontext.Value    `json:"ui_allowed"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Options{}, wrong("", "malformed: "+clip(err.Error()), "args.{defaults,fixed} objects and envs of strings", err)
	}
	o := Options{Defaults: in.Args.Defaults, Fixed: in.Args.Fixed, Envs: map[string]string{}, Enforcement: Enforced}
	o.UIAllowed = in.UIAllowed.Kind() == jsontext.KindTrue // anything else does not allow it
	if in.Enforcement != "" {
		o.Enforcement = in.Enforcement
	}
	if !o.Enforcement.Valid() {
		return Options{}, wrong(".enforcement", Shown(string(in.Enforcement)), "enforced, broker-only or advisory", nil)
	}
	for _, envs := range []map[string]string{in.Envs, in.Args.Envs} {
		for arg, env := range envs {
			if !validID(env) {
				return Options{}, wrong(".envs", Shown(env), "the name of an environment variable", nil)
			}
			if before, twice := o.Envs[arg]; twice && before != env {
				return Options{}, wrong(".envs", "two names for "+Shown(arg), "one", nil)
			}
			o.Envs[arg] = env
		}
	}
	return o, nil
}
