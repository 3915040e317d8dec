// Package mcp lets a host of the Model Context Protocol (Claude Code, Codex, Gemini CLI and others) use Earshot's
// tools: it is an MCP server to the host, and an agent to Earshot. The host's calls go through the gate like any
// agent's calls.
//
// A [Gateway] serves one host. The first call opens its session at Earshot; another process that serves the same host
// continues that session. A host's timeout is much shorter than the time in which a person may answer. If a call is
// still open shortly before it, the answer says what the call waits for, and the host asks again. It does so with the
// tool earshot_wait, or with the same call, which joins the open one. A person's accept starts a call only while the
// host waits for it.
//
// A host uses a gateway of its own by standard input and output, or connects by HTTP, where [HTTP] has a gateway for
// each.
//
// Besides the offered tools the host has three: earshot_wait, earshot_say and earshot_ask.
package mcp
