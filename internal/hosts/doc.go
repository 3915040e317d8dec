// Package hosts drives the agents that people run, the real programs, through turns with a scripted model: Claude Code,
// Codex, Gemini CLI, Qwen Code, OpenCode, and their forms that speak ACP. All of it is in its tests, which `make agents` runs.
package hosts
