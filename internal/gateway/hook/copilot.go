package hook

import "time"

// copilot is the GitHub Copilot CLI, according to its documentation. With 1.0.102 it was seen that the hook runs in a
// trusted folder, and that its no holds. It uses the event names of Visual Studio Code, because only then the event
// contains its name. No exit code of a hook before a tool blocks anything.
func copilot() Host {
	return Host{
		Name: "copilot", Title: "Copilot CLI", Limit: 30 * time.Second, noExit: true,
		events: map[string]Kind{
			"PreToolUse": Use, "UserPromptSubmit": Prompted, "Notification": Waiting, "Stop": Rested, "SessionEnd": Closed,
		},
		quiet: []string{"view", "glob", "grep", "ask_user"}, // they read files, or speak to the person
		answer: func(a Answer) any {
			decision := "deny"
			if a.Verdict == Allow {
				decision = "allow"
			}
			return object{"permissionDecision": decision, "permissionDecisionReason": a.Reason}
		},
		settings: func(command string, limit time.Duration) Settings {
			entry := func(limit time.Duration) []object {
				return []object{{"type": "command", "bash": command, "timeoutSec": int(limit.Seconds())}}
			}
			return Settings{File: ".github/hooks/earshot.json", Version: 1, Hooks: object{
				"PreToolUse":       entry(limit),
				"UserPromptSubmit": entry(tellLimit),
				"Notification":     entry(tellLimit),
				"Stop":             entry(tellLimit),
				"SessionEnd":       entry(tellLimit),
			}, Then: "Copilot CLI runs this only in a folder that it trusts: start copilot there and trust it, or give --trust-folder. In any other its tools run unasked."}
		},
	}
}
