package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/testkit"
)

// TestAgents: an operator looks at what a file of agents changes, records exactly that, and removes it; each with a server and
// without one. What the definition leaves out is not done, whatever the agent's own program asks for.
func TestAgents(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.turned()
	file := filepath.Join(t.TempDir(), "agents.yaml")
	define := func(text string) string {
		t.Helper()
		must(t, os.WriteFile(file, []byte("agents:\n  - name: tidy\n"+text), 0o600))
		said := s.does(0, "agents", "add", file)
		_, digest, found := strings.Cut(said, "--digest ")
		if !found {
			t.Fatalf("no command is told:\n%s", said)
		}
		return said + s.does(0, "agents", "add", file, "--digest", digest[:64])
	}
	contains(t, s.does(0, "agents", "list"), "No agent has a definition")
	contains(t, define("    tools: [files.hash, no.such]\n"), "no registered tool matches no.such", "New: tidy: uses files.hash, no.such", "Recorded: tidy: uses files.hash")
	contains(t, s.does(0, "agents", "add", file), "tidy: as it is recorded.", "The file changes nothing.")
	contains(t, s.does(1, "agents", "add", file, "--digest", "0"), "has changed since it was looked at; nothing was recorded")
	run := s.run("--json")
	run.ends(1)
	contains(t, run.out.String(), "this agent may not use it; an operator can allow it")
	s.up()
	contains(t, define("    tools: [files.*]\n    max_steps: 40\n"), "Changed: tidy.", "before: uses files.hash, no.such; now: uses files.*",
		"before: nothing of the kind; now: takes 40 steps at most", "Recorded: tidy: uses files.*")
	var shown struct {
		Name   string   `json:"name"`
		Tools  []string `json:"tools"`
		Digest string   `json:"digest"`
	}
	s.reads(&shown, "agents", "show", "tidy", "--json")
	if shown.Name != "tidy" || len(shown.Tools) != 1 || len(shown.Digest) != 64 {
		t.Errorf("it is shown as %+v", shown)
	}
	contains(t, s.does(1, "agents", "rm", "tidy", "--digest", "0"), "has changed since it was looked at; nothing was removed")
	contains(t, s.does(0, "agents", "rm", "tidy"), "tidy: uses files.*", "earshot agents rm tidy --digest "+shown.Digest)
	contains(t, s.does(0, "agents", "rm", "tidy", "--digest", shown.Digest), "Recorded: the definition of tidy is removed.")
	contains(t, s.does(1, "agents", "rm", "tidy"), `the agent "tidy" has no definition`)
	contains(t, s.does(0, "audit", "list"), "the agent tidy was defined", "the definition of the agent tidy was removed")
	s.does(0, "audit", "verify")
}

// TestAgentsRefuses: a file that cannot be meant says where and why, and records nothing.
func TestAgentsRefuses(t *testing.T) {
	t.Parallel()
	testkit.Slow(t)
	s := newScene(t)
	s.turned()
	file := filepath.Join(t.TempDir(), "agents.yaml")
	for text, says := range map[string]string{
		"agents:\n  - name: a\n    tool: [x]\n":              "line 3: agents[0].tool: unknown name",
		"agents:\n  - name: a\n  - name: a\n":                "line 3: agents[1].name: a is defined twice",
		"agents:\n  - name: a\n    may_ask: ['b c']\n":       `line 3: agents[0].may_ask[0]: it is "b c"`,
		"agents:\n  - name: a\n    must_end_with: ['a*b']\n": `line 3: agents[0].must_end_with[0]: it is "a*b"`,
	} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		contains(t, s.does(2, "agents", "add", file), says)
	}
	contains(t, s.does(0, "agents", "list"), "No agent has a definition")
}
