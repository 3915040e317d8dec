package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// check returns what is wrong with the value of a keyword, but for the schemas within it.
func (s shape) check(v any, in version) error {
	switch s {
	case aString, aPattern, anAnchor, anIdentifier:
		return s.checkText(v, in)
	case aFlag:
		return expect(v, "true or false", typeBoolean)
	case aNumber, aPositive, aCount:
		return s.checkNumber(v)
	case anArray, schemaList:
		if list, is := v.([]any); is && len(list) == 0 && s == schemaList {
			return errors.New("found an empty list, expected at least one schema")
		}
		return expect(v, "a list", typeArray)
	case someNames:
		return checkNames(v, in == draft4)
	case aType:
		return checkType(v)
	case schemaMap, patternMap, namesMap, dependencyMap:
		return s.checkMap(v)
	case aSchema, aSchemaOrList, aSchemaOrFlag:
		if list, is := v.([]any); is && s == aSchemaOrList {
			return schemaList.check(list, in)
		}
		return checkSchema(v, in > draft4 || s == aSchemaOrFlag)
	default:
		return nil
	}
}

func expect(v any, what string, want types) error {
	found := typeOf(v)
	if found&want != 0 {
		return nil
	}
	return fmt.Errorf("found %s, expected %s", typed(strings.Join(found.names(), "")), what)
}

func checkSchema(v any, flags bool) error {
	if flags {
		return expect(v, "a schema", typeObject|typeBoolean)
	}
	return expect(v, "a schema, which is an object", typeObject)
}

func (s shape) checkText(v any, in version) error {
	text, is := v.(string)
	if !is {
		return expect(v, "text", typeString)
	}
	switch s {
	case aPattern:
		_, err := compilePattern(text)
		return err
	case anAnchor:
		if !isAnchor(text, in) {
			return fmt.Errorf("%.64q is not the name of an anchor", text)
		}
	case anIdentifier:
		if _, fragment, _ := strings.Cut(text, "#"); fragment != "" && in >= draft2019 {
			return fmt.Errorf("%.200q has a part behind #, expected an address without one", text)
		}
	default:
	}
	return nil
}

// isAnchor reports whether a text is a name as $anchor takes it.
func isAnchor(text string, in version) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' && in >= draft2020
		later := c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == ':' && in < draft2020
		if !letter && (i == 0 || !later) {
			return false
		}
	}
	return text != ""
}

func (s shape) checkNumber(v any) error {
	number, is := v.(json.Number)
	if !is {
		return expect(v, "a number", typeNumber)
	}
	d := parseDecimal(string(number))
	switch {
	case s == aPositive && (d.negative || d.digits == ""):
		return fmt.Errorf("found %s, expected a number above 0", d)
	case s == aCount && (d.negative || !d.whole()):
		return fmt.Errorf("found %s, expected a whole number of at least 0", d)
	}
	return nil
}

func checkNames(v any, notEmpty bool) error {
	list, is := v.([]any)
	if !is {
		return expect(v, "a list of names", typeArray)
	}
	seen := map[string]bool{}
	for _, entry := range list {
		name, is := entry.(string)
		if !is {
			return expect(entry, "a list of names", typeString)
		}
		if seen[name] {
			return fmt.Errorf("%.64q is listed twice", name)
		}
		seen[name] = true
	}
	if notEmpty && len(list) == 0 {
		return errors.New("found an empty list, expected at least one name")
	}
	return nil
}

func checkType(v any) error {
	list, several := v.([]any)
	if !several {
		list = []any{v}
	}
	if len(list) == 0 {
		return errors.New("found an empty list, expected at least one type")
	}
	for _, entry := range list {
		name, is := entry.(string)
		if !is {
			return expect(entry, "the name of a type", typeString)
		}
		if _, known := typeNamed(name); !known {
			return fmt.Errorf("found %.64q, expected one of %s", name, strings.Join(typeNames[:], ", "))
		}
	}
	return checkNames(list, true)
}

func (s shape) checkMap(v any) error {
	members, is := v.(map[string]any)
	if !is {
		return expect(v, "an object", typeObject)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var err error
		_, list := members[name].([]any)
		switch {
		case s == patternMap:
			_, err = compilePattern(name)
		case s == namesMap || s == dependencyMap && list:
			err = checkNames(members[name], false)
		}
		if err != nil {
			return fmt.Errorf("%.64q: %w", name, err)
		}
	}
	return nil
}

// subschemas visits the schemas in the value of a keyword, with the names that lead to each.
func (s shape) subschemas(v any, visit func(value any, names ...string) error) error {
	switch s {
	case aSchema, aSchemaOrFlag, aSchemaOrList, schemaList:
		list, several := v.([]any)
		if !several {
			return visit(v)
		}
		for i, entry := range list {
			if err := visit(entry, strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case schemaMap, patternMap, dependencyMap:
		members, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, list := members[name].([]any); list && s == dependencyMap {
				continue
			}
			if err := visit(members[name], name); err != nil {
				return err
			}
		}
	default:
	}
	return nil
}

// compilePattern compiles a regular expression. It is the only place that knows the engine.
func compilePattern(text string) (*regexp.Regexp, error) {
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%.200q cannot be used as a regular expression: %w", text, err)
	}
	return compiled, nil
}
