// Package mcp offers the tools of a Model Context Protocol server as tools of an Earshot service. The section `mcp` of
// a YAML file names the server: a program of this machine, with which it communicates over standard input and output,
// or the address of a streamable HTTP server. Its credentials stay in this process, and in that of the server.
//
// Nobody has reviewed what a server offers, so its tools have no class at first: each call counts as irreversible until
// an operator has reviewed the tool. The server's statements (readOnlyHint and the like) are recorded for that review,
// see [Propose], and have no other effect. If a tool's description, schemas, hints, program or configuration change, it
// becomes another definition, which nobody has reviewed.
//
// [Server.Run] keeps the server running: it starts the server, lists its tools, follows their changes, and restarts a
// server that has ended, after a pause that grows. A call that was running then has an unknown outcome, unless it may
// be repeated.
package mcp
