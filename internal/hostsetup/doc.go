// Package hostsetup makes Earshot an MCP server of the programs that people run, such as Claude Code, and takes it out again. It edits
// their files by package hostfile, and keeps in the data directory what it has written, and what it has moved.
//
// Whatever is interrupted, nobody loses a server: Earshot's own files are written first when one moves there, and the host's when it moves
// back. The next run goes on from there, and ends in the same state.
package hostsetup
