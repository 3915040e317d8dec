package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/agentcheck"
	"github.com/earshot-dev/earshot/internal/cli"
	"github.com/earshot-dev/earshot/internal/gateway/hook"
)

// TestHookPanics: a hook that fails in the worst way says no, in the words of each host.
func TestHookPanics(t *testing.T) {
	for _, host := range hook.Hosts() {
		in, says, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_, err = says.WriteString(`{"hook_event_name":"` + host.Event() + `","session_id":"s1","tool_name":"Bash","tool_input":{}}`)
		if err := errors.Join(err, says.Close()); err != nil {
			t.Fatal(err)
		}
		getenv := func(name string) string {
			if name == agentcheck.Variable {
				panic("it fell over")
			}
			return ""
		}
		var out, said strings.Builder
		m := Main{Args: []string{"hook", host.Name, "--data", t.TempDir()}, Program: cli.Program{
			Stdin: in, Stdout: &out, Stderr: &said, Getenv: getenv, Now: time.Now,
			LookupEnv: func(string) (string, bool) { return "", false },
		}}
		if code := m.Run(t.Context()); code != 0 || !strings.Contains(out.String(), `"deny"`) || !strings.Contains(out.String(), "Earshot's hook has failed") {
			t.Errorf("%s: found the exit code %d and %s\n%s", host.Name, code, &out, &said)
		}
		_ = in.Close()
	}
}

// TestHookUnreadable: what a host's model and a person read about input that is not an event is in plain words.
func TestHookUnreadable(t *testing.T) {
	t.Parallel()
	i := installer{t, t.TempDir()}
	in := filepath.Join(i.home, "input")
	for text, want := range map[string]string{
		"garbage":       "what Claude Code has said to its hook cannot be read: it is not JSON from byte 1 on",
		`{"hook_event`:  "what Claude Code has said to its hook cannot be read: it ends too early",
		`{"tool_name":`: "what Claude Code has said to its hook cannot be read: it ends too early",
	} {
		if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		var out, said strings.Builder
		m := Main{Args: []string{"hook", "claude", "--data", i.home}, Program: cli.Program{
			Stdin: file, Stdout: &out, Stderr: &said, Getenv: func(string) string { return "" }, Now: time.Now,
			LookupEnv: func(string) (string, bool) { return "", false },
		}}
		if code := m.Run(t.Context()); code != 2 || !strings.Contains(said.String(), want) {
			t.Errorf("%s: found the exit code %d and %s\n%s", text, code, &out, &said)
		}
		_ = file.Close()
	}
}

// TestInstallHooks: what a person is told, before and after, in words that can be listened to.
func TestInstallHooks(t *testing.T) {
	i := installer{t, t.TempDir()}
	t.Chdir(i.home)
	t.Setenv("PATH", i.home) // without codex
	file := i.home + "/.codex/hooks.json"
	for _, step := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"install", "codex", "--hooks", "--dry-run"}, 0, []string{
			"In " + file + ", the file of Codex, Earshot's hook would be put at PreToolUse, SessionEnd, Stop, UserPromptSubmit. Lines that are removed begin with -, and those that are added with +:\n  --- ",
			" hook codex --answer-before 59m", "Nothing was written.\n", "Advisory: Codex runs the hook, and could leave it out.\n",
		}},
		{[]string{"install", "codex", "--hooks"}, 0, []string{
			"Written. There was no such file before.\n", "You are asked before Codex uses a tool of its own that may change something, from its next start on.\n",
			"start codex, enter /hooks, and trust it.", "To see that a no holds: `earshot doctor agents`.\n",
		}},
		{[]string{"install", "codex", "--hooks"}, 0, []string{"Codex has Earshot's hook already: nothing changes in " + file + ".\n"}},
		{[]string{"doctor", "agents", "codex"}, 0, []string{" hint: no program codex is in PATH; install it, or add its folder to PATH, and do this again\n"}},
		{[]string{"uninstall", "codex"}, 0, []string{
			"Earshot's hook stays in " + file + ", so you are still asked before Codex uses tools of its own. `earshot uninstall codex --hooks` takes it out.\n",
		}},
		{[]string{"uninstall", "codex", "--hooks"}, 0, []string{"Earshot's hook is removed from PreToolUse, SessionEnd, Stop, UserPromptSubmit.", "Written. The file from before is " + file + ".before-earshot.\n"}},
		{[]string{"uninstall", "codex", "--hooks"}, 0, []string{"Codex does not have Earshot's hook: nothing changes in " + file + ".\n"}},
		{[]string{"install", "copilot", "--hooks"}, 2, []string{"Copilot CLI has hooks for a project alone", "add --project"}},
		{[]string{"install", "copilot", "--hooks", "--project", "--json"}, 0, []string{`"file": "` + i.home + `/.github/hooks/earshot.json"`, `"changed": true`}},
		{[]string{"install", "zed", "--hooks"}, 2, []string{"there is no host zed that has hooks", "claude, codex, copilot, cursor, gemini, qwen"}},
		{[]string{"install", "--hooks"}, 2, []string{"--hooks is for one host"}},
		{[]string{"install", "claude", "--hooks", "--import"}, 2, []string{"--hooks is not about MCP servers"}},
		{[]string{"__complete", "install", "--hooks", ""}, 0, []string{"claude\ncodex\ncopilot\ncursor\ngemini\nqwen\n"}},
		{[]string{"__complete", "doctor", "agents", ""}, 0, []string{"claude\ncodex\ncopilot\ncursor\ngemini\ngoose\nopencode\nqwen\nvscode\nzed\n"}},
		{[]string{"doctor", "agents", "clod"}, 2, []string{"there is no host clod", "claude, codex, copilot, cursor, gemini, goose, opencode, qwen, vscode, zed"}},
		{[]string{"doctor", "agents", "zed"}, 0, []string{"note: zed: Zed is not found on this machine.\n"}},
		{[]string{"doctor", "agents", "zed", "--json"}, 0, []string{`"host": "zed"`, `"denial_held": false`}},
	} {
		out, told := i.run(step.code, step.args...)
		for _, part := range step.says {
			if !strings.Contains(out+told, part) {
				t.Errorf("earshot %s does not say %q:\n%s%s", strings.Join(step.args, " "), part, out, told)
			}
		}
	}
}
