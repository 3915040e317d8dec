package hook

import "time"

// qwen is Qwen Code, reviewed with 0.24.4. It reads a timeout of 1000 and more in milliseconds, and a smaller one in
// seconds. Its subagents are asked for: whether their tools run the hook was not seen.
func qwen() Host {
	return Host{
		Name: "qwen", Title: "Qwen Code", Limit: time.Minute, FolderVariable: "QWEN_PROJECT_DIR",
		events: map[string]Kind{
			"PreToolUse": Use, "UserPromptSubmit": Prompted, "Notification": Waiting, "Stop": Rested, "SessionEnd": Closed,
		},
		quiet: []string{
			"read_file", "zoom_image", "list_directory", "glob", "grep_search", // they read files
			"tool_search", "list_agents", "cron_list", "get_goal", // they read Qwen's own state
			"update_goal", "todo_write", "task_create", "task_list", "task_update", // its goals and its todo list
			"ask_user_question", "enter_plan_mode", "exit_plan_mode", "report_findings", // they speak to the person, or ask by themselves
		},
		gateway: "mcp__earshot__",
		answer:  answerPreToolUse,
		settings: func(command string, limit time.Duration) Settings {
			return Settings{File: ".qwen/settings.json", Hooks: object{
				"PreToolUse":       matchers(shellHook(command, limit, time.Millisecond), "*"),
				"UserPromptSubmit": matchers(shellHook(command, tellLimit, time.Millisecond), ""),
				"Notification":     matchers(shellHook(command, tellLimit, time.Millisecond), ""),
				"Stop":             matchers(shellHook(command, tellLimit, time.Millisecond), ""),
				"SessionEnd":       matchers(shellHook(command, tellLimit, time.Millisecond), ""),
			}}
		},
	}
}
