// Package mcp lets a host of the Model Context Protocol (Claude Code, Codex, Gemini CLI and others) ask for Earshot's tools: it
// is an MCP server to the host, and an agent to Earshot. What the host calls goes through the gate like any agent's call.
//
// A [Gateway] speaks for one host. Its session at Earshot is opened with the first call, and another process that speaks for
// the same host goes on with it. A host gives up on a call long before a person may answer, so a call that is still open is
// answered before the host's own limit with what it waits for, and the host asks again: with the tool earshot_wait, or with the
// same call, which joins the open one. A person's yes starts a call only while the host waits for it.
//
// A host comes to its own gateway by standard input and output, or connects to an address, where [HTTP] has a gateway for each.
//
// Beside Earshot's tools the host has three: earshot_wait, earshot_say and earshot_ask.
package mcp
