// Package mcp makes the tools of a server of the Model Context Protocol tools of an Earshot service. Which server stands in the
// section `mcp` of a YAML file: a program of this machine, which is spoken to by its standard input and output, or an address that
// takes streamable HTTP. Its credentials stay in this process, and in that of the server.
//
// Nobody has looked at what a server offers, so its tools come in without a class: each call counts as irreversible until an
// operator has reviewed the tool. What the server says of itself (readOnlyHint and the like) is kept for that review, see
// [Propose], and never counts. A tool whose description, schemas, hints, program or configuration are others is another
// definition, which nobody has reviewed.
//
// [Server.Run] keeps the server at work: it starts it, lists its tools, follows their changes, and starts a server that has ended
// again, after a pause that grows. A call that was under way then has an unknown outcome, unless it may be repeated.
package mcp
