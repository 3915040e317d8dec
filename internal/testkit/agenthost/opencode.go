package agenthost

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/fakemodel"
)

// OpenCodeTitle answers what `opencode acp` asks the model beside the conversation: the session's name.
var OpenCodeTitle = fakemodel.Turn{Aside: "You are a title generator", Say: "A file"}

// prepareOpenCode starts `opencode run`. It asks for nothing, unless its settings say so.
func prepareOpenCode(p *preparation) (args, env []string) {
	return append(p.openCodeProgram(), "run", "--format", "json", "--title", "A test", p.Prompt), p.openCodeEnv()
}

// prepareOpenCodeACP starts `opencode acp`.
func prepareOpenCodeACP(p *preparation) (args, env []string) {
	return append(p.openCodeProgram(), "acp"), p.openCodeEnv()
}

// openCodeProgram is the program itself, which needs no Node.
func (p *preparation) openCodeProgram() []string {
	return []string{p.platform("opencode-*", "bin/opencode")}
}

func (p *preparation) openCodeEnv() []string {
	const folder = ".config/opencode"
	servers := object{}
	for _, server := range p.MCP {
		limit := startLimit // one limit is for its start, too, and it would be five seconds
		if p.Limit > 0 {
			limit = p.Limit
		}
		entry := object{"type": "remote", "url": server.URL, "headers": server.Headers, "oauth": false, "timeout": limit.Milliseconds()}
		if server.URL == "" {
			entry = object{"type": "local", "command": server.Command, "environment": server.Env, "timeout": limit.Milliseconds()}
		}
		servers[server.Name] = entry
	}
	p.writeJSON(folder+"/opencode.json", object{
		"model":      "scripted/scripted",
		"autoupdate": false, "share": "disabled",
		"provider": object{"scripted": object{
			"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": p.Model + "/v1", "apiKey": "scripted"}, "models": object{"scripted": object{}},
		}},
		"mcp": servers,
	})
	// It installs a library for plugins beside its settings, unless it is there by these names.
	if err := os.MkdirAll(filepath.Join(p.home, folder, "node_modules"), 0o700); err != nil {
		p.t.Fatal(err)
	}
	p.writeJSON(folder+"/package-lock.json", object{"packages": object{"": object{"dependencies": object{"@opencode-ai/plugin": "*"}}}})
	return []string{
		"OPENCODE_DISABLE_MODELS_FETCH=true", "OPENCODE_DISABLE_DEFAULT_PLUGINS=true", "OPENCODE_DISABLE_AUTOUPDATE=true", "OPENCODE_DISABLE_LSP_DOWNLOAD=true",
	}
}

// openCodeText is the last text of the assistant.
func openCodeText(stdout []byte) string {
	var said string
	for line := range bytes.Lines(stdout) {
		var message struct {
			Type string `json:"type"`
			Part struct {
				Text string `json:"text"`
			} `json:"part"`
		}
		if json.Unmarshal(line, &message) == nil && message.Type == "text" {
			said = message.Part.Text
		}
	}
	return said
}
