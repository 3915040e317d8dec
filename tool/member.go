package tool

import (
	"reflect"
	"slices"
	"strings"
)

// object returns the closed schema of a struct.
func (d *deriver) object(t reflect.Type, path string) (node, error) {
	properties, required := node{}, []string{}
	if err := d.members(t, path, properties, &required); err != nil {
		return nil, err
	}
	n := node{keyType: "object", keyProperties: properties, "additionalProperties": false}
	if len(required) > 0 {
		slices.Sort(required) // so that the order of the fields does not change the definition
		n["required"] = required
	}
	return n, nil
}

// members adds the fields of a struct, including those of embedded structs.
func (d *deriver) members(t reflect.Type, path string, properties node, required *[]string) error {
	for f := range t.Fields() {
		name, options, err := d.tagged(f, path)
		if err != nil {
			return err
		}
		switch {
		case name == "-" && options == "", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct {
				return d.refuse(f.Type, path+"."+f.Name, "only a struct is embedded, by value; give the field a name")
			}
			if err := d.members(f.Type, path, properties, required); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			return d.refuse(f.Type, path+"."+name, "the field is not exported")
		case name == "":
			name = f.Name
		}
		if _, twice := properties[name]; twice {
			return d.refuse(f.Type, path+"."+name, "two fields have this name")
		}
		member, optional, err := d.member(f, name, path)
		if err != nil {
			return err
		}
		properties[name] = member
		if !optional && options == "" && f.Type.Kind() != reflect.Pointer {
			*required = append(*required, name)
		}
	}
	return nil
}

// tagged parses a json tag. It accepts the options omitzero and omitempty; others change decoding in ways that a schema
// cannot express.
func (d *deriver) tagged(f reflect.StructField, path string) (name, options string, err error) {
	name, options, _ = strings.Cut(f.Tag.Get("json"), ",")
	for option := range strings.SplitSeq(options, ",") {
		if option != "" && option != "omitzero" && option != "omitempty" {
			return "", "", d.refuse(f.Type, path+"."+f.Name, "the option "+option+" of its json tag is not supported; use omitzero, omitempty or none")
		}
	}
	return name, options, nil
}

// member returns the schema of one field, including its tags.
func (d *deriver) member(f reflect.StructField, name, path string) (n node, optional bool, err error) {
	at := path + "." + name
	env := f.Tag.Get("env")
	if f.Type == secretType {
		n, err = d.secret(f.Type, name, path, env)
		if n != nil && f.Tag.Get("description") != "" {
			n["description"] = f.Tag.Get("description")
		}
		return n, false, err
	}
	if env != "" {
		return nil, false, d.refuse(f.Type, at, "only a tool.Secret comes from the operator's environment")
	}
	if n, err = d.of(f.Type, at); err != nil {
		return nil, false, err
	}
	if err := d.keywords(f, n, at); err != nil {
		return nil, false, err
	}
	text, given := f.Tag.Lookup("default")
	if !given {
		return n, false, nil
	}
	return n, true, d.preset(f, n, text, name, path)
}

// secret is a member that the operator's environment supplies, by reference.
func (d *deriver) secret(t reflect.Type, name, path, env string) (node, error) {
	switch {
	case path != "":
		return nil, d.refuse(t, path+"."+name, "a secret stands beside the arguments, not inside one")
	case env == "":
		return nil, d.refuse(t, path+"."+name, `a secret needs the tag env:"NAME", a variable of the operator's`)
	}
	if d.envs == nil {
		d.envs = map[string]string{}
	}
	d.envs[name] = env
	return node{keyType: "string", "x-secret": true}, nil
}
