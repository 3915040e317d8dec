package acp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/gateway/acp"
)

// TestEnvironment: OpenCode is given a mode in which it asks, beside the settings of its user, and no other agent is given anything.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	const variable = "OPENCODE_CONFIG_CONTENT="
	opencode := []string{"npx", "opencode-ai", "acp"}
	for name, tt := range map[string]struct {
		command []string
		env     []string
		want    []string // in the variable, in this order
		without string
	}{
		"another agent":      {command: []string{"gemini", "--acp"}, env: []string{"A=b"}},
		"opencode":           {command: opencode, env: []string{"A=b"}, want: []string{`{"agent":{"earshot":{`, `"mode":"primary","permission":{"*":"ask",`, `"bash":"ask"`, `"edit":"ask"`, `"task":"deny"`}},
		"by its path":        {command: []string{"/opt/bin/opencode", "acp"}, want: []string{`"permission":{"*":"ask",`, `"read":{"*":"allow","*.env":"ask",`}},
		"settings":           {command: opencode, env: []string{variable + `{"model":"a/b","agent":{"mine":{}}}`}, want: []string{`"earshot":{`, `"mine":{}`, `"model":"a/b"`}},
		"one of its name":    {command: opencode, env: []string{variable + `{"agent":{"earshot":{"permission":"allow"}}}`}, want: []string{`"permission":{"*":"ask"`}, without: `"permission":"allow"`},
		"empty":              {command: opencode, env: []string{variable}, want: []string{`"earshot":{`}},
		"that it cannot add": {command: opencode, env: []string{variable + "// mine\n{}"}, want: []string{"// mine"}, without: "earshot"},
	} {
		env := acp.Environment(tt.command, tt.env)
		set := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return !strings.HasPrefix(entry, variable) })
		if len(tt.want) == 0 {
			if !slices.Equal(env, tt.env) {
				t.Errorf("%s: found %q", name, env)
			}
			continue
		}
		if len(set) != 1 || tt.without != "" && strings.Contains(set[0], tt.without) {
			t.Fatalf("%s: found %q", name, env)
		}
		rest := set[0]
		for _, part := range tt.want {
			_, after, found := strings.Cut(rest, part)
			if !found {
				t.Errorf("%s: found no %s in %s", name, part, rest)
			}
			rest = after
		}
		if slices.Contains(tt.env, "A=b") != slices.Contains(env, "A=b") {
			t.Errorf("%s: found %q", name, env)
		}
	}
}
