// Package hook speaks with the hooks of hosts: what Claude Code, Codex, Gemini CLI, Cursor or Copilot CLI says to a program
// that it runs before it uses a tool, and what it understands as an answer. Each host has a file of its own, with the
// table of those of its tools that are not asked for.
//
// Hosts let a tool run when their hook fails. So nothing here reads as consent but [Allow]: the zero [Answer] denies, what
// cannot be read is refused, and an [Output] that denies is JSON that says so or an exit code that blocks.
package hook
