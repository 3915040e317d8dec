package hook

import "time"

// claude is Claude Code, reviewed with 2.1.330.
func claude() Host {
	return Host{
		Name: "claude", Title: "Claude Code", Limit: 10 * time.Minute, FolderVariable: "CLAUDE_PROJECT_DIR", Blocks: true,
		events: map[string]Kind{
			"PreToolUse": Use, "UserPromptSubmit": Prompted, "Notification": Waiting, "Stop": Rested, "SessionEnd": Closed,
		},
		quiet: []string{
			"Read", "Glob", "Grep", "LS", "NotebookRead", // they read files
			"BashOutput", "TaskOutput", "CronList", "ListAgents", "ToolSearch", // they read Claude's own state
			"TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", // its todo list
			"Agent", "Task", "SendMessage", // subagents, whose tools run the hook one by one
			"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "ReportFindings", // they speak to the person, or ask by themselves
		},
		gateway: "mcp__earshot__",
		answer:  answerPreToolUse,
		settings: func(command string, limit time.Duration) Settings {
			use := shellHook(command, limit, time.Second)
			use["onFailure"] = "block"
			return Settings{File: ".claude/settings.json", Hooks: object{
				"PreToolUse":       matchers(use, "*"),
				"UserPromptSubmit": matchers(shellHook(command, tellLimit, time.Second), ""),
				"Notification":     matchers(shellHook(command, tellLimit, time.Second), ""),
				"Stop":             matchers(shellHook(command, tellLimit, time.Second), ""),
				"SessionEnd":       matchers(shellHook(command, tellLimit, time.Second), ""),
			}}
		},
	}
}

// answerPreToolUse returns an answer in the format of Claude Code, which others have adopted.
func answerPreToolUse(a Answer) any {
	decision := "deny"
	if a.Verdict == Allow {
		decision = "allow"
	}
	return object{"hookSpecificOutput": object{
		"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": a.Reason,
	}}
}
