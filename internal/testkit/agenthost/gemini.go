package agenthost

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json"
)

// geminiModel is named, because the model that is chosen for one otherwise asks a model which one to choose.
const geminiModel = "gemini-2.5-pro"

// prepareGemini starts `gemini -p`. With nobody to ask, it leaves out the tools that it would have to ask for, also
// write_file of a trusted MCP server, unless edits are approved in advance.
func prepareGemini(p *preparation) (args, env []string) {
	approval := "auto_edit"
	if p.BuiltinTools {
		approval = "yolo"
	}
	return append(p.geminiProgram(), "-p", p.Prompt, "-m", geminiModel, "-o", "stream-json", "--approval-mode", approval), p.geminiEnv()
}

// prepareGeminiACP starts `gemini --acp`, which asks its client.
func prepareGeminiACP(p *preparation) (args, env []string) {
	return append(p.geminiProgram(), "--acp", "-m", geminiModel), p.geminiEnv()
}

func (p *preparation) geminiProgram() []string {
	return []string{p.programs.Node(), p.programs.path("@google", "gemini-cli", "bundle", "gemini.js")}
}

func (p *preparation) geminiEnv() []string {
	servers := object{}
	for _, server := range p.MCP {
		entry := object{"trust": true}
		if p.Limit > 0 {
			entry["timeout"] = p.Limit.Milliseconds()
		}
		if server.URL != "" {
			entry["httpUrl"], entry["headers"] = server.URL, server.Headers
		} else {
			entry["command"], entry["args"], entry["env"] = server.Command[0], server.Command[1:], server.Env
		}
		servers[server.Name] = entry
	}
	p.writeJSON(".gemini/settings.json", object{
		"security":   object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
		"general":    object{"disableAutoUpdate": true, "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "disableUpdateNag": true},
		"privacy":    object{"usageStatisticsEnabled": false},
		"mcpServers": servers,
		"hooks":      p.hooks("BeforeTool", time.Millisecond),
	})
	env := []string{"GEMINI_API_KEY=scripted", "GEMINI_CLI_TRUST_WORKSPACE=true", "GOOGLE_GEMINI_BASE_URL=" + p.Model}
	if !p.Relaunch {
		env = append(env, "GEMINI_CLI_NO_RELAUNCH=true")
	}
	return env
}

// geminiText is what the assistant said, which comes in pieces.
func geminiText(stdout []byte) string {
	var said string
	for line := range bytes.Lines(stdout) {
		var message struct {
			Type    string `json:"type"`
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		if json.Unmarshal(line, &message) != nil {
			continue // it mixes warnings in
		}
		switch {
		case message.Type == "message" && message.Role == "assistant":
			said += message.Content
		case message.Type == "tool_use":
			said = ""
		}
	}
	return said
}
