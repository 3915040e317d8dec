package schema

import (
	"encoding/json" // by which the library reads numbers
	"fmt"
	"math/big"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// reason says in plain words what is wrong with a value; "" where there are none for it. The value itself is not repeated: it may be
// long, or a secret.
func reason(k jsonschema.ErrorKind) string {
	if text := ofText(k); text != "" {
		return text
	}
	if text := ofNumbers(k); text != "" {
		return text
	}
	switch k := k.(type) {
	case *kind.Type:
		want := make([]string, 0, len(k.Want))
		for _, one := range k.Want {
			want = append(want, typed(one))
		}
		return fmt.Sprintf("found %s, expected %s", typed(k.Got), strings.Join(want, " or "))
	case *kind.Enum:
		return "expected " + oneOf(k.Want)
	case *kind.Const:
		return "expected " + oneOf([]any{k.Want})
	case *kind.FalseSchema:
		return "no value is taken here"
	case *kind.Required:
		if len(k.Missing) == 1 {
			return names(k.Missing) + " is missing"
		}
		return names(k.Missing) + " are missing"
	case *kind.AdditionalProperties:
		if len(k.Properties) == 1 {
			return "found " + names(k.Properties) + ", which is not one of its members"
		}
		return "found " + names(k.Properties) + ", which are not among its members"
	case *kind.MinItems:
		return fmt.Sprintf("found %s, expected at least %d", counted(k.Got, "entry", "entries"), k.Want)
	case *kind.MaxItems:
		return fmt.Sprintf("found %s, expected at most %d", counted(k.Got, "entry", "entries"), k.Want)
	case *kind.UniqueItems:
		return fmt.Sprintf("the entries %d and %d are the same, expected different ones", k.Duplicates[0]+1, k.Duplicates[1]+1)
	default:
		return ""
	}
}

func ofText(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("found %s, expected at least %d", counted(k.Got, "character", "characters"), k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("found %s, expected at most %d", counted(k.Got, "character", "characters"), k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("expected text that matches the pattern %.200s", k.Want)
	case *kind.Format:
		if known := formats[k.Want]; known != "" {
			return "expected " + known
		}
		return fmt.Sprintf("expected text of the format %.64s", k.Want)
	default:
		return ""
	}
}

// formats are the formats that have a name among people.
var formats = map[string]string{
	"date": "a date, such as 2026-03-31", "date-time": "a date with a time, such as 2026-03-31T09:30:00Z", "time": "a time, such as 09:30:00Z",
	"email": "an e-mail address", "uri": "an address, such as https://example.org/", "uuid": "a UUID", "ipv4": "an IPv4 address",
	"ipv6": "an IPv6 address", "hostname": "the name of a host", "regex": "a regular expression",
}

func ofNumbers(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return "expected at least " + decimal(k.Want)
	case *kind.Maximum:
		return "expected at most " + decimal(k.Want)
	case *kind.ExclusiveMinimum:
		return "expected more than " + decimal(k.Want)
	case *kind.ExclusiveMaximum:
		return "expected less than " + decimal(k.Want)
	case *kind.MultipleOf:
		return "expected a multiple of " + decimal(k.Want)
	default:
		return ""
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

// decimal writes a number of a schema as people do.
func decimal(n *big.Rat) string {
	if n.IsInt() {
		return n.Num().String()
	}
	const digits = 6
	return strings.TrimRight(n.FloatString(digits), "0")
}
