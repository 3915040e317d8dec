package agenthost

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// startLimit is how long a host waits for an MCP server to start. It is long because a loaded machine is not a failure.
const startLimit = 2 * time.Minute

// Host is an agent that people run.
type Host struct {
	name string
	// acp: it speaks the Agent Client Protocol over its standard input and output, and takes prompts from there.
	acp     bool
	prepare func(*preparation) (args, env []string)
	text    func(stdout []byte) string
}

// The hosts. Those with ACP in their names are started by a client of that protocol.
var (
	Claude    = Host{name: "claude", prepare: prepareClaude, text: claudeText}
	Codex     = Host{name: "codex", prepare: prepareCodex, text: codexText}
	Gemini    = Host{name: "gemini", prepare: prepareGemini, text: geminiText}
	Qwen      = Host{name: "qwen", prepare: prepareQwen, text: claudeText}
	OpenCode  = Host{name: "opencode", prepare: prepareOpenCode, text: openCodeText}
	ClaudeACP = Host{name: "claude-agent-acp", acp: true, prepare: prepareClaudeACP}
	CodexACP  = Host{name: "codex-acp", acp: true, prepare: prepareCodexACP}
	GeminiACP = Host{name: "gemini --acp", acp: true, prepare: prepareGeminiACP}

	QwenACP     = Host{name: "qwen --acp", acp: true, prepare: prepareQwenACP}
	OpenCodeACP = Host{name: "opencode acp", acp: true, prepare: prepareOpenCodeACP}
)

// String is the name of its program.
func (h Host) String() string { return h.name }

// Setup is what one run of a host is given.
type Setup struct {
	// Model is the address of the model, without a path.
	Model string
	// Prompt is what the host is asked to do. A host that speaks ACP is asked by its client.
	Prompt string
	// MCP are its servers of tools, which it calls without asking. A client of ACP names them when it opens a session.
	MCP []MCPServer
	// Installed are servers that somebody writes into the host's own settings between Prepare and Start. They are called without
	// asking where BuiltinTools are.
	Installed []string
	// Limit is how long the host waits for an answer of an MCP server. Zero is the host's own limit.
	Limit time.Duration
	// Hooks are programs that the host runs at its events.
	Hooks []Hook
	// BuiltinTools lets the host's own tools run without asking: its shell, and writing files.
	BuiltinTools bool
	// Dir is the folder in which the host works; empty is a new one.
	Dir string
	// Env is added to the environment, NAME=VALUE.
	Env []string
	// Relaunch lets Gemini start itself again in a child process, as it does for people: what kills a host wants that. To
	// others it is one more start of Node, which takes nearly two seconds of processor.
	Relaunch bool
}

// MCPServer is a server of tools: a program to start, or an address.
type MCPServer struct {
	Name    string
	Command []string
	Env     map[string]string // of the program; hosts hand on little of their own
	URL     string            // of streamable HTTP
	Headers map[string]string
}

// Hook is a program that a host runs at an event.
type Hook struct {
	// Event is the host's own word; empty means the one before a tool runs (PreToolUse, BeforeTool).
	Event string
	// Command is run by a shell.
	Command string
	// Limit is how long the host waits for it. Zero is the host's own limit.
	Limit time.Duration
	// Block has Claude block what it cannot ask about. The others have no such switch.
	Block bool
}

// Command is a host that is ready to be started, by Start or by a client of ACP.
type Command struct {
	Host Host
	Args []string // the program first
	Env  []string // all of it
	Dir  string   // in which it works
	Home string   // its home, with its settings in it
	root string   // the folder of all that belongs to the run
}

// preparation is a command on its way.
type preparation struct {
	Setup
	t        testing.TB
	programs Programs
	home     string
}

// Prepare writes a host's settings, and says how it is started.
func Prepare(t testing.TB, programs Programs, host Host, setup Setup) Command {
	t.Helper()
	if host.acp && len(setup.MCP) > 0 {
		t.Fatalf("found MCP servers for %s, expected its client to name them when it opens a session", host)
	}
	root := t.TempDir()
	p := &preparation{Setup: setup, t: t, programs: programs, home: filepath.Join(root, "home")}
	if p.Dir == "" {
		p.Dir = filepath.Join(root, "work")
	}
	for _, folder := range []string{p.home, p.Dir} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	args, env := host.prepare(p)
	env = slices.Concat([]string{
		"PATH=" + filepath.Dir(programs.Node()) + ":/usr/local/bin:/usr/bin:/bin",
		"HOME=" + p.home, "TMPDIR=" + root, "TERM=xterm-256color", "LANG=C.UTF-8",
	}, blockOutside(t, host), env, setup.Env)
	return Command{Host: host, Args: args, Env: env, Dir: p.Dir, Home: p.home, root: root}
}

// Node is a Node that all of the programs can run on.
func (p Programs) Node() string {
	pinned, _ := filepath.Glob(p.path("node-"+runtime.GOOS+"-*", "bin", "node"))
	if len(pinned) > 0 {
		return pinned[0]
	}
	return "node" // of a platform for which package.json names none
}

// FilesystemServer starts @modelcontextprotocol/server-filesystem on a folder. A host that tells its roots, as Claude
// and Gemini do, replaces that folder by the one in which it works, so that they should be the same.
func (p Programs) FilesystemServer(folder string) []string {
	return []string{p.Node(), p.path("@modelcontextprotocol", "server-filesystem", "dist", "index.js"), folder}
}

// EverythingServer starts @modelcontextprotocol/server-everything, which has a tool for each part of the protocol.
func (p Programs) EverythingServer() []string {
	return []string{p.Node(), p.path("@modelcontextprotocol", "server-everything", "dist", "index.js"), "stdio"}
}

// Conformance judges an MCP server at an address, with @modelcontextprotocol/conformance.
func (p Programs) Conformance(url string, args ...string) []string {
	return append([]string{p.Node(), p.path("@modelcontextprotocol", "conformance", "dist", "index.js"), "server", "--url", url}, args...)
}

func (p Programs) path(parts ...string) string {
	return filepath.Join(append([]string{string(p), "node_modules"}, parts...)...)
}

// platform is a program of a package that exists for each platform, such as claude-code-linux-x64.
func (p *preparation) platform(pattern, program string) string {
	found, err := filepath.Glob(p.programs.path(pattern, program))
	if err != nil || len(found) == 0 {
		p.t.Fatalf("found no %s of %s among the installed agents, expected one of this platform", program, pattern)
	}
	return found[0]
}

// write writes a file below the home.
func (p *preparation) write(name, content string) string {
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// object is a JSON object that is written as it stands.
type object = map[string]any

func (p *preparation) writeJSON(name string, value any) string {
	return p.write(name, p.json(value))
}

func (p *preparation) json(value any) string {
	raw, err := json.Marshal(value, json.Deterministic(true), jsontext.Multiline(true))
	if err != nil {
		p.t.Fatal(fmt.Errorf("encode a host's settings: %w", err))
	}
	return string(raw)
}

// hooks is the shape that the hosts with hooks share. Their limits are in units of their own.
func (p *preparation) hooks(event string, unit time.Duration) object {
	hooks := object{}
	for _, hook := range p.Hooks {
		entry := object{"type": "command", "command": hook.Command}
		if hook.Limit > 0 {
			entry["timeout"] = max(1, int(hook.Limit/unit))
		}
		if hook.Block {
			entry["onFailure"] = "block"
		}
		at := event
		if hook.Event != "" {
			at = hook.Event
		}
		list, _ := hooks[at].([]object)
		hooks[at] = append(list, object{"matcher": "*", "hooks": []object{entry}})
	}
	return hooks
}
