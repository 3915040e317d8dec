package hook

import "time"

// cursor is Cursor, according to its documentation; it was not run.
func cursor() Host {
	return Host{
		Name: "cursor", Title: "Cursor", Limit: time.Minute, FolderVariable: "CURSOR_PROJECT_DIR", Blocks: true,
		events: map[string]Kind{
			"preToolUse": Use, "beforeSubmitPrompt": Prompted, "stop": Rested, "sessionEnd": Closed,
		},
		quiet: []string{"Read", "Grep"}, // they read files
		answer: func(a Answer) any {
			permission := "deny"
			if a.Verdict == Allow {
				permission = "allow"
			}
			return object{"permission": permission, "user_message": a.Reason, "agent_message": a.Reason}
		},
		settings: func(command string, limit time.Duration) Settings {
			entry := func(limit time.Duration) object { return object{"command": command, "timeout": int(limit.Seconds())} }
			use := entry(limit)
			use["failClosed"] = true
			return Settings{File: ".cursor/hooks.json", Version: 1, Hooks: object{
				"preToolUse": []object{use},
				"stop":       []object{entry(tellLimit)},
				"sessionEnd": []object{entry(tellLimit)},
			}}
		},
	}
}
