// Package hostfile edits the files in which programs that run a language model keep their MCP servers: Claude Code, Codex, Gemini CLI,
// Cursor, VS Code, Zed and Goose. It is text in, text out: it opens no file.
//
// Such a file belongs to its user. Only the lines of the entry are written; comments, order, blanks and line ends of everything else stay
// as they are. Each edit is read again before it is handed out, and is refused where the file would say anything else than before, beside
// the entry. A file that cannot be read is not edited.
package hostfile
