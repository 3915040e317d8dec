package agenthost

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// prepareCodex starts `codex exec`.
func prepareCodex(p *preparation) (args, env []string) {
	sandbox := "read-only"
	if p.BuiltinTools {
		sandbox = "danger-full-access"
	}
	p.codexSettings("never", sandbox)
	args = []string{p.codexProgram(), "exec", "--skip-git-repo-check", "--json"}
	for _, name := range p.Installed {
		args = append(args, "-c", "mcp_servers."+name+".required=true") // else the first request can go out before the tools are there
	}
	if len(p.Hooks) > 0 {
		args = append(args, "--dangerously-bypass-hook-trust") // a person grants it in the terminal
	}
	return append(args, p.Prompt), codexEnv()
}

// prepareCodexACP starts codex-acp, which asks its client before it runs a command.
func prepareCodexACP(p *preparation) (args, env []string) {
	p.codexSettings("untrusted", "danger-full-access")
	return []string{p.platform("@zed-industries/codex-acp-*", "bin/codex-acp")}, codexEnv()
}

// codexProgram is the program itself: its launcher in Node would be one process more to end.
func (p *preparation) codexProgram() string {
	return p.platform("@openai/codex-*/vendor/*/bin", "codex")
}

func codexEnv() []string { return []string{"SCRIPTED_KEY=scripted"} }

func (p *preparation) codexSettings(approval, sandbox string) {
	var toml strings.Builder
	set := func(name string, value any) { fmt.Fprintf(&toml, "%s = %s\n", name, p.toml(value)) }
	set("model", "gpt-5.2-codex")
	set("model_provider", "scripted")
	set("approval_policy", approval)
	set("sandbox_mode", sandbox)
	set("check_for_update_on_startup", false)
	set("analytics.enabled", false)
	set("features.plugins", false) // fetched from GitHub
	set("features.apps", false)    // looked for at chatgpt.com
	toml.WriteString("[model_providers.scripted]\n")
	set("name", "scripted")
	set("base_url", p.Model+"/v1")
	set("env_key", "SCRIPTED_KEY")
	set("wire_api", "responses")
	for _, server := range p.MCP {
		fmt.Fprintf(&toml, "[mcp_servers.%s]\n", server.Name)
		set("required", true) // else the first request can go out before the tools are there
		set("startup_timeout_sec", int(startLimit.Seconds()))
		set("default_tools_approval_mode", "approve")
		if p.Limit > 0 {
			set("tool_timeout_sec", max(1, int(p.Limit.Seconds())))
		}
		if server.URL != "" {
			set("url", server.URL)
			set("http_headers", server.Headers)
			continue
		}
		set("command", server.Command[0])
		set("args", server.Command[1:])
		set("env", server.Env)
	}
	p.write(".codex/config.toml", toml.String())
	if len(p.Hooks) > 0 {
		p.writeJSON(".codex/hooks.json", object{"hooks": p.hooks("PreToolUse", time.Second)})
	}
}

// toml writes a value in TOML, whose texts and lists are those of JSON.
func (p *preparation) toml(value any) string {
	table, ok := value.(map[string]string)
	if !ok {
		return p.json(value)
	}
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		fields = append(fields, p.json(name)+" = "+p.json(table[name]))
	}
	return "{ " + strings.Join(fields, ", ") + " }"
}

// codexText is the last message of the agent.
func codexText(stdout []byte) string {
	var said string
	for line := range bytes.Lines(stdout) {
		var message struct {
			Item struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"item"`
		}
		if json.Unmarshal(line, &message) == nil && message.Item.Type == "agent_message" {
			said = message.Item.Text
		}
	}
	return said
}
