package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/doctor"
)

// printed is what a command writes to standard output. It has to succeed.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var out, told strings.Builder
	m := Main{Args: args, Program: cli.Program{Stdout: &out, Stderr: &told, Getenv: func(string) string { return "" }, LookupEnv: os.LookupEnv}}
	if code := m.Run(t.Context()); code != cli.ExitDone {
		t.Fatalf("%v: exit code %d: %s%s", args, code, &out, &told)
	}
	return out.String()
}

// TestExamplesAreTaken: each file that the program prints is one that it takes.
func TestExamplesAreTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"policy.yaml": {"help", "policy"}, "earshot.yaml": {"help", "configuration"}, "tools.yaml": {"tools", "example"},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(printed(t, args...)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if list := printed(t, "serve", "--check", filepath.Join(dir, "tools.yaml")); !strings.Contains(list, "is good: 4 tools.") {
		t.Errorf("tools example: %s", list)
	}
	m := Main{Args: []string{"doctor"}, Program: cli.Program{Stdout: new(strings.Builder), Stderr: new(strings.Builder), Getenv: func(string) string { return "" }, LookupEnv: os.LookupEnv, Now: time.Now}}
	c := m.doctorCommand()
	if err := c.Flags().Parse([]string{"--config", filepath.Join(dir, "earshot.yaml"), "--data", filepath.Join(dir, "data")}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, f := range m.examine(t.Context(), c.Flags()) {
		if f.State != doctor.Problem || seen[f.Name] == "" {
			seen[f.Name] = f.State + ": " + f.Found
		}
	}
	for _, name := range []string{"configuration", "policy", "tools"} {
		if !strings.HasPrefix(seen[name], doctor.OK) {
			t.Errorf("%s: %q", name, seen[name])
		}
	}
}

// TestCommandsInTextsAreThere: each command that a help, an example or a topic shows is one, with flags that it has.
func TestCommandsInTextsAreThere(t *testing.T) {
	t.Parallel()
	all := everyCommand(t)
	shown := 0
	for _, c := range append(slices.Clone(all), topics()...) {
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			line, is := strings.CutPrefix(line, "  earshot ")
			if !is {
				continue
			}
			line, _, _ = strings.Cut(line, " | ")
			line, _, _ = strings.Cut(line, " -- ") // what follows is another program's
			shown++
			found, rest, err := all[0].Find(strings.Fields(line))
			if err != nil || found == all[0] {
				t.Errorf("`%s --help` shows `earshot %s`, which is not a command", c.CommandPath(), strings.TrimSpace(line))
				continue
			}
			for _, word := range rest {
				if name, is := strings.CutPrefix(word, "--"); is && found.Flag(strings.SplitN(name, "=", 2)[0]) == nil && name != "" {
					t.Errorf("`%s --help` shows `earshot %s`, which has no %s", c.CommandPath(), strings.TrimSpace(line), word)
				}
			}
		}
	}
	if shown < 40 {
		t.Errorf("only %d commands are shown", shown)
	}
}

// TestContainerfile: what the image starts, and how it finds out whether that is well, are commands with flags that there are.
func TestContainerfile(t *testing.T) {
	t.Parallel()
	root := everyCommand(t)[0]
	lines := regexp.MustCompile(`(?m)^(?:HEALTHCHECK .*)?CMD (\[.*\])$`).FindAllStringSubmatch(read(t, "..", "..", "Containerfile"), -1)
	if len(lines) != 2 {
		t.Fatalf("%d lines with CMD: %q", len(lines), lines)
	}
	for _, line := range lines {
		var words []string
		if err := json.Unmarshal([]byte(line[1]), &words); err != nil {
			t.Fatal(err)
		}
		if words[0] == "/usr/bin/earshot" {
			words = words[1:]
		}
		c, rest, err := root.Find(words)
		if err != nil || c == root {
			t.Errorf("%q is not a command: %v", words, err)
			continue
		}
		if err := c.ParseFlags(rest); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}

// TestTopics: each topic is printed by its name, and is in the list of the help.
func TestTopics(t *testing.T) {
	t.Parallel()
	help := printed(t, "--help")
	for _, topic := range topics() {
		if text := printed(t, "help", topic.Name()); !strings.Contains(text, strings.TrimSpace(topic.Long)) {
			t.Errorf("help %s prints %s", topic.Name(), text)
		}
		if !strings.Contains(help, topic.Short) {
			t.Errorf("the help does not name %s", topic.Name())
		}
	}
}
