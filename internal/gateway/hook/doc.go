// Package hook implements the hook protocols of hosts: what Claude Code, Codex, Gemini CLI, Cursor or Copilot CLI sends
// to a program that it runs before it uses a tool, and the answers that it understands. Each host has a file of its
// own, with the table of those of its tools that need no question.
//
// Hosts let a tool run if their hook fails. Therefore only [Allow] counts as consent. The zero [Answer] denies, an
// event that cannot be parsed is refused, and an [Output] that denies is JSON that says so or an exit code that blocks.
package hook
