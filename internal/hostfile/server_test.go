package hostfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/hostfile"
)

// TestServers: what can stand behind Earshot is read from the forms of each host; of what cannot, the reason is told.
func TestServers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ host, text, want string }{
		{"claude", `{"mcpServers": {"a": {"type": "stdio", "command": "x", "args": ["1"], "env": {"T": "v"}}}}`, "a [x 1] map[T:v]"},
		{"claude", `{"mcpServers": {"a": {"type": "http", "url": "https://a/mcp", "headers": {"H": "v"}}}}`, "a https://a/mcp map[H:v]"},
		{"claude", `{"mcpServers": {"earshot": {"command": "x"}}}`, ""},
		{"claude", `{"mcpServers": {"a": {"command": "x", "env": {"T": "${HOME}/x"}}}}`, "a: it holds ${HOME}, which only its host can fill in"},
		{"claude", `{"mcpServers": {"a": {"type": "sse", "url": "https://a/sse"}}}`, "a: it speaks the older transport of HTTP, with server-sent events alone"},
		{"claude", `{"mcpServers": {"a": {"type": "http", "url": "https://a", "oauth": {"clientId": "x", "clientSecret": "s3cret"}}}}`, "a https://a map[] as x"},
		{"claude", `{"mcpServers": {"a": {"type": "http", "url": "https://a", "oauth": {"clientId": "x; rm"}}}}`, "a https://a map[]"},
		{"claude", `{"mcpServers": {"a": {"command": "x", "oauth": {"clientId": "x"}}}}`, "a: it logs in by its host"},
		{"cursor", `{"mcpServers": {"a": {"url": "https://a", "auth": {"CLIENT_ID": "x", "CLIENT_SECRET": "s3cret"}}}}`, "a https://a map[] as x"},
		{"gemini", `{"mcpServers": {"a": {"httpUrl": "https://a", "oauth": {"enabled": true}, "authProviderType": "dynamic_discovery"}}}`, "a https://a map[]"},
		{"gemini", `{"mcpServers": {"a": {"httpUrl": "https://a", "authProviderType": "google_credentials"}}}`, "a: it logs in by its host"},
		{"gemini", `{"mcpServers": {"a": {"httpUrl": "https://a", "auth": ["x"]}}}`, "a: it logs in by its host"},
		{"claude", `{"mcpServers": {"a": {"type": "ws", "url": "wss://a"}}}`, `a: it is of the type "ws"`},
		{"claude", `{"mcpServers": {"a": {"command": "x", "wings": 2}}}`, "a: it has wings, which is not known here"},
		{"claude", `{"mcpServers": {"a": {"type": "stdio"}}}`, "a: it names no command and no address, or both"},
		{"claude", `{"mcpServers": {"a": 1}}`, "a: it is not a table"},
		{"claude", `{"mcpServers": {"a": {"command": ["x"]}}}`, "a: command is not a text"},
		{"claude", `{"projects": {"/p": {"mcpServers": {"a": {"command": "x"}}}}}`, "a: it is for the folder /p alone"},
		{"claude", `{"mcpServers": {"a": {"command": "x", "args": ["--api-key", "abcdefgh"]}}}`, "a: its arguments hold what may be a credential; give it to the server by a variable"},
		{"claude", `{"mcpServers": {"a": {"type": "http", "url": "https://u:p@a/mcp"}}}`, "a: its address holds a password; give it by a header"},
		{"claude", `{"mcpServers": {"a": {"type": "http", "url": "https://a/mcp?token=abcdefgh"}}}`, "a: its address holds what may be a credential; give it by a header"},
		{"claude", `{"mcpServers": {"a": {"type": "http", "url": "https://a/mcp?project=abcdefgh"}}}`, "a https://a/mcp?project=abcdefgh map[]"},
		{"cursor", `{"mcpServers": {"a": {"command": "x", "disabled": true}}}`, "a: it is switched off"},
		{"gemini", `{"mcpServers": {"a": {"httpUrl": "https://a", "timeout": 5, "trust": true}}}`, "a https://a map[]"},
		{"gemini", `{"mcpServers": {"a": {"command": "x", "args": ["$TOKEN"]}}}`, "a: it holds $TOKEN, which only its host can fill in"},
		{"gemini", `{"mcpServers": {"a": {"command": "x", "includeTools": ["y"]}}}`, "a: its host has chosen some of its tools"},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"A": "b"}, "enabled": true}}}`, "a [x y] map[A:b]"},
		{"opencode", `{"mcp": {"a": {"type": "remote", "url": "https://a", "oauth": false}}}`, "a https://a map[]"},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["x", "{env:TOKEN}"]}}}`, "a: it holds {env:TOKEN}, which only its host can fill in"},
		{"opencode", `{"mcp": {"a": {"type": "local", "command": ["x"], "enabled": false}}}`, "a: it is switched off"},
		{"qwen", `{"mcpServers": {"a": {"command": "x", "trust": true, "alwaysLoadTools": true}}}`, "a [x] map[]"},
		{"codex", "[mcp_servers.a]\nurl = \"https://a\"\nbearer_token_env_var = \"T\"\nhttp_headers = { H = \"v\" }\n", "a https://a map[H:v] map[Authorization:T]"},
		{"codex", "[mcp_servers.a]\ncommand = \"x\"\ncwd = \"/p\"\nenv_vars = [\"V\"]\nenabled = false\n", "a: it is switched off"},
		{"codex", "[mcp_servers.a]\ncommand = \"x\"\ncwd = \"/p\"\nenv_vars = [\"V\"]\nstartup_timeout_sec = 9\n", "a [x] map[] /p [V]"},
		{"vscode", `{"servers": {"a": {"command": "x", "env": {"K": "${input:key}"}}}}`, "a: it holds ${input:key}, which only its host can fill in"},
		{"goose", "extensions:\n  a: {type: stdio, cmd: x, args: [1y], envs: {T: v}, enabled: true, timeout: 3}\n", "a [x 1y] map[T:v]"},
		{"goose", "extensions:\n  a: {type: builtin, enabled: true, bundled: true}\n", "a: it names no command and no address, or both"},
		{"goose", "extensions:\n  a: {type: stdio, cmd: x, env_keys: [T], enabled: true}\n", "a: its secrets lie in the keychain of its host"},
	} {
		host, _ := hostfile.HostOf(row.host)
		f, err := hostfile.Read(host, []byte(row.text))
		if err != nil {
			t.Fatal(err)
		}
		servers, left := f.Servers()
		var told []string
		for _, s := range servers {
			text := s.Name
			if s.URL == "" {
				text += fmt.Sprint(" ", s.Command, " ", s.Environment)
			} else {
				text += fmt.Sprint(" ", s.URL, " ", s.Headers)
			}
			for _, more := range []any{s.Folder, s.Inherit, s.HeaderVariables} {
				if more := fmt.Sprint(more); more != "" && more != "[]" && more != "map[]" {
					text += " " + more
				}
			}
			if s.Client != "" {
				text += " as " + s.Client
			}
			if told = append(told, text); strings.Contains(fmt.Sprintf("%+v", s), "s3cret") {
				t.Errorf("a secret of the host is read: %+v", s)
			}
		}
		for _, l := range left {
			told = append(told, l.Name+": "+l.Reason)
		}
		if got := strings.Join(told, "; "); got != row.want {
			t.Errorf("%s %s\nfound    %s\nexpected %s", row.host, row.text, got, row.want)
		}
	}
}

// TestDiff: what may be a credential is not in what is shown, and nothing in a file acts on a terminal.
func TestDiff(t *testing.T) {
	t.Parallel()
	const text = `{
  "primaryApiKey": "sk-one-111111",
  "mcpServers": {
    "a": {
      "command": "x",
      "args": ["--token", "two-222222", "--api-key=three-333", "plain-argument"],
      "env": {"GITHUB_TOKEN": "four\/444444", "MODE": "five55"}
    },
    "b": {"type": "http", "url": "https://u:six-666666@b/mcp?k=seven-777", "headers": {"Authorization": "Bearer eight-888"}},
    "c": {"command": "y\u001b[31m", "args": ["` + "\u009b" + `31m"]}
  }
}
`
	claude, _ := hostfile.HostOf("claude")
	f, err := hostfile.Read(claude, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := f.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	shown := strings.Join(f.Diff("/home/a/.claude.json"), "\n")
	for _, secret := range []string{"111111", "222222", "three", "444444", "five55", "666666", "777", "888", "\u009b"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown:\n%s", secret, shown)
		}
	}
	for _, part := range []string{"--- /home/a/.claude.json\n+++ /home/a/.claude.json\n@@ ", "plain-argument", "[secret GITHUB_TOKEN]", `\u{9b}31m`} {
		if !strings.Contains(shown, part) {
			t.Errorf("%q is not shown:\n%s", part, shown)
		}
	}
}

// TestDiffCodex: the name of a variable is not a credential.
func TestDiffCodex(t *testing.T) {
	t.Parallel()
	codex, _ := hostfile.HostOf("codex")
	f, err := hostfile.Read(codex, []byte("[mcp_servers.a]\nurl = \"https://a\"\nbearer_token_env_var = \"MY_VARIABLE\"\nhttp_headers = { X-Key = \"abcdef-1234\" }\n"))
	if err == nil {
		err = f.Remove("a")
	}
	if shown := strings.Join(f.Diff("c"), "\n"); err != nil || !strings.Contains(shown, "MY_VARIABLE") || strings.Contains(shown, "1234") {
		t.Errorf("found %v\n%s", err, shown)
	}
}

// TestHosts: names, files and limits of each host.
func TestHosts(t *testing.T) {
	t.Parallel()
	position := hostfile.Environment{Home: "/home/a", Getenv: func(name string) string {
		return map[string]string{"CODEX_HOME": "/x/codex", "XDG_CONFIG_HOME": "relative"}[name]
	}}
	want := map[string]string{
		"claude": "/home/a/.claude.json", "codex": "/x/codex/config.toml", "gemini": "/home/a/.gemini/settings.json", "cursor": "/home/a/.cursor/mcp.json",
		"vscode": "/home/a/.config/Code/User/mcp.json", "zed": "/home/a/.config/zed/settings.json", "goose": "/home/a/.config/goose/config.yaml",
		"opencode": "/home/a/.config/opencode/opencode.json", "qwen": "/home/a/.qwen/settings.json",
	}
	for _, host := range hostfile.Hosts() {
		if got := host.File(position); got != want[host.Name] {
			t.Errorf("%s has the file %s, expected %s", host.Name, got, want[host.Name])
		}
		if host.Limit > 0 && host.AnswerBefore >= host.Limit {
			t.Errorf("%s waits %s, and would be answered after %s", host.Name, host.Limit, host.AnswerBefore)
		}
	}
	if len(want) != len(hostfile.Names()) {
		t.Errorf("the hosts are %v", hostfile.Names())
	}
}
