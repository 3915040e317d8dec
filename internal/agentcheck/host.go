package agentcheck

import (
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// driver is how a host is run for one turn.
type driver struct {
	// shell is its tool that runs a command, argument the name of what it runs.
	shell, argument string
	// clears are variables that would lead it to another model.
	clears []string
	// args are the arguments of its program, env is added to its environment.
	args func(c check) []string
	env  func(c check) ([]string, error)
}

// check is one run.
type check struct {
	model  string // its address
	prompt string
	folder string // a new one, in which the host works
	mcp    bool   // Earshot is among the host's MCP servers; it is not started for a check
}

const prompt = "Add a line to a file. This is a check by `earshot doctor agents`; no model reads it."

// openCodeProvider is the provider of models that OpenCode is given for a check.
const openCodeProvider = "earshot_doctor"

var drivers = map[string]driver{
	"claude": {
		shell: "Bash", argument: "command",
		clears: []string{"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLAUDECODE"},
		args: func(c check) []string {
			settings := `{"env":{"ANTHROPIC_BASE_URL":"` + c.model + `","ANTHROPIC_API_KEY":"scripted"}}` // those of the user may name another
			return []string{"-p", c.prompt, "--settings", settings, "--allowedTools", "Bash", "--strict-mcp-config", "--output-format", "stream-json", "--verbose"}
		},
		env: func(c check) ([]string, error) {
			return []string{
				"ANTHROPIC_BASE_URL=" + c.model, "ANTHROPIC_API_KEY=scripted", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
				"ENABLE_TOOL_SEARCH=false", // else tools are offered only after a search for them
			}, nil
		},
	},
	"codex": {
		shell: "exec_command", argument: "cmd",
		args: func(c check) []string {
			const provider = "earshot_doctor"
			args := []string{"exec", "--skip-git-repo-check", "--ephemeral", "--json"}
			for _, set := range [][2]string{
				{"model", `"gpt-5.2-codex"`},
				{"model_provider", `"` + provider + `"`},
				{"model_providers." + provider, `{name="scripted", base_url="` + c.model + `/v1", env_key="EARSHOT_DOCTOR_KEY", wire_api="responses"}`},
				{"approval_policy", `"never"`},
				{"sandbox_mode", `"danger-full-access"`}, // else the sandbox would hold the command, not the hook
				{"features.plugins", "false"},
				{"features.apps", "false"},
			} {
				args = append(args, "-c", set[0]+"="+set[1])
			}
			if c.mcp {
				args = append(args, "-c", "mcp_servers.earshot.enabled=false")
			}
			return append(args, c.prompt)
		},
		env: func(check) ([]string, error) { return []string{"EARSHOT_DOCTOR_KEY=scripted"}, nil },
	},
	"gemini": {
		shell: "run_shell_command", argument: "command",
		clears: []string{"GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_CLOUD_PROJECT"},
		args: func(c check) []string {
			return []string{"-p", c.prompt, "-m", "gemini-2.5-pro", "-o", "stream-json", "--approval-mode", "yolo", "--allowed-mcp-server-names", "none-for-a-check"}
		},
		env: func(c check) ([]string, error) {
			// The settings of the system count more than those of the user, which may name a login.
			path := filepath.Join(filepath.Dir(c.folder), "gemini.json")
			raw, err := json.Marshal(map[string]any{"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": false}}})
			if err == nil {
				err = writeFile(path, raw)
			}
			return []string{
				"GEMINI_API_KEY=scripted", "GOOGLE_GEMINI_BASE_URL=" + c.model, "GEMINI_CLI_TRUST_WORKSPACE=true", "GEMINI_CLI_SYSTEM_SETTINGS_PATH=" + path,
			}, err
		},
	},
	"qwen": {
		shell: "run_shell_command", argument: "command",
		args: func(c check) []string {
			return []string{
				"-p", c.prompt, "-m", "scripted", "--auth-type", "openai", "--openai-base-url", c.model + "/v1", "--openai-api-key", "scripted",
				"-o", "stream-json", "--approval-mode", "yolo", "--allowed-mcp-server-names", "none-for-a-check",
			}
		},
		env: func(c check) ([]string, error) {
			// The settings of the system count more than those of the user, which may not trust the folder.
			path := filepath.Join(filepath.Dir(c.folder), "qwen.json")
			raw, err := json.Marshal(map[string]any{
				"security": map[string]any{"folderTrust": map[string]any{"enabled": false}}, "privacy": map[string]any{"usageStatisticsEnabled": false},
				"memory": map[string]any{"enableManagedAutoMemory": false, "enableManagedAutoDream": false}, // else it writes notes after the turn
			})
			if err == nil {
				err = writeFile(path, raw)
			}
			return []string{
				"OPENAI_API_KEY=scripted", "OPENAI_BASE_URL=" + c.model + "/v1", "OPENAI_MODEL=scripted", "QWEN_CODE_SYSTEM_SETTINGS_PATH=" + path,
			}, err
		},
	},
	"opencode": {
		shell: "bash", argument: "command",
		args: func(c check) []string {
			return []string{"run", "--format", "json", "--title", "A check", "--model", openCodeProvider + "/scripted", c.prompt}
		},
		env: func(c check) ([]string, error) {
			settings := map[string]any{"provider": map[string]any{openCodeProvider: map[string]any{
				"npm": "@ai-sdk/openai-compatible", "options": map[string]any{"baseURL": c.model + "/v1", "apiKey": "scripted"},
				"models": map[string]any{"scripted": map[string]any{}},
			}}}
			if c.mcp {
				settings["mcp"] = map[string]any{"earshot": map[string]any{"enabled": false}}
			}
			raw, err := json.Marshal(settings)
			return []string{"OPENCODE_CONFIG_CONTENT=" + string(raw), "OPENCODE_DISABLE_AUTOUPDATE=true"}, err //nolint:wrapcheck // it has no cause outside
		},
	},
}
