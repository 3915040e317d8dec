package hook

import "time"

// codex is the Codex CLI, reviewed with 0.169.0.
func codex() Host {
	return Host{
		Name: "codex", Title: "Codex", Limit: 10 * time.Minute,
		events: map[string]Kind{
			"PreToolUse": Use, "UserPromptSubmit": Prompted, "Stop": Rested, "SessionEnd": Closed,
		},
		Unhooked: []string{"write_stdin"}, // input typed into a running command; found with package hosts
		quiet: []string{
			"view_image",                             // it reads a file
			"update_plan",                            // its todo list
			"get_goal", "create_goal", "update_goal", // its own goals
			"request_user_input", // it speaks to the person
		},
		gateway: "mcp__earshot__",
		answer: func(a Answer) any {
			if a.Verdict == Allow {
				return object{} // it has no allow that bypasses its own rules: it still asks where these require it
			}
			return answerPreToolUse(a)
		},
		settings: func(command string, limit time.Duration) Settings {
			return Settings{File: ".codex/hooks.json", Hooks: object{
				"PreToolUse":       matchers(shellHook(command, limit, time.Second), "*"),
				"UserPromptSubmit": matchers(shellHook(command, tellLimit, time.Second), ""),
				"Stop":             matchers(shellHook(command, tellLimit, time.Second), ""),
				"SessionEnd":       matchers(shellHook(command, tellLimit, time.Second), ""),
			}, Then: "Codex runs a hook only after you have reviewed it: start codex, enter /hooks, and trust it. Each change of its command needs that again."}
		},
	}
}
