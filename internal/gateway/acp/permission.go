package acp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
)

// noDetails is what a question says if the agent shows only a title.
const noDetails = "The agent does not show the details."

// readPermission reads the parameters of session/request_permission.
func readPermission(params jsontext.Value) (permissionRequest, error) {
	var p permissionRequest
	if err := json.Unmarshal(params, &p); err != nil {
		return p, err //nolint:wrapcheck // the caller says what it is about
	}
	if p.ToolCall.ID == "" {
		return p, errors.New("it names no tool call")
	}
	ids := map[string]bool{}
	for _, o := range p.Options {
		if ids[o.ID] { // a no could be taken for a yes
			return p, errors.New("two of its options have the same id")
		}
		ids[o.ID] = true
	}
	return p, nil
}

// optionsOf returns the options of a kind.
func optionsOf(all []option, kind string) []option {
	var some []option
	for _, o := range all {
		if o.Kind == kind && o.ID != "" {
			some = append(some, o)
		}
	}
	return some
}

// single returns the first option of a kind; "" is none.
func single(all []option, kind string) string {
	if some := optionsOf(all, kind); len(some) > 0 {
		return some[0].ID
	}
	return ""
}

func names(options []option) string {
	list := make([]string, 0, len(options))
	for _, o := range options {
		list = append(list, o.Name)
	}
	return strings.Join(list, ", ")
}

// aside are members of a tool's input that are about the request itself, such as its number. They are shown last.
var aside = map[string]bool{
	"call_id": true, "turn_id": true, "started_at_ms": true, "approval_id": true, "available_decisions": true, "proposed_execpolicy_amendment": true,
	"proposed_network_policy_amendments": true, "parsed_cmd": true,
}

// sorted returns a tool's input in two parts: what a person decides about, and what is about the request itself. Every
// value stays as it is.
func sorted(input jsontext.Value) (first, last jsontext.Value) {
	if input.Kind() != '{' {
		return input, nil
	}
	var parts [2]bytes.Buffer
	d := jsontext.NewDecoder(bytes.NewReader(input))
	if _, err := d.ReadToken(); err != nil {
		return input, nil
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return input, nil
		}
		name = name.Clone()
		value, err := d.ReadValue()
		if err != nil {
			return input, nil
		}
		part := &parts[0]
		if text, err := jsontext.AppendUnquote(nil, name); err == nil && aside[string(text)] {
			part = &parts[1]
		}
		fmt.Fprintf(part, ",%s:%s", name, value)
	}
	object := func(members []byte) jsontext.Value {
		if len(members) == 0 {
			return nil
		}
		return jsontext.Value("{" + string(members[1:]) + "}")
	}
	if parts[0].Len() == 0 { // all of it is about the request
		return input, nil
	}
	return object(parts[0].Bytes()), object(parts[1].Bytes())
}

// shown is all that an agent shows of what it asks for. A person is shown all of it, and the receipt is bound to it.
type shown struct {
	Title     string         `json:"title,omitempty"`
	Input     jsontext.Value `json:"input,omitempty"`
	Details   string         `json:"details,omitempty"`
	Changes   []string       `json:"changes,omitempty"`
	Locations []location     `json:"locations,omitempty"`
	Says      []string       `json:"text,omitempty"`
	Files     []file         `json:"files,omitempty"`
	Request   jsontext.Value `json:"request,omitempty"` // members of the input that are about the request itself
}

// file is a file before and after a change, to be read on request.
type file struct {
	Path   string `json:"path"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// permission returns what a person is asked.
func (c *call) permission() api.AgentPermission {
	s := shown{Title: c.Title, Locations: c.Locations}
	s.Input, s.Request = sorted(c.input())
	for _, one := range c.contents() {
		switch {
		case one.Type == "diff":
			s.Changes = append(s.Changes, one.change())
			s.Files = append(s.Files, file{Path: one.Path, Before: one.Old, After: one.New})
		case one.Content.words() != "":
			s.Says = append(s.Says, one.Content.words())
		}
	}
	if s.Input == nil {
		s.Details = noDetails
	}
	raw, err := json.Marshal(s, json.Deterministic(true))
	if err != nil { // it was read from JSON a moment ago
		raw = jsontext.Value(`{"details":"What the agent shows cannot be read."}`)
	}
	return api.AgentPermission{Tool: c.tool(), Input: raw, HostCall: c.ID, Ask: !c.looks()}
}

// looks reports whether the kind of the call is one that has no effect, so that a rule of the policy may allow it without
// a person. The agent names the kind.
func (c *call) looks() bool {
	return c.ToolKind == "read" || c.ToolKind == "search" || c.ToolKind == "think"
}

// tool returns the name of the tool at Earshot: the protocol has no names of tools, only kinds.
func (c *call) tool() string {
	const most = 100
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:/-", r) {
			return r
		}
		return -1
	}, c.ToolKind)
	if name == "" {
		return "other"
	}
	return name[:min(len(name), most)]
}
