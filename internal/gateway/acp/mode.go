package acp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// NoMode stands for the mode of an agent that names none.
const NoMode = "none"

// reviewed are the modes of agents in which they ask before they change anything, the preferred one first, each with
// words for people. They were tried with claude-agent-acp 0.101.0, gemini 0.61.0, codex-acp 0.16.0, qwen 0.24.4 and opencode
// 1.18.33, whose mode is the one of [Environment]. A mode that is not here counts as one that does not ask.
var reviewed = map[string][]reviewedMode{
	"claude": {{"default", "it asks before it uses tools"}, {"plan", "it plans, and changes nothing"}},
	"gemini": {{"default", "it asks before it uses tools"}, {"plan", "it plans, and changes nothing"}},
	"codex":  {{"read-only", "it asks before it changes files or leaves its sandbox"}},
	"qwen":   {{"default", "it asks before it uses tools"}, {"plan", "it plans, and changes nothing"}},

	"opencode": {{askingMode, "it asks before it uses tools"}},
}

type reviewedMode struct{ id, words string }

// modes are what is known about the modes of a session.
type modes struct {
	agent   string // by its name at Earshot
	allowed string // the mode that the person has named; "" is none
	current string
	listed  []Mode
	option  string // the setting that holds the mode; "" if the agent has session/set_mode
}

// open reads the modes of a session that was just opened.
func (s *modes) open(o Opened) {
	if o.Modes != nil && len(o.Modes.Available) > 0 {
		s.listed, s.current = o.Modes.Available, o.Modes.Current
		return
	}
	for _, c := range o.Options {
		if value, is := c.mode(); is {
			s.current, s.option, s.listed = value, c.ID, c.listed()
		}
	}
}

// mode returns the value of the setting that holds the mode.
func (c ConfigOption) mode() (value string, is bool) {
	if c.Category != "mode" && c.ID != "mode" {
		return "", false
	}
	if json.Unmarshal(c.Current, &value) != nil {
		value = "" // not known, and so none that asks
	}
	return value, true
}

// listed returns the values that the setting can have. They may be grouped.
func (c ConfigOption) listed() []Mode {
	type one struct {
		Value   string `json:"value"`
		Name    string `json:"name"`
		Options []one  `json:"options"`
	}
	var all []one
	if json.Unmarshal(c.Options, &all) != nil {
		return nil
	}
	var list []Mode
	for _, o := range all {
		for _, o := range append([]one{o}, o.Options...) {
			if o.Value != "" {
				list = append(list, Mode{ID: o.Value, Name: o.Name})
			}
		}
	}
	return list
}

// wanted returns the mode to work in: the one that the person has named, or one in which the agent asks.
func (s *modes) wanted() (string, error) {
	switch {
	case s.allowed != "" && (s.has(s.allowed) || s.allowed == NoMode && len(s.listed) == 0):
		return s.allowed, nil
	case s.allowed != "":
		return "", fmt.Errorf("it has no mode %q; it names %s", s.allowed, s.names())
	case len(s.listed) == 0:
		return "", errors.New("it names no modes, so that nobody can tell whether it asks before it acts")
	}
	for _, m := range reviewed[s.agent] {
		if s.has(m.id) {
			return m.id, nil
		}
	}
	return "", fmt.Errorf("none of its modes is known as one in which it asks before it acts; it names %s", s.names())
}

func (s *modes) has(id string) bool {
	return slices.ContainsFunc(s.listed, func(m Mode) bool { return m.ID == id })
}

// asks reports whether the agent may work in the mode.
func (s *modes) asks(id string) bool {
	return id != "" && id == s.allowed || slices.ContainsFunc(reviewed[s.agent], func(m reviewedMode) bool { return m.id == id })
}

// names lists the modes for a person.
func (s *modes) names() string {
	if len(s.listed) == 0 {
		return "none"
	}
	list := make([]string, 0, len(s.listed))
	for _, m := range s.listed {
		list = append(list, m.ID)
	}
	return strings.Join(list, ", ")
}

// example is a value of --allow-mode.
func (s *modes) example() string {
	if len(s.listed) == 0 {
		return NoMode
	}
	return "with the name of its mode"
}

// words describes a mode for a person.
func (s *modes) words(id string) string {
	name := id
	for _, m := range s.listed {
		if m.ID == id && m.Name != "" && !strings.EqualFold(m.Name, id) {
			name = fmt.Sprintf("%s (%s)", m.Name, id)
		}
	}
	for _, m := range reviewed[s.agent] {
		if m.id == id {
			return name + ": " + m.words
		}
	}
	return cmp.Or(name, "not known") + ": it may act without asking"
}
