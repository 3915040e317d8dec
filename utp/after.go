package utp

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// EffectiveAfter returns what follows a result: a valid `result.__cg_control.after_execution` wins, then the first
// valid candidate, then suspend (U-22). Callers pass the candidates in the order card content, payload, tool
// definition. An override is ignored unless it is exactly one of the two values in the right place; so is a result that
// is not JSON.
func EffectiveAfter(result jsontext.Value, candidates ...AfterExecution) AfterExecution {
	if a := controlAfter(result); a.Valid() {
		return a
	}
	for _, a := range candidates {
		if a.Valid() {
			return a
		}
	}
	return Suspend
}

// controlAfter returns the override in a result, or "".
func controlAfter(result jsontext.Value) AfterExecution {
	if result.Kind() != jsontext.KindBeginObject {
		return ""
	}
	// The types are checked by hand: a __cg_control of another shape is an ordinary member.
	var outer struct {
		Control jsontext.Value `json:"__cg_control"` //nolint:tagliatelle // the name on the wire
	}
	if json.Unmarshal(result, &outer) != nil || outer.Control.Kind() != jsontext.KindBeginObject {
		return ""
	}
	var control struct {
		After jsontext.Value `json:"after_execution"`
	}
	if json.Unmarshal(outer.Control, &control) != nil || control.After.Kind() != jsontext.KindString {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, control.After)
	if err != nil {
		return ""
	}
	return AfterExecution(strings.TrimSpace(string(text)))
}
