package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/internal/cli"
)

// installer is a home in which install and uninstall are run.
type installer struct {
	t    *testing.T
	home string
}

func (i installer) run(code int, args ...string) (out, told string) {
	i.t.Helper()
	var stdout, stderr strings.Builder
	getenv := func(name string) string {
		if name == "HOME" {
			return i.home
		}
		return ""
	}
	m := Main{Args: args, Program: cli.Program{
		Stdout: &stdout, Stderr: &stderr, Getenv: getenv, Now: time.Now,
		LookupEnv: func(name string) (string, bool) { return getenv(name), name == "HOME" },
	}}
	if got := m.Run(i.t.Context()); got != code {
		i.t.Errorf("earshot %s ended with %d, expected %d\n%s%s", strings.Join(args, " "), got, code, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

// TestInstall: what a person is told, before and after, in the words that can be listened to.
func TestInstall(t *testing.T) {
	t.Parallel()
	i := installer{t, t.TempDir()}
	file := filepath.Join(i.home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{\n  \"mcpServers\": {\"cloud\": {\"url\": \"https://a.example/mcp\", \"auth\": {\"id\": \"x\"}}}\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args []string
		code int
		says []string
	}{
		{[]string{"install"}, 0, []string{"cursor: Cursor is here, without Earshot: `earshot install cursor`.\n"}},
		{[]string{"install", "cursor", "--dry-run"}, 0, []string{
			"In " + file + ", the file of Cursor, the entry earshot would be added. Lines that are removed begin with -, and those that are added with +:\n  --- ",
			"\"earshot\": {\"type\": ", "\nNothing was written.\n",
		}},
		{[]string{"install", "cursor", "--import"}, 0, []string{
			"In " + file + ", the file of Cursor, the entry earshot is added. ", "\nWritten. The file from before is " + file + ".before-earshot.\n", "Cursor takes it up when it is started again.\n",
			"Broker-only: calls of Earshot's tools go through the gate. What Cursor can do without Earshot, with a shell or with file tools of its own, does not.\n",
			"Left as it is: cloud, since its tools cannot be listed: ",
		}},
		{[]string{"install", "cursor"}, 0, []string{"Cursor has Earshot already: nothing changes in " + file + ".\n"}},
		{[]string{"install"}, 0, []string{"cursor: Cursor has Earshot, in " + file + ".\n"}},
		{[]string{"uninstall", "cursor"}, 0, []string{"In " + file + ", the file of Cursor, the entry earshot is removed. ", "Written. The file from before is " + file + ".before-earshot-2.\n"}},
		{[]string{"uninstall", "cursor"}, 0, []string{"Cursor does not have Earshot: nothing changes in " + file + ".\n"}},
		{[]string{"install", "zed", "--dry-run"}, 0, []string{"Zed is not found: no program zed or zeditor is in PATH. Install it, or add its folder to PATH; it reads this file when it starts.\n"}},
		{[]string{"install", "copilot", "--hooks", "--project", "--dry-run"}, 0, []string{"Copilot CLI is not found: no program copilot is in PATH."}},
		{[]string{"install", "curser"}, 2, []string{"there is no host curser", "did you mean cursor?"}},
		{[]string{"hook", "curser"}, 2, []string{"there is no host curser that has hooks", "did you mean cursor?"}},
		{[]string{"hook"}, 2, []string{"no host is named", "name one of claude, codex"}},
		{[]string{"install", "goose", "--project"}, 2, []string{"Goose has no file of servers for a project"}},
		{[]string{"install", "claude", "--project", "--import"}, 2, []string{"--import is for your own servers"}},
		{[]string{"uninstall"}, 2, []string{"claude, codex, gemini, opencode, qwen, cursor, vscode, zed, goose"}},
		{[]string{"install", "cursor", "--json"}, 0, []string{"\"host\": \"cursor\"", "\"changed\": true", "\"backup\": \"" + file + ".before-earshot-3\""}},
		{[]string{"__complete", "install", ""}, 0, []string{"claude\ncodex\ngemini\nopencode\nqwen\n"}},
	} {
		out, told := i.run(step.code, step.args...)
		for _, part := range step.says {
			if !strings.Contains(out+told, part) {
				t.Errorf("earshot %s does not say %q:\n%s%s", strings.Join(step.args, " "), part, out, told)
			}
		}
	}
}

// TestInstallProject: the file of a project is the one in the current folder.
func TestInstallProject(t *testing.T) {
	i := installer{t, t.TempDir()}
	project := t.TempDir()
	t.Chdir(project)
	i.run(0, "install", "claude", "--project")
	if _, err := os.Stat(filepath.Join(project, ".mcp.json")); err != nil {
		t.Error(err)
	}
	if out, _ := i.run(0, "uninstall", "claude"); !strings.Contains(out, "does not have Earshot") {
		t.Errorf("the user's own file was meant: %s", out)
	}
	i.run(0, "uninstall", "claude", "--project")
	if raw, err := os.ReadFile(filepath.Join(project, ".mcp.json")); string(raw) != "{}\n" {
		t.Errorf("left is %q, %v", raw, err)
	}
}

// TestInstallData: another data directory than the usual one is named in the entry.
func TestInstallData(t *testing.T) {
	t.Parallel()
	i := installer{t, t.TempDir()}
	data := filepath.Join(i.home, "elsewhere")
	i.run(0, "install", "codex", "--data", data)
	raw, err := os.ReadFile(filepath.Join(i.home, ".codex", "config.toml"))
	if err != nil || !strings.Contains(string(raw), `args = ["mcp", "serve", "--data", "`+data+`", "--answer-before", "55m"]`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// TestInstallByHand: where the file of a host is in a form that is not edited, it stays as it is, and a person is told what to write
// into it.
func TestInstallByHand(t *testing.T) {
	t.Parallel()
	i := installer{t, t.TempDir()}
	file := filepath.Join(i.home, ".codex", "config.toml")
	text := "mcp_servers = { files = { command = \"x\" } }\n"
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, told := i.run(2, "install", "codex")
	for _, part := range []string{"This has to stand in " + file + ", beside what is there:\n  [mcp_servers.earshot]\n", "  args = [\"mcp\", \"serve\"", "  tool_timeout_sec = 3600\n"} {
		if !strings.Contains(out, part) {
			t.Errorf("it does not say %q:\n%s", part, out)
		}
	}
	if !strings.Contains(told, "written in a form that is not edited here") {
		t.Errorf("the error is %s", told)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != text {
		t.Errorf("the file is now %q, %v", after, err)
	}
}
