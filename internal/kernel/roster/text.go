package roster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/utp"
)

// Digest returns the SHA-256 of the definition's canonical form, in hex.
func Digest(d api.AgentDefinition) (string, error) {
	raw, err := json.Marshal(d)
	if err == nil {
		raw, err = utp.Canonical(raw)
	}
	if err != nil {
		return "", fmt.Errorf("the definition of %.64q: %w", d.Name, err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Describe says what a definition comes to, in phrases without an end.
func Describe(d api.AgentDefinition) string {
	phrases := make([]string, 0, len(parts))
	for _, p := range parts {
		if text := p(d); text != "" {
			phrases = append(phrases, text)
		}
	}
	return strings.Join(phrases, "; ")
}

// Changes says what another definition of an agent changes, a phrase for each part of it: before, then after.
func Changes(before, after api.AgentDefinition) [][2]string {
	var all [][2]string
	for _, p := range parts {
		if was, is := p(before), p(after); was != is {
			all = append(all, [2]string{cmp.Or(was, "nothing of the kind"), cmp.Or(is, "nothing of the kind")})
		}
	}
	return all
}

// parts describe the parts of a definition; "" is nothing to say.
var parts = []func(api.AgentDefinition) string{ //nolint:gochecknoglobals // a table
	func(d api.AgentDefinition) string {
		if d.DisplayName == "" {
			return ""
		}
		return "shown as " + d.DisplayName
	},
	func(d api.AgentDefinition) string {
		if d.IsActive() {
			return ""
		}
		return "not active"
	},
	func(d api.AgentDefinition) string {
		return listed("uses ", d.Tools, "every tool that the policy lets it use", "no tool")
	},
	func(d api.AgentDefinition) string {
		return listed("asks ", d.MayAsk, "the agents that the server lets it ask", "no agent")
	},
	func(d api.AgentDefinition) string {
		if len(d.MustEndWith) == 0 {
			return ""
		}
		return "ends with a call of " + strings.Join(d.MustEndWith, " or ")
	},
	describeParameters,
	func(d api.AgentDefinition) string {
		if len(d.ResultFields) == 0 {
			return ""
		}
		return "answers with " + strings.Join(d.ResultFields, ", ")
	},
	func(d api.AgentDefinition) string {
		switch d.MaxSteps {
		case 0:
			return ""
		case 1:
			return "takes 1 step at most"
		}
		return fmt.Sprintf("takes %d steps at most", d.MaxSteps)
	},
	func(d api.AgentDefinition) string {
		switch d.MaxOpen {
		case 0:
			return ""
		case 1:
			return "has 1 turn open at most"
		}
		return fmt.Sprintf("has %d turns open at most", d.MaxOpen)
	},
}

// describeParameters names the arguments, and what tells one schema of them from another.
func describeParameters(d api.AgentDefinition) string {
	if len(d.Parameters) == 0 {
		return ""
	}
	text := "takes arguments by a schema"
	if names := memberNames(d.Parameters); len(names) > 0 {
		text = "takes the arguments " + strings.Join(names, ", ")
	}
	canonical, err := utp.Canonical(d.Parameters)
	if err != nil {
		canonical = d.Parameters
	}
	sum := sha256.Sum256(canonical)
	return text + " (schema " + hex.EncodeToString(sum[:4]) + ")"
}

// memberNames returns the names of the properties of a schema, in order, as far as a line has room for them.
func memberNames(parameters jsontext.Value) []string {
	var schema struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	if json.Unmarshal(parameters, &schema) != nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(schema.Properties))
	for i, name := range names {
		if names[i] = utp.Shown(name); plainName(name) {
			names[i] = name
		}
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return names
}

// maxNamed is how many arguments a line names.
const maxNamed = 12

// plainName reports whether a name can stand in a sentence as it is.
func plainName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

func listed(verb string, entries []string, absent, none string) string {
	switch {
	case entries == nil:
		return verb + absent
	case len(entries) == 0:
		return verb + none
	}
	return verb + strings.Join(entries, ", ")
}

// unreadable reports a character that is not seen, or that ends a line.
func unreadable(r rune) bool { return !unicode.IsPrint(r) }
