package roster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// The limits of a definition: entries of a list, bytes of a displayed name, and steps.
const maxEntries, maxDisplay, maxSteps, maxOpen = 256, 128, 1_000_000, 200

// MayUse reports whether the agent may use a tool.
func MayUse(d api.AgentDefinition, tool string) bool {
	return d.IsActive() && (d.Tools == nil || among(d.Tools, tool))
}

// MayAsk reports whether the agent may start turns of another within its own, where its definition decides that at all.
func MayAsk(d api.AgentDefinition, agent string) (may, decided bool) {
	return d.IsActive() && (d.MayAsk == nil || among(d.MayAsk, agent)), d.MayAsk != nil || !d.IsActive()
}

// Submits reports whether an answer with fields is an end that the agent has to end its turns with.
func Submits(d api.AgentDefinition) bool { return slices.Contains(d.MustEndWith, utp.SubmitResult) }

// EndsWith reports whether the tool is one that the agent has to end its turns with.
func EndsWith(d api.AgentDefinition, tool string) bool { return among(d.MustEndWith, tool) }

func among(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Matches(p, name) })
}

// Matches reports whether a name equals the pattern, or begins with the part before its star.
func Matches(pattern, name string) bool {
	prefix, wild := CutStar(pattern)
	return pattern == name || wild && strings.HasPrefix(name, prefix)
}

// CutStar returns a pattern without the star at its end, and whether it has one.
func CutStar(pattern string) (string, bool) { return strings.CutSuffix(pattern, "*") }

// InvalidError says what is wrong with a definition.
type InvalidError struct {
	// Field is the member, and Index its entry that is wrong; -1 is the member itself.
	Field           string
	Index           int
	Found, Expected string
}

func (e *InvalidError) Error() string {
	place := e.Field
	if e.Index >= 0 {
		place = fmt.Sprintf("entry %d of %s", e.Index+1, e.Field)
	}
	return place + ": " + e.Found + "; expected " + e.Expected
}

// Check returns an [*InvalidError] unless a definition can be recorded.
func Check(d api.AgentDefinition) error {
	wrong := func(field, found, expected string) error {
		return &InvalidError{Field: field, Index: -1, Found: "it is " + found, Expected: expected}
	}
	switch {
	case !utp.ValidToken(d.Name):
		return wrong("name", utp.Shown(d.Name), "1 to 128 of A-Z a-z 0-9 _ -")
	case d.Name == api.OperatorAgent:
		return wrong("name", utp.Shown(d.Name), "the name of an agent; this one stands for operators")
	case len(d.DisplayName) > maxDisplay || strings.TrimSpace(d.DisplayName) != d.DisplayName || strings.ContainsFunc(d.DisplayName, unreadable):
		return wrong("display_name", utp.Shown(d.DisplayName), "one line of at most 128 bytes, without space around it")
	case d.MaxSteps < 0 || d.MaxSteps > maxSteps:
		return wrong("max_steps", strconv.Itoa(d.MaxSteps), "a number from 1 to 1000000, or no such member for any number")
	case d.MaxOpen < 0 || d.MaxOpen > maxOpen:
		return wrong("max_open", strconv.Itoa(d.MaxOpen), "a number from 1 to 200, which is what one owner may have, or no such member for that")
	}
	if err := checkParameters(d.Parameters); err != nil {
		return &InvalidError{Field: "parameters", Index: -1, Found: err.Error(), Expected: "a JSON Schema of an object, of at most 32 KiB"}
	}
	if err := utp.CheckRequired(d.ResultFields); err != nil {
		return &InvalidError{Field: "result_fields", Index: -1, Found: err.Error(), Expected: "the names of at most 64 fields, each once"}
	}
	for _, list := range []struct {
		field, expected string
		entries         []string
		valid           func(string) bool
	}{
		{"tools", "the name of a tool (A-Z a-z 0-9 _ - .), or its beginning followed by *", d.Tools, toolName},
		{"may_ask", "the name of an agent (A-Z a-z 0-9 _ -), or its beginning followed by *", d.MayAsk, utp.ValidToken},
		{"must_end_with", "the name of a tool (A-Z a-z 0-9 _ - .), or its beginning followed by *", d.MustEndWith, toolName},
	} {
		if len(list.entries) > maxEntries {
			return &InvalidError{Field: list.field, Index: -1, Found: fmt.Sprintf("it has %d entries", len(list.entries)), Expected: "at most 256"}
		}
		for i, entry := range list.entries {
			if name, wild := CutStar(entry); !list.valid(name) && (name != "" || !wild) {
				return &InvalidError{Field: list.field, Index: i, Found: "it is " + utp.Shown(entry), Expected: list.expected}
			}
		}
	}
	return nil
}

// toolName also takes the names that the hosts of agents give their own tools.
func toolName(name string) bool {
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("_-.:/", r) && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}
