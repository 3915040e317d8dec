package hook

import "time"

// gemini is the Gemini CLI, reviewed with 0.61.0.
func gemini() Host {
	return Host{
		Name: "gemini", Title: "Gemini CLI", Limit: time.Minute, FolderVariable: "GEMINI_PROJECT_DIR",
		events: map[string]Kind{
			"BeforeTool": Use, "BeforeAgent": Prompted, "Notification": Waiting, "AfterAgent": Rested, "SessionEnd": Closed,
		},
		quiet: []string{
			"read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content", // they read files
			"list_background_processes", "read_background_output", "get_internal_docs", // they read Gemini's own state
			"write_todos", "update_topic", "complete_task", // its todo list
			"ask_user", "enter_plan_mode", "exit_plan_mode", // they speak to the person, or ask by themselves
		},
		gateway: "mcp_earshot_",
		answer: func(a Answer) any {
			decision := "deny"
			if a.Verdict == Allow {
				decision = "allow"
			}
			return object{"decision": decision, "reason": a.Reason}
		},
		settings: func(command string, limit time.Duration) Settings {
			return Settings{File: ".gemini/settings.json", Hooks: object{
				"BeforeTool":   matchers(shellHook(command, limit, time.Millisecond), "*"),
				"BeforeAgent":  matchers(shellHook(command, tellLimit, time.Millisecond), ""),
				"Notification": matchers(shellHook(command, tellLimit, time.Millisecond), ""),
				"AfterAgent":   matchers(shellHook(command, tellLimit, time.Millisecond), ""),
				"SessionEnd":   matchers(shellHook(command, tellLimit, time.Millisecond), ""),
			}}
		},
	}
}
