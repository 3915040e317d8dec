package pacing

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep"
)

// scope is the capability of our own extension.
type scope struct {
	// SessionIDs narrows the subscription; nil means every session, none means none.
	SessionIDs []string `json:"session_ids,omitzero"`
	// ObserveQuestions shows questions to one who cannot answer them (C-46).
	ObserveQuestions bool `json:"observe_questions,omitzero"`
	// Numbers counts what is sent of each session (C-42).
	Numbers bool `json:"numbers,omitzero"`
}

// readScope reads the capability; members that it does not know are ignored.
func readScope(object jsontext.Value) (scope, error) {
	var s scope
	if object == nil {
		return s, nil
	}
	document := aaep.Read(object)
	if !document.Readable() || len(document.Violations()) > 0 {
		return scope{}, errors.New("expected one JSON object")
	}
	for _, flag := range []struct {
		name string
		to   *bool
	}{{"observe_questions", &s.ObserveQuestions}, {"numbers", &s.Numbers}} {
		if !document.Has(flag.name) {
			continue
		}
		value, ok := document.Flag(flag.name)
		if !ok {
			return scope{}, fmt.Errorf("expected %s to be true or false", flag.name)
		}
		*flag.to = value
	}
	if !document.Has("session_ids") {
		return s, nil
	}
	var ids struct {
		SessionIDs []string `json:"session_ids"`
	}
	if err := json.Unmarshal(object, &ids); err != nil || ids.SessionIDs == nil {
		return scope{}, errors.New("expected session_ids to be an array of session ids")
	}
	for _, id := range ids.SessionIDs {
		if !aaep.PatternSessionID.Match(id) {
			return scope{}, fmt.Errorf("found %q in session_ids, expected session ids", clip(id))
		}
	}
	s.SessionIDs = ids.SessionIDs
	return s, nil
}

// write returns the capability as it is honoured, or nil where it says nothing.
func (s scope) write() jsontext.Value {
	if s.SessionIDs == nil && !s.ObserveQuestions && !s.Numbers {
		return nil
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil // ids of the pattern and flags can always be written
	}
	return raw
}

// prefixesOf returns the prefixes of extensions; clash is one that two of them use
// (HS-46), or "".
func prefixesOf(extensions []string, o Offer) (prefixes []string, clash string) {
	for _, uri := range extensions {
		for _, prefix := range o.prefixesOf(uri) {
			if slices.Contains(prefixes, prefix) {
				return nil, prefix
			}
			prefixes = append(prefixes, prefix)
		}
	}
	return prefixes, ""
}
