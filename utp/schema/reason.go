package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// reason says in plain words what is wrong with a value. The value itself is not repeated: it may be long, or a secret.
func reason(m *mismatch) string {
	switch want := m.want.(type) {
	case types:
		return expectedTypes(m.got, want)
	case decimal:
		return expectedNumber(m.keyword, want)
	case string:
		return expectedText(m.keyword, want)
	case int:
		return expectedCount(m.keyword, m.got, want)
	case []any:
		return "expected " + oneOf(want)
	case []string:
		return aboutMembers(m, want)
	case [2]int:
		if m.keyword == "oneOf" {
			return fmt.Sprintf("the choices %d and %d both fit, expected one of them alone", want[0]+1, want[1]+1)
		}
		return fmt.Sprintf("the entries %d and %d are the same, expected different ones", want[0]+1, want[1]+1)
	case *mismatch:
		return fmt.Sprintf("the name %.64q does not fit: %s", m.got, reason(want))
	default:
		return aboutAll(m.keyword)
	}
}

func aboutAll(keyword string) string {
	switch keyword {
	case "not":
		return "the schema excludes this value"
	case "$ref":
		return "expected a JSON Schema"
	case "value":
		return "it is no value of JSON"
	default:
		return "no value is taken here"
	}
}

func expectedTypes(found any, want types) string {
	all := want.names()
	for i, name := range all {
		all[i] = typed(name)
	}
	got, _ := found.(types)
	return fmt.Sprintf("found %s, expected %s", typed(strings.Join(got.names(), "")), strings.Join(all, " or "))
}

func expectedText(keyword, want string) string {
	if keyword == "pattern" {
		return fmt.Sprintf("expected text that matches the pattern %.200s", want)
	}
	return "expected " + formatWords(want)
}

func expectedCount(keyword string, got any, want int) string {
	n, _ := got.(int)
	limit := "at least"
	if strings.HasPrefix(keyword, "max") {
		limit = "at most"
	}
	found := counted(n, "entry that fits", "entries that fit")
	switch {
	case strings.HasSuffix(keyword, "Length"):
		found = counted(n, "character", "characters")
	case strings.HasSuffix(keyword, "Items"):
		found = counted(n, "entry", "entries")
	case strings.HasSuffix(keyword, "Properties"):
		found = counted(n, "member", "members")
	}
	return fmt.Sprintf("found %s, expected %s %d", found, limit, want)
}

func aboutMembers(m *mismatch, list []string) string {
	one := len(list) == 1
	switch {
	case m.keyword == "additionalProperties" && one:
		return "found " + names(list) + ", which is not one of its members"
	case m.keyword == "additionalProperties":
		return "found " + names(list) + ", which are not among its members"
	case m.keyword == "dependentRequired":
		return fmt.Sprintf("expected %s beside %.64q", names(list), m.got)
	case one:
		return names(list) + " is missing"
	default:
		return names(list) + " are missing"
	}
}

// formatWords describes the formats that have a name among people.
func formatWords(format string) string {
	switch format {
	case "date":
		return "a date, such as 2026-03-31"
	case "date-time":
		return "a date with a time, such as 2026-03-31T09:30:00Z"
	case "time":
		return "a time, such as 09:30:00Z"
	case "email":
		return "an e-mail address"
	case "uri":
		return "an address, such as https://example.org/"
	case "uuid":
		return "a UUID"
	case "ipv4":
		return "an IPv4 address"
	case "ipv6":
		return "an IPv6 address"
	case "hostname":
		return "the name of a host"
	case "regex":
		return "a regular expression"
	default:
		return fmt.Sprintf("text of the format %.64s", format)
	}
}

func expectedNumber(keyword string, want decimal) string {
	switch keyword {
	case "minimum":
		return fmt.Sprintf("expected at least %s", want)
	case "maximum":
		return fmt.Sprintf("expected at most %s", want)
	case "exclusiveMinimum":
		return fmt.Sprintf("expected more than %s", want)
	case "exclusiveMaximum":
		return fmt.Sprintf("expected less than %s", want)
	default:
		return fmt.Sprintf("expected a multiple of %s", want)
	}
}

// typed is a type of JSON in plain words.
func typed(name string) string {
	words := map[string]string{
		"null": "null", "boolean": "true or false", "number": "a number", "integer": "a whole number", "string": "text", "array": "a list", "object": "an object",
	}
	if known := words[name]; known != "" {
		return known
	}
	return name
}

func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// names quotes the names of members, the first of many.
func names(list []string) string {
	const most = 8
	var quoted []string
	for i, name := range list {
		if i == most {
			quoted = append(quoted, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		quoted = append(quoted, fmt.Sprintf("%.64q", name))
	}
	if n := len(quoted); n > 1 {
		return strings.Join(quoted[:n-1], ", ") + " and " + quoted[n-1]
	}
	return strings.Join(quoted, "")
}

// oneOf lists the values to choose from, the first of many.
func oneOf(list []any) string {
	const most, longest = 12, 100
	var all []string
	for i, value := range list {
		if i == most {
			all = append(all, fmt.Sprintf("%d more", len(list)-most))
			break
		}
		raw, err := json.Marshal(value)
		if err != nil || len(raw) > longest {
			raw = []byte("a longer value")
		}
		all = append(all, string(raw))
	}
	if len(all) == 1 {
		return all[0]
	}
	return "one of " + strings.Join(all, ", ")
}
