package rosterfile_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/rosterfile"
	"github.com/earshot-dev/earshot/tool/settings"
)

// TestParseRefuses: what cannot be meant is an error with its line, and nothing of the file counts.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file, want string
		line       int
	}{
		"empty":             {"", "it is empty", 0},
		"no agent":          {"agents: []", "it defines no agent", 1},
		"an unknown member": {"agents:\n  - name: a\n    tool: [x]\n", "did you mean tools?", 3},
		"a null list":       {"agents:\n  - name: a\n    may_ask: null\n", "it is empty", 3},
		"one text":          {"agents:\n  - name: a\n    tools: x\n", "expected a list", 3},
		"no name":           {"agents:\n  - tools: [x]\n", "it is nothing", 2},
		"a bad name":        {"agents:\n  - name: a b\n", `it is "a b"`, 2},
		"the operator":      {"agents:\n  - name: operator\n", "stands for operators", 2},
		"twice":             {"agents:\n  - name: a\n  - name: b\n  - name: a\n", "a is defined twice, first as agents[0]", 4},
		"a star inside":     {"agents:\n  - name: a\n    tools:\n      - ok\n      - fi*les\n", `tools[1]: it is "fi*les"`, 5},
		"two stars":         {"agents:\n  - name: a\n    tools: ['**']\n", `it is "**"`, 3},
		"an empty pattern":  {"agents:\n  - name: a\n    may_ask: ['']\n", "it is nothing", 3},
		"steps below 0":     {"agents:\n  - name: a\n    max_steps: -1\n", "it is -1", 3},
		"steps in words":    {"agents:\n  - name: a\n    max_steps: ten\n", "a whole number", 3},
		"no schema":         {"agents:\n  - name: a\n    parameters: {type: object, properties: {n: {type: 7}}}\n", "agents[0].parameters: it is not JSON Schema", 3},
		"a schema of texts": {"agents:\n  - name: a\n    parameters: {type: string}\n", `its type is not "object"`, 3},
		"a text as schema":  {"agents:\n  - name: a\n    parameters: any\n", "it is not an object", 3},
		"a large schema":    {"agents:\n  - name: a\n    parameters: {type: object, title: " + strings.Repeat("x", 32<<10) + "}\n", "at most 32 KiB", 3},
		"hidden characters": {"agents:\n  - name: a\n    display_name: \"a\\u202Eb\"\n", "one line", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rosterfile.Parse([]byte(tt.file))
			wrong, is := err.(*settings.Error) //nolint:errorlint // it is documented as such
			if !is || wrong.Line != tt.line || !strings.Contains(err.Error()+" "+wrong.Hint, tt.want) {
				t.Errorf("%v; want %q in line %d", err, tt.want, tt.line)
			}
		})
	}
	all, err := rosterfile.Parse([]byte("agents:\n  - {name: a, tools: [], may_ask: ['*'], parameters: {type: object, properties: {to: {type: string}}}}\n  - name: b\n"))
	if got := string(all[0].Parameters); got != `{"type":"object","properties":{"to":{"type":"string"}}}` || all[1].Parameters != nil {
		t.Errorf("the parameters are %s", got)
	}
	if err != nil || all[0].Tools == nil || all[1].Tools != nil {
		t.Errorf("no tools and every tool: %+v, %v", all, err)
	}
}
