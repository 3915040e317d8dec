package cause

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	unknownMember = regexp.MustCompile(`^(line \d+: )?field (.+) not found in type .*$`)
	wrongKind     = regexp.MustCompile("(?s)^(line \\d+: )?cannot unmarshal \\S+ (?:`(.*)` )?into (\\S+)$")
)

// OfYAML is what is wrong with a YAML file, line by line, without the types of Go. Unknown is the sentence about a member
// that there is not, with %s for its name.
func OfYAML(err error, unknown string) error {
	wrong, is := errors.AsType[*yaml.TypeError](err)
	if !is {
		return errors.New(strings.TrimPrefix(Of(err), "yaml: "))
	}
	lines := make([]string, 0, len(wrong.Errors))
	for _, line := range wrong.Errors {
		lines = append(lines, yamlLine(line, unknown))
	}
	return errors.New(strings.Join(lines, "; "))
}

// yamlLine is one complaint of the YAML reader without the types of Go.
func yamlLine(line, unknown string) string {
	if m := unknownMember.FindStringSubmatch(line); m != nil {
		return m[1] + fmt.Sprintf(unknown, m[2])
	}
	m := wrongKind.FindStringSubmatch(line)
	if m == nil {
		return line
	}
	expected := "names and values"
	switch kind := m[3]; {
	case kind == "time.Duration":
		expected = "a time such as 30s or 5m"
	case kind == "bool":
		expected = "true or false"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		expected = "a whole number"
	case strings.HasPrefix(kind, "[]"):
		expected = "a list"
	case kind == "string":
		expected = "a text"
	}
	if m[2] == "" {
		return m[1] + "expected " + expected
	}
	return fmt.Sprintf("%sfound %q, expected %s", m[1], m[2], expected)
}
