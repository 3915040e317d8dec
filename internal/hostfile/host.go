package hostfile

import (
	"path/filepath"
	"slices"
	"time"
)

// EntryName is the name of Earshot among the servers of a host.
const EntryName = "earshot"

// Host is a program that runs a language model and has a file of MCP servers.
type Host struct {
	Name  string // as it is typed
	Title string // as people call it
	// Programs are the names by which it is started.
	Programs []string
	// Section is the table of servers in its file.
	Section string
	// Limit is how long it waits for a call, once it is told; zero where it cannot be told.
	Limit time.Duration
	// AnswerBefore is what the gateway is given, so that a call that waits for a person is answered before the host gives up; zero is
	// the gateway's own.
	AnswerBefore time.Duration

	format format
	user   func(Environment) string
	// project is its file in the folder of a project; "" where it has none.
	project string
	entry   func(command []any) Object
}

// Environment is where a user's files are.
type Environment struct {
	Home   string
	Getenv func(string) string
	// Mac: the system is macOS.
	Mac bool
}

// under is a path below what a variable names, or else below the home.
func (p Environment) under(variable, usual string, rest ...string) string {
	base := filepath.Join(p.Home, usual)
	if variable != "" && filepath.IsAbs(p.Getenv(variable)) {
		base = p.Getenv(variable)
	}
	return filepath.Join(append([]string{base}, rest...)...)
}

// File is the host's file of the user.
func (h Host) File(p Environment) string { return h.user(p) }

// ProjectFile is the host's file of a project; "" where it has none.
func (h Host) ProjectFile(folder string) string {
	if h.project == "" {
		return ""
	}
	return filepath.Join(folder, h.project)
}

// Entry is the entry of Earshot.
func (h Host) Entry(program string, args ...string) Object {
	command := []any{program}
	for _, arg := range args {
		command = append(command, arg)
	}
	if h.AnswerBefore > 0 {
		command = append(command, "--answer-before", shortly(h.AnswerBefore))
	}
	return h.entry(command)
}

// shortly writes whole minutes or seconds.
func shortly(d time.Duration) string {
	text := d.String()
	if d%time.Minute == 0 {
		text = text[:len(text)-len("0s")]
	}
	return text
}

const (
	// hostTimeout is how long hosts are told to wait: long enough for a person, and what hangs is noticed at last.
	hostTimeout = time.Hour
	// answerBefore leaves time to answer.
	answerBefore = 55 * time.Minute
	// zedMost is the longest that Zed waits, whatever it is told.
	zedMost = 10 * time.Minute
)

// Hosts are those that are known, in the order in which they are listed.
func Hosts() []Host { return slices.Concat(tried(), documented()) }

// tried are the hosts whose files and limits are tried with the programs themselves, in package hosts.
func tried() []Host {
	return []Host{
		{
			Name: "claude", Title: "Claude Code", Programs: []string{"claude"}, Section: "mcpServers", format: jsonFormat{strict: true}, project: ".mcp.json",
			user:  func(p Environment) string { return p.under("CLAUDE_CONFIG_DIR", "", ".claude.json") },
			Limit: hostTimeout, AnswerBefore: answerBefore,
			entry: func(c []any) Object {
				return Object{{"type", "stdio"}, {"command", c[0]}, {"args", c[1:]}, {"timeout", int(hostTimeout.Milliseconds())}}
			},
		},
		{
			Name: "codex", Title: "Codex", Programs: []string{"codex"}, Section: "mcp_servers", format: tomlFormat{}, project: ".codex/config.toml",
			user:  func(p Environment) string { return p.under("CODEX_HOME", ".codex", "config.toml") },
			Limit: hostTimeout, AnswerBefore: answerBefore,
			entry: func(c []any) Object {
				const start = 60 // an `earshot up` may have to be started first
				return Object{{"command", c[0]}, {"args", c[1:]}, {"startup_timeout_sec", start}, {"tool_timeout_sec", int(hostTimeout.Seconds())}}
			},
		},
		{
			Name: "gemini", Title: "Gemini CLI", Programs: []string{"gemini"}, Section: "mcpServers", format: jsonFormat{noLastComma: true}, project: ".gemini/settings.json",
			user:  func(p Environment) string { return p.under("GEMINI_CLI_HOME", "", ".gemini", "settings.json") },
			Limit: hostTimeout, AnswerBefore: answerBefore,
			entry: func(c []any) Object {
				return Object{{"command", c[0]}, {"args", c[1:]}, {"timeout", int(hostTimeout.Milliseconds())}}
			},
		},
		{
			Name: "opencode", Title: "OpenCode", Programs: []string{"opencode"}, Section: "mcp", format: jsonFormat{}, project: "opencode.json",
			user:  func(p Environment) string { return p.under("XDG_CONFIG_HOME", ".config", "opencode", "opencode.json") },
			Limit: hostTimeout, AnswerBefore: answerBefore,
			entry: func(c []any) Object {
				return Object{{"type", "local"}, {"command", c}, {"enabled", true}, {"timeout", int(hostTimeout.Milliseconds())}}
			},
		},
		{
			Name: "qwen", Title: "Qwen Code", Programs: []string{"qwen"}, Section: "mcpServers", format: jsonFormat{noLastComma: true}, project: ".qwen/settings.json",
			user:  func(p Environment) string { return p.under("QWEN_HOME", ".qwen", "settings.json") },
			Limit: hostTimeout, AnswerBefore: answerBefore,
			entry: func(c []any) Object {
				// Without the last member its model would have to search for the tools before it sees them.
				return Object{{"command", c[0]}, {"args", c[1:]}, {"timeout", int(hostTimeout.Milliseconds())}, {"alwaysLoadTools", true}}
			},
		},
	}
}

// documented are the hosts whose files and limits are those of their documents.
func documented() []Host {
	return []Host{
		{
			Name: "cursor", Title: "Cursor", Programs: []string{"cursor", "cursor-agent"}, Section: "mcpServers", format: jsonFormat{}, project: ".cursor/mcp.json",
			user: func(p Environment) string { return p.under("", ".cursor", "mcp.json") },
			// It cannot be told how long to wait, and clients made of the protocol's own library for TypeScript wait a minute.
			AnswerBefore: 50 * time.Second,
			entry:        func(c []any) Object { return Object{{"type", "stdio"}, {"command", c[0]}, {"args", c[1:]}} },
		},
		{
			Name: "vscode", Title: "VS Code", Programs: []string{"code"}, Section: "servers", format: jsonFormat{}, project: ".vscode/mcp.json",
			user: func(p Environment) string {
				if p.Mac {
					return filepath.Join(p.Home, "Library", "Application Support", "Code", "User", "mcp.json")
				}
				return p.under("XDG_CONFIG_HOME", ".config", "Code", "User", "mcp.json")
			},
			entry: func(c []any) Object { return Object{{"type", "stdio"}, {"command", c[0]}, {"args", c[1:]}} },
		},
		{
			Name: "zed", Title: "Zed", Programs: []string{"zed", "zeditor"}, Section: "context_servers", format: jsonFormat{}, project: ".zed/settings.json",
			user: func(p Environment) string {
				if p.Mac {
					return filepath.Join(p.Home, ".config", "zed", "settings.json")
				}
				return p.under("XDG_CONFIG_HOME", ".config", "zed", "settings.json")
			},
			Limit: zedMost, AnswerBefore: zedMost - time.Minute,
			entry: func(c []any) Object {
				return Object{{"command", c[0]}, {"args", c[1:]}, {"env", Object{}}, {"timeout", int(zedMost.Seconds())}}
			},
		},
		{
			Name: "goose", Title: "Goose", Programs: []string{"goose"}, Section: "extensions", format: yamlFormat{},
			user:  func(p Environment) string { return p.under("XDG_CONFIG_HOME", ".config", "goose", "config.yaml") },
			Limit: hostTimeout, AnswerBefore: answerBefore,
			entry: func(c []any) Object {
				return Object{
					{"name", EntryName},
					{"type", "stdio"},
					{"description", "Tools behind Earshot's gate"},
					{"enabled", true},
					{"cmd", c[0]},
					{"args", c[1:]},
					{"envs", Object{}},
					{"timeout", int(hostTimeout.Seconds())},
				}
			},
		},
	}
}

// HostOf is the host of a name.
func HostOf(name string) (Host, bool) {
	for _, h := range Hosts() {
		if h.Name == name {
			return h, true
		}
	}
	return Host{}, false
}

// Names are the names of all hosts.
func Names() []string {
	all := Hosts()
	names := make([]string, 0, len(all))
	for _, h := range all {
		names = append(names, h.Name)
	}
	return names
}
