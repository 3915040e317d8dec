package utp

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Resolved holds arguments with the definition's options applied, and what was changed. The lists are in alphabetical
// order.
type Resolved struct {
	Args jsontext.Value
	// Defaults names the arguments that were absent and received their default.
	Defaults []string
	// Fixed names the arguments that were set, whatever value was given.
	Fixed []string
	// Envs maps arguments that are still to be filled in to the variable's name. Given values for them are deleted. See
	// [SetMember].
	Envs map[string]string
}

// Resolve applies the options of a tool to arguments, before anyone is asked (UTP, "Arguments"): defaults for absent
// members, then the fixed values, then the envs, which override both. An empty text and null count as an empty object.
// All other members keep their literal bytes; if nothing changes, so does the whole text. Resolve does not validate the
// arguments; [Canonical] does. The error is an [*ArgumentError].
func Resolve(args jsontext.Value, opts Options) (Resolved, error) {
	args = orEmptyObject(args)
	given, err := members(args)
	if err != nil {
		return Resolved{}, err
	}
	present := make(map[string]bool, len(given))
	for _, m := range given {
		present[m.name] = true
	}
	out := Resolved{Args: args, Envs: maps.Clone(opts.Envs)}
	result := map[string]jsontext.Value{}
	for _, name := range slices.Sorted(maps.Keys(opts.Fixed)) {
		if _, env := opts.Envs[name]; !env {
			out.Fixed = append(out.Fixed, name)
			result[name] = opts.Fixed[name]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Defaults)) {
		_, env := opts.Envs[name]
		_, fixed := opts.Fixed[name]
		if !env && !fixed && !present[name] {
			out.Defaults = append(out.Defaults, name)
			result[name] = opts.Defaults[name]
		}
	}
	changed := len(result) > 0
	for name := range opts.Envs {
		changed = changed || present[name]
	}
	if !changed {
		return out, nil
	}
	out.Args, err = rebuild(given, result, opts.Envs)
	return out, err
}

// rebuild writes the members in their order with their new values, then the added members in alphabetical order. It
// omits the members in drop.
func rebuild(given []member, result map[string]jsontext.Value, drop map[string]string) (jsontext.Value, error) {
	b := []byte{'{'}
	write := func(literal, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, literal...), ':'), value...)
	}
	for _, m := range given {
		if _, dropped := drop[m.name]; dropped {
			continue
		}
		if value, ok := result[m.name]; ok {
			m.value = value
		}
		write(m.literal, m.value)
	}
	for _, name := range slices.Sorted(maps.Keys(result)) {
		value := result[name]
		if !value.IsValid() {
			return nil, &ArgumentError{Pointer: pointerTo(name), Found: "an option that is not JSON value", Expected: "one"}
		}
		if slices.ContainsFunc(given, func(m member) bool { return m.name == name }) {
			continue
		}
		literal, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return nil, &ArgumentError{Pointer: pointerTo(name), Found: "a name that is not UTF-8", Expected: "UTF-8", Err: err}
		}
		write(literal, value)
	}
	return append(b, '}'), nil
}
