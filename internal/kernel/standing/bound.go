package standing

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// BoundError says why a bound cannot be given, for people.
type BoundError struct {
	Argument string // its JSON pointer
	Message  string
}

func (e *BoundError) Error() string { return "the bound on " + Name(e.Argument) + ": " + e.Message }

// Complete checks bounds against the arguments of the accepted call, which they have to meet, and adds one for each
// argument that they do not cover: it has to stay as it is. Values become canonical.
func Complete(bounds []api.Bound, args jsontext.Value) ([]api.Bound, error) {
	if len(bounds) > api.MaxStandingBounds {
		return nil, &BoundError{Message: fmt.Sprintf("there are %d bounds, and at most %d can be given", len(bounds), api.MaxStandingBounds)}
	}
	given := make([]api.Bound, 0, len(bounds))
	for _, b := range bounds {
		b, err := checked(b, given)
		if err != nil {
			return nil, err
		}
		given = append(given, b)
	}
	var found []string
	var wrong *BoundError
	all := slices.Clone(given)
	err := walk(args, given, func(b *api.Bound, at string, v jsontext.Value) {
		switch {
		case b == nil:
			all = append(all, api.Bound{Argument: at, Rule: api.BoundEquals, Value: slices.Clone(v)})
		case !met(*b, v) && wrong == nil:
			wrong = &BoundError{Argument: at, Message: "the call that you accept does not meet it"}
			if hasSecret(v) {
				wrong.Message = "it holds a secret, which can only stay as it is"
			}
		default:
			found = append(found, at)
		}
	})
	if err != nil {
		return nil, err
	}
	if wrong != nil {
		return nil, wrong
	}
	for _, b := range given {
		if !slices.Contains(found, b.Argument) {
			return nil, &BoundError{Argument: b.Argument, Message: "the call that you accept has no such argument"}
		}
	}
	if len(all) > maxBounds {
		return nil, &BoundError{Message: fmt.Sprintf("the call has more than %d arguments, too many for a standing permission", maxBounds)}
	}
	return all, nil
}

// maxBounds is the most bounds that a permission keeps, with those that were added.
const maxBounds = 256

// checked checks a bound by itself and against the others.
func checked(b api.Bound, others []api.Bound) (api.Bound, error) {
	fail := func(message string) (api.Bound, error) {
		return b, &BoundError{Argument: b.Argument, Message: message}
	}
	if !strings.HasPrefix(b.Argument, "/") {
		return fail("an argument is named by a JSON pointer, such as /path")
	}
	for _, other := range others {
		if within(other.Argument, b.Argument) || within(b.Argument, other.Argument) {
			return fail("two bounds are for the same argument")
		}
	}
	switch b.Rule {
	case api.BoundAny:
		b.Value = nil
		return b, nil
	case api.BoundEquals:
	case api.BoundBegins:
		text, isText := textOf(b.Value)
		switch {
		case !isText || text == "":
			return fail("begins takes the beginning of a text; say any to allow every one")
		case unsafeText(text):
			return fail("the beginning of a text has no control characters, and no folder \"..\"")
		}
	case api.BoundMost:
		if most, isNumber := numberOf(b.Value); !isNumber || most < 0 {
			return fail("at_most takes a number from 0 on")
		}
	default:
		return fail("its rule is equals, begins, at_most or any")
	}
	const before, after = `{"v":`, `}`
	canonical, err := utp.Canonical([]byte(before + string(b.Value) + after))
	if err != nil || len(b.Value) == 0 {
		return fail("its value cannot be read")
	}
	b.Value = canonical[len(before) : len(canonical)-len(after)]
	return b, nil
}

// Match reports whether arguments in their canonical form meet the bounds: each argument is covered by one and meets
// it, and none that is bound is missing, but for those that may be anything.
func Match(bounds []api.Bound, args jsontext.Value) bool {
	fits := true
	seen := map[string]bool{}
	err := walk(args, bounds, func(b *api.Bound, at string, v jsontext.Value) {
		seen[at] = true
		fits = fits && b != nil && met(*b, v)
	})
	for _, b := range bounds {
		fits = fits && (seen[b.Argument] || b.Rule == api.BoundAny)
	}
	return err == nil && fits
}

// walk visits each argument: with its bound, or with none if nothing covers it. It looks inside an object only if some
// bound is about a part of it.
func walk(args jsontext.Value, bounds []api.Bound, visit func(b *api.Bound, at string, v jsontext.Value)) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(args, &members); err != nil || args.Kind() != jsontext.KindBeginObject {
		return &BoundError{Message: "the arguments are not an object"}
	}
	walkInto(members, "", bounds, visit)
	return nil
}

func walkInto(members map[string]jsontext.Value, at string, bounds []api.Bound, visit func(*api.Bound, string, jsontext.Value)) {
	for _, name := range sortedKeys(members) {
		v, here := members[name], at+"/"+escape(name)
		i := slices.IndexFunc(bounds, func(b api.Bound) bool { return b.Argument == here })
		if i >= 0 {
			visit(&bounds[i], here, v)
			continue
		}
		var inner map[string]jsontext.Value
		parts := slices.ContainsFunc(bounds, func(b api.Bound) bool { return within(b.Argument, here) })
		if parts && v.Kind() == jsontext.KindBeginObject && json.Unmarshal(v, &inner) == nil {
			walkInto(inner, here, bounds, visit)
			continue
		}
		visit(nil, here, v)
	}
}

// met reports whether a value meets a bound. A list does if it is not empty and each element does.
func met(b api.Bound, v jsontext.Value) bool {
	switch b.Rule {
	case api.BoundEquals:
		return bytes.Equal(b.Value, v)
	case api.BoundAny:
		return !hasSecret(v)
	case api.BoundBegins, api.BoundMost:
	default:
		return false
	}
	if v.Kind() != jsontext.KindBeginArray {
		return scalarMet(b, v)
	}
	var elements []jsontext.Value
	if json.Unmarshal(v, &elements) != nil {
		return false
	}
	return len(elements) > 0 && !slices.ContainsFunc(elements, func(e jsontext.Value) bool { return !scalarMet(b, e) })
}

func scalarMet(b api.Bound, v jsontext.Value) bool {
	if b.Rule == api.BoundBegins {
		text, isText := textOf(v)
		beginning, _ := textOf(b.Value)
		return isText && begins(text, beginning)
	}
	n, isNumber := numberOf(v)
	most, _ := numberOf(b.Value)
	return isNumber && n >= 0 && n <= most
}

// hasSecret reports whether a canonical value refers to a secret.
func hasSecret(v jsontext.Value) bool { return bytes.Contains(v, []byte(`"$secret"`)) }

func textOf(v jsontext.Value) (string, bool) {
	var text string
	return text, v.Kind() == jsontext.KindString && json.Unmarshal(v, &text) == nil
}

func numberOf(v jsontext.Value) (float64, bool) {
	if v.Kind() != jsontext.KindNumber {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return n, err == nil
}

// within reports whether a pointer is another one, or leads into what that points to.
func within(inner, outer string) bool { return inner == outer || strings.HasPrefix(inner, outer+"/") }

func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
