package tool

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// keyword is a struct tag that becomes the JSON Schema keyword of the same name.
type keyword struct {
	// fits are the JSON types that the keyword applies to; none means all.
	fits []string
	// read converts the tag's text to the keyword's value.
	read func(text string) (any, bool)
}

var keywords = map[string]keyword{
	"description":      {read: asText},
	"format":           {fits: []string{"string"}, read: asText},
	"pattern":          {fits: []string{"string"}, read: asText},
	"minLength":        {fits: []string{"string"}, read: asCount},
	"maxLength":        {fits: []string{"string"}, read: asCount},
	"minimum":          {fits: numeric(), read: asNumber},
	"maximum":          {fits: numeric(), read: asNumber},
	"exclusiveMinimum": {fits: numeric(), read: asNumber},
	"exclusiveMaximum": {fits: numeric(), read: asNumber},
	"multipleOf":       {fits: numeric(), read: asNumber},
	"minItems":         {fits: []string{"array"}, read: asCount},
	"maxItems":         {fits: []string{"array"}, read: asCount},
	"uniqueItems":      {fits: []string{"array"}, read: asBool},
}

func numeric() []string { return []string{"integer", "number"} }

func asText(text string) (any, bool) { return text, text != "" }

func asCount(text string) (any, bool) {
	n, err := strconv.ParseUint(text, 10, 31)
	return n, err == nil
}

func asNumber(text string) (any, bool) {
	v := jsontext.Value(text)
	return v, v.IsValid() && v.Kind() == jsontext.KindNumber
}

func asBool(text string) (any, bool) {
	b, err := strconv.ParseBool(text)
	return b, err == nil
}

// keywords adds the keywords of a field's tags to its schema.
func (d *deriver) keywords(f reflect.StructField, n node, path string) error {
	for _, name := range slices.Sorted(maps.Keys(keywords)) {
		text, given := f.Tag.Lookup(name)
		if !given {
			continue
		}
		k := keywords[name]
		value, ok := k.read(text)
		if !ok {
			return d.refuse(f.Type, path, "its tag "+name+":"+strconv.Quote(text)+" cannot be read")
		}
		about, ok := k.about(n)
		if !ok {
			return d.refuse(f.Type, path, "the keyword "+name+" is not about this type")
		}
		about[name] = value
	}
	return d.choices(f, n, path)
}

// about returns the schema that the keyword belongs to: this one, or that of its items.
func (k keyword) about(n node) (node, bool) {
	for k.fits != nil {
		kind, _ := n[keyType].(string)
		if slices.Contains(k.fits, kind) {
			break
		}
		items, ok := n[keyItems].(node)
		if !ok {
			return nil, false
		}
		n = items
	}
	return n, true
}

// choices adds the enum of a field; the tag separates its values with commas.
func (d *deriver) choices(f reflect.StructField, n node, path string) error {
	text, given := f.Tag.Lookup("enum")
	if !given {
		return nil
	}
	about, ok := keyword{fits: []string{"string", "integer", "number"}}.about(n)
	if !ok {
		return d.refuse(f.Type, path, "the keyword enum is about strings and numbers")
	}
	values := []jsontext.Value{}
	for one := range strings.SplitSeq(text, ",") {
		value, ok := literal(about, one)
		if !ok {
			return d.refuse(f.Type, path, "its enum has "+strconv.Quote(one)+", which is not of its type")
		}
		values = append(values, value)
	}
	about["enum"] = values
	return nil
}

// preset records the default of a member. The kernel fills it in before anyone is asked, so that the person sees it.
func (d *deriver) preset(f reflect.StructField, n node, text, name, path string) error {
	at := path + "." + name
	if path != "" {
		return d.refuse(f.Type, at, "a default is put in beside the arguments only, not inside one; use omitzero, and choose in the tool")
	}
	value, ok := literal(n, text)
	if !ok {
		return d.refuse(f.Type, at, "its default "+strconv.Quote(text)+" is not of its type")
	}
	n["default"] = value
	if d.defaults == nil {
		d.defaults = map[string]jsontext.Value{}
	}
	d.defaults[name] = value
	return nil
}

// literal converts the text of a tag to a value of the schema's type: a string is taken literally, everything else is
// JSON.
func literal(n node, text string) (jsontext.Value, bool) {
	if n[keyType] == "string" {
		quoted, err := jsontext.AppendQuote(nil, text)
		return quoted, err == nil
	}
	v := jsontext.Value(strings.TrimSpace(text))
	if !v.IsValid() {
		return nil, false
	}
	switch kind := v.Kind(); n[keyType] {
	case "integer", "number":
		return v, kind == jsontext.KindNumber
	case "boolean":
		return v, kind == jsontext.KindTrue || kind == jsontext.KindFalse
	case "array":
		return v, kind == jsontext.KindBeginArray
	case "object":
		return v, kind == jsontext.KindBeginObject
	default:
		return v, true
	}
}
