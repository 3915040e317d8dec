package agenthost

import (
	"bytes"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/fakemodel"
)

// Title answers what claude-agent-acp asks the model beside the conversation: the session's name, for a list of sessions.
var Title = fakemodel.Turn{Aside: "You are naming a coding session", Say: "A file"}

// Suggestion answers what claude-agent-acp asks the model beside the conversation, after a turn: what the person might say next.
var Suggestion = fakemodel.Turn{Aside: "Reply with ONLY the suggestion", Say: "thanks"}

// prepareClaude starts `claude -p`.
func prepareClaude(p *preparation) (args, env []string) {
	servers := object{}
	for _, server := range p.MCP {
		entry := object{"type": "http", "url": server.URL, "headers": server.Headers}
		if server.URL == "" {
			entry = object{"type": "stdio", "command": server.Command[0], "args": server.Command[1:], "env": server.Env}
		}
		if p.Limit > 0 {
			entry["timeout"] = p.Limit.Milliseconds()
		}
		servers[server.Name] = entry
	}
	mcp := p.writeJSON("mcp.json", object{"mcpServers": servers})
	args = []string{p.platform("@anthropic-ai/claude-code-*", "claude"), "-p", p.Prompt, "--output-format", "stream-json", "--verbose", "--mcp-config", mcp}
	if len(p.Installed) == 0 {
		args = append(args, "--strict-mcp-config")
	}
	return args, p.claudeEnv()
}

// prepareClaudeACP starts claude-agent-acp, which brings a Claude of its own.
func prepareClaudeACP(p *preparation) (args, env []string) {
	return []string{p.programs.Node(), p.programs.path("@agentclientprotocol", "claude-agent-acp", "dist", "index.js")}, p.claudeEnv()
}

// claudeEnv writes the settings in the home, where `claude` and claude-agent-acp look for them.
func (p *preparation) claudeEnv() []string {
	var allow []string
	for _, server := range p.MCP {
		allow = append(allow, "mcp__"+server.Name)
	}
	for _, name := range p.Installed {
		allow = append(allow, "mcp__"+name)
	}
	if p.BuiltinTools {
		allow = append(allow, "Bash", "Read", "Write", "Edit") // bypassPermissions is refused to root
	}
	p.writeJSON(".claude/settings.json", object{
		"permissions": object{"allow": append([]string{}, allow...)},
		"hooks":       p.hooks("PreToolUse", time.Second),
	})
	return []string{
		"ANTHROPIC_BASE_URL=" + p.Model, "ANTHROPIC_API_KEY=sk-ant-scripted",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
		// else it may ask the model once more between a turn and its own end
		"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=false",
		"MCP_CONNECTION_NONBLOCKING=false", "MCP_TIMEOUT=" + strconv.FormatInt(startLimit.Milliseconds(), 10), // else the first request can go out before the tools are there
		"ENABLE_TOOL_SEARCH=false", // else the tools of MCP servers are offered only after a search for them
	}
}

// claudeText is the result of stream-json.
func claudeText(stdout []byte) string {
	var said string
	for line := range bytes.Lines(stdout) {
		var message struct {
			Type   string `json:"type"`
			Result string `json:"result"`
		}
		if json.Unmarshal(line, &message) == nil && message.Type == "result" {
			said = message.Result
		}
	}
	return said
}
