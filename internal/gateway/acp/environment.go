package acp

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// askingMode is the mode that [Environment] adds to OpenCode.
const askingMode = "earshot"

// openCodeContent is OpenCode's variable of settings that count more than those in files.
const openCodeContent = "OPENCODE_CONFIG_CONTENT"

// Environment returns the environment in which an agent's command is started: env, with what the agent needs to have a
// mode in which it asks. OpenCode has none: in each of its own modes it runs commands without asking, unless its
// settings say otherwise. So it gets one more, in which it asks for each tool but those that only read. An agent that
// does not list it is refused, as one that has no such mode.
func Environment(command, env []string) []string {
	if !slices.ContainsFunc(command, func(word string) bool { return strings.HasPrefix(filepath.Base(word), "opencode") }) {
		return env
	}
	content := map[string]any{}
	rest := slices.Clone(env)
	if i := slices.IndexFunc(rest, func(entry string) bool { return strings.HasPrefix(entry, openCodeContent+"=") }); i >= 0 {
		_, raw, _ := strings.Cut(rest[i], "=")
		if raw != "" && json.Unmarshal([]byte(raw), &content) != nil || content == nil {
			return env // the person's own, with comments perhaps; it stays as it is
		}
		rest = slices.Delete(rest, i, i+1)
	}
	agents, _ := content["agent"].(map[string]any)
	if agents == nil {
		agents = map[string]any{}
	}
	agents[askingMode] = map[string]any{
		"description": "Asks a person through Earshot before it uses a tool that may change something.", "mode": "primary", "permission": asking(),
	}
	content["agent"] = agents
	raw, err := json.Marshal(content, json.Deterministic(true))
	if err != nil { // it was read from JSON a moment ago
		return env
	}
	return append(rest, openCodeContent+"="+string(raw))
}

// asking is what OpenCode may do by itself in its mode. Each permission that it knows is named, so that none of the
// person's own stands. It has no subagents there: they have permissions of their own. Of several rules that match the last
// one counts, and they are written in the order of their names, so that "*" is the first.
func asking() map[string]any {
	files := map[string]any{"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"}
	rules := map[string]any{"*": "ask", "read": files, "task": "deny"}
	for _, quiet := range []string{"glob", "grep", "list", "skill", "todowrite", "todoread", "question", "lsp"} {
		rules[quiet] = "allow"
	}
	for _, asked := range []string{"bash", "edit", "external_directory", "webfetch", "websearch", "codesearch", "doom_loop"} {
		rules[asked] = "ask"
	}
	return rules
}
